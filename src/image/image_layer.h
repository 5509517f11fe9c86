/*
 * One layer of an image: files, folders and links, gathered in any order and sealed into a compressed archive that is
 * the same for the same content.
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

/* Paths are absolute; folders above them are made, 0755 and root's. What is said twice is an error when sealed. */
void image_layer_folder(struct image_layer *layer, const char *path, unsigned mode, int user);
void image_layer_link(struct image_layer *layer, const char *path, const char *target);
void image_layer_text(struct image_layer *layer, const char *path, unsigned mode, const char *text);

/*
 * The file @from, read now; its mode is 0755 if its owner may run it, else 0644. With @strip an ELF file loses what no
 * loader reads (symbols and debug information). Negative with @error.
 */
int image_layer_file(struct image_layer *layer, const char *path, const char *from, bool strip,
                     struct fst_error *error);

/* Whether there is something at @path. */
bool image_layer_has(const struct image_layer *layer, const char *path);

/* 0 and *@out, whose blob is the caller's; -EINVAL for a path that is there twice; -ENOTSUP without libarchive. */
int image_layer_seal(struct image_layer *layer, struct image_sealed *out, struct fst_error *error);

/*
 * Write the layer's files below the folder @root, which is there, in place of sealing it. Owners only as root. -errno;
 * -EINVAL for a path that is there twice.
 */
int image_layer_unpack(struct image_layer *layer, const char *root, struct image_sealed *out, struct fst_error *error);
void image_sealed_deinit(struct image_sealed *sealed);
