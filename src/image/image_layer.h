/*
 * A layer of an image: files, directories and links. They are added in any order and sealed into a compressed archive,
 * which is the same for the same content.
 *
 *      struct image_layer *layer = image_layer_new();
 *      image_layer_text(layer, "/etc/passwd", 0664, "root:x:0:0::/:/bin/false\n");
 *      r = image_layer_file(layer, "/opt/spark/bin/firesteel", path, error);
 *      r = r ? r : image_layer_seal(layer, &sealed, error);
 */
#pragma once

#include "base/buf.h"

#include <stdbool.h>
#include <stdint.h>

struct fst_error;
struct image_layer;

#define IMAGE_DIGEST 72 /* "sha256:" and 64 digits, and a NUL */

struct image_sealed {
        struct buf blob;            /* gzip of a tar */
        char digest[IMAGE_DIGEST];  /* of the blob */
        char diff_id[IMAGE_DIGEST]; /* of the tar */
        uint64_t content;           /* bytes of all files */
        size_t files;
};

struct image_layer *image_layer_new(void);
void image_layer_free(struct image_layer *layer); /* NULL is allowed */

/*
 * Paths are absolute. Missing parent directories are added with mode 0755, owned by root. Sealing fails if a path was
 * added twice.
 */
void image_layer_folder(struct image_layer *layer, const char *path, unsigned mode, int user);
void image_layer_link(struct image_layer *layer, const char *path, const char *target);
void image_layer_text(struct image_layer *layer, const char *path, unsigned mode, const char *text);
void image_layer_bytes(struct image_layer *layer, const char *path, unsigned mode, const void *data, size_t n);

/*
 * Adds the file @from, which is read now. The mode is 0755 if its owner may execute it, else 0644. With @strip an ELF
 * file loses symbols and debug information. Returns negative with @error.
 */
int image_layer_file(struct image_layer *layer, const char *path, const char *from, bool strip,
                     struct fst_error *error);

/* Whether the layer has an entry at @path. */
bool image_layer_has(const struct image_layer *layer, const char *path);

/*
 * Returns 0 and *@out, whose blob the caller owns, -EINVAL if a path was added twice, or -ENOTSUP without libarchive.
 */
int image_layer_seal(struct image_layer *layer, struct image_sealed *out, struct fst_error *error);

/*
 * Writes the layer's files below the existing directory @root instead of sealing it. Sets owners only as root. Returns
 * -errno, or -EINVAL if a path was added twice.
 */
int image_layer_unpack(struct image_layer *layer, const char *root, struct image_sealed *out, struct fst_error *error);
void image_sealed_deinit(struct image_sealed *sealed);
