/* An image's archive to the registry that its name names, without a daemon. What the registry has already stays. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct fst_error;

struct image_push {
        const char *archive;
        const char *name; /* "[HOST[:PORT]/]REPOSITORY[:TAG]"; NULL: as it was built */
        bool plain_http;  /* without TLS; on this machine that is so in any case */
};

struct image_pushed {
        char *name;       /* in full: "docker.io/library/firesteel:0.1.0" */
        char *digest;     /* of the manifest */
        int layers, sent; /* how many there are, and how many were not there yet */
        uint64_t bytes;   /* that were sent */
};

/* Blocks. Negative with @error: of oci_archive.h, registry_login.h, registry.h; -EINVAL for a name that is none. */
int image_push(const struct image_push *push, struct image_pushed *out, struct fst_error *error);
void image_pushed_deinit(struct image_pushed *p);
