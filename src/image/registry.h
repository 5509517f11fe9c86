/*
 * A repository in a registry, to push to: the push part of the distribution protocol ("Docker Registry HTTP API V2",
 * OCI distribution 1.1), with Basic and Bearer authentication.
 *
 *      struct registry *registry;
 *      r = registry_open(&(struct registry_options){.host = "reg.example:5000", .repository = "team/app"}, &registry,
 *                        error);
 *      r = registry_has_blob(registry, digest, error);                  // 1 yes, 0 no
 *      r = registry_put_blob(registry, digest, data, n, error);
 *      r = registry_put_manifest(registry, "1.0", type, data, n, error);
 *      registry_close(registry);
 *
 * All calls block. An error message contains the registry, its reply and, for a refusal, the remedy. Returns -EACCES,
 * the errors of http_perform, -EPROTO for a server that does not speak the protocol, -EIO otherwise.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct fst_error;
struct registry;

struct registry_options {
        const char *host;       /* as in image names: "docker.io", "reg.example:5000" */
        const char *repository; /* "library/app" */
        const char *login;      /* "name:password"; NULL: anonymous */
        bool plain_http;        /* without TLS; always so for localhost */
};

/* Copies the strings of the options. Returns -ENOENT or -ELIBBAD if the http module is missing. */
int registry_open(const struct registry_options *options, struct registry **out, struct fst_error *error);
void registry_close(struct registry *r); /* NULL is allowed */

int registry_has_blob(struct registry *r, const char *digest, struct fst_error *error);
int registry_put_blob(struct registry *r, const char *digest, const void *data, size_t n, struct fst_error *error);
int registry_put_manifest(struct registry *r, const char *tag, const char *type, const void *data, size_t n,
                          struct fst_error *error);
