/*
 * Reads an image archive as image.h writes it: an OCI image layout in a tar. The file is mapped, so only the parts that
 * are used are read.
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
        bool owned;               /* unmapped on close */
        char *name;               /* the image's name from the build; NULL: none */
        char *type, *digest;      /* of its one manifest */
        struct oci_part manifest; /* JSON */
};

/*
 * Returns -errno, or -EINVAL if the file is not such an archive or holds several images. After an error there is
 * nothing to close.
 */
int oci_archive_open(const char *path, struct oci_archive *out, struct fst_error *error);
/*
 * Opens the archive @data, which the caller owns and which must outlive the result. @path is for messages. Returns as
 * above.
 */
int oci_archive_parse(const char *data, size_t len, const char *path, struct oci_archive *out, struct fst_error *error);
void oci_archive_close(struct oci_archive *a);

/*
 * The blob with this digest, which is verified. Returns -ENOENT if it is missing, -EBADMSG if its content does not
 * match.
 */
int oci_archive_blob(const struct oci_archive *a, const char *digest, struct oci_part *out, struct fst_error *error);
