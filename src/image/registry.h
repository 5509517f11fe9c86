/*
 * A repository of a registry, to push to: the distribution protocol ("Docker Registry HTTP API V2", OCI distribution
 * 1.1), as far as pushing goes, with Basic and Bearer authentication.
 *
 *      struct registry *registry;
 *      r = registry_open(&(struct registry_options){.host = "reg.example:5000", .repository = "team/app"}, &registry,
 *                        error);
 *      r = registry_has_blob(registry, digest, error);                  // 1 yes, 0 no
 *      r = registry_put_blob(registry, digest, data, n, error);
 *      r = registry_put_manifest(registry, "1.0", type, data, n, error);
 *      registry_close(registry);
 *
 * Each call blocks. Errors are sentences that name the registry and what it said, and for a refusal the cure: -EACCES;
 * what http_perform answers; -EPROTO for what does not speak the protocol; -EIO else.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct fst_error;
struct registry;

struct registry_options {
        const char *host;       /* as names of images have it: "docker.io", "reg.example:5000" */
        const char *repository; /* "library/app" */
        const char *login;      /* "name:password"; NULL: nobody's */
        bool plain_http;        /* without TLS, which is so for localhost in any case */
};

/* What the options point at is copied. -ENOENT, -ELIBBAD when the http module is not there. */
int registry_open(const struct registry_options *options, struct registry **out, struct fst_error *error);
void registry_close(struct registry *r); /* NULL is allowed */

int registry_has_blob(struct registry *r, const char *digest, struct fst_error *error);
int registry_put_blob(struct registry *r, const char *digest, const void *data, size_t n, struct fst_error *error);
int registry_put_manifest(struct registry *r, const char *tag, const char *type, const void *data, size_t n,
                          struct fst_error *error);
