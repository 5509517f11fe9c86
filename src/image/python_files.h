/*
 * Lists what an image needs so that Python applications run in it: an interpreter of this machine with its standard
 * library, the packages in its site-packages (pyspark and py4j among them, without Spark's jars), and the shared
 * libraries that their modules need. The interpreter itself finds them, and compiles the modules, because files in an
 * image have no time by which Python could check compiled ones.
 */
#pragma once

#include "base/string_list.h"

struct fst_error;
struct image_layer;

#define PYTHON_FOLDER "/opt/python" /* in the image */

struct python_files {
        char *program;                /* the interpreter, with links resolved */
        char *name;                   /* "python3.11" */
        char *packages;               /* in the image: /opt/python/lib/python3.11/site-packages */
        struct string_list from, to;  /* files of this machine and their absolute paths in the image */
        struct string_list libraries; /* shared libraries outside these, without the C library's loader */
        char *compiled;               /* a temporary directory with the compiled modules */
};

#define PYTHON_FILES_INIT ((struct python_files){0})

/*
 * Runs @interpreter (a path, or a name that PATH has; Python 3.8 or later). Blocks for some seconds. Returns 0, -ENOENT
 * if it cannot be started or has no pyspark, or another negative status, with @error. The caller must deinit @files in
 * either case, which removes `compiled`; a signal that ends the process removes it too.
 */
int python_files_find(struct python_files *files, const char *interpreter, struct fst_error *error);
void python_files_deinit(struct python_files *files);

/*
 * Adds the files to @layer, and the libraries that @system does not have to @folder. Makes the links
 * /usr/local/bin/python3 and python. Returns 0, or negative with @error.
 */
int python_files_add(const struct python_files *files, struct image_layer *layer, const struct image_layer *system,
                     const char *folder, struct fst_error *error);
