/* Pushes an image archive to the registry in its name, without a daemon. Skips the parts that the registry has. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct fst_error;

struct image_push {
        const char *archive;
        const char *name; /* "[HOST[:PORT]/]REPOSITORY[:TAG]"; NULL: the name from the build */
        bool plain_http;  /* without TLS; always so on this machine */
};

struct image_pushed {
        char *name;       /* complete: "docker.io/library/firesteel:0.1.0" */
        char *digest;     /* of the manifest */
        int layers, sent; /* all blobs, and those that were sent */
        uint64_t bytes;   /* of the blobs that were sent */
};

/*
 * Blocks. Returns negative with @error: the errors of oci_archive.h, registry_login.h and registry.h, or -EINVAL for an
 * invalid name.
 */
int image_push(const struct image_push *push, struct image_pushed *out, struct fst_error *error);
void image_pushed_deinit(struct image_pushed *p);
