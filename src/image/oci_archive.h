/*
 * The archive of an image, as image.h writes it: an OCI image layout in a tar. It is mapped, not read: a part is
 * brought in when somebody looks at it.
 *
 *      struct oci_archive archive;
 *      r = oci_archive_open(path, &archive, error);
 *      r = r ? r : oci_archive_blob(&archive, "sha256:…", &blob, error);
 *      oci_archive_close(&archive);
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct fst_error;

struct oci_part {
        const char *data; /* borrowed from the archive */
        size_t len;
};

struct oci_archive {
        char *path;
        const char *map;
        size_t len;
        bool owned;               /* it is unmapped when it is closed */
        char *name;               /* what its image was called when it was built; NULL: it does not say */
        char *type, *digest;      /* of its one manifest */
        struct oci_part manifest; /* JSON */
};

/* -errno, or -EINVAL for what is no such archive, or holds several images; nothing is to be closed then. */
int oci_archive_open(const char *path, struct oci_archive *out, struct fst_error *error);
/* The archive @data, which stays the caller's and outlives it; @path is for messages. Likewise. */
int oci_archive_parse(const char *data, size_t len, const char *path, struct oci_archive *out, struct fst_error *error);
void oci_archive_close(struct oci_archive *a);

/* The blob of that digest, which is checked. -ENOENT when it is not there, -EBADMSG when it is another one. */
int oci_archive_blob(const struct oci_archive *a, const char *digest, struct oci_part *out, struct fst_error *error);
