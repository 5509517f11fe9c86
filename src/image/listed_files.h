/*
 * Files of this machine that an interpreter lists, so that its applications run in an image: a program in its language
 * finds its library, its packages and the shared libraries that they need.
 *
 * The list is the file "list" in a temporary directory, lines of fields with a tab between them:
 *
 *      F  FILE  PATH IN THE IMAGE
 *      K  PATH IN THE IMAGE  TARGET     a symbolic link
 *      L  LIBRARY                       a shared library, which the image has by this file's name
 *      E  NAME=VALUE                    a variable of the image's environment
 */
#pragma once

#include "base/string_list.h"

struct fst_error;
struct image_layer;

struct listed_files {
        struct string_list from, to;       /* files */
        struct string_list links, targets; /* symbolic links */
        struct string_list libraries, environment;
        char *folder; /* the temporary directory */
};

#define LISTED_FILES_INIT ((struct listed_files){0})

/*
 * Makes files->folder. Returns 0, or negative with @error. The caller must deinit @files in either case, which removes
 * the directory; a signal that ends the process removes it too.
 */
int listed_files_init(struct listed_files *files, struct fst_error *error);
void listed_files_deinit(struct listed_files *files);

/*
 * Runs the command @words, the interpreter @interpreter with a program that writes the list, and reads the list. Blocks
 * for some seconds.
 * @language is for messages. Returns 0, -ENOENT if it cannot be started or fails, -EBADMSG for an invalid list.
 */
int listed_files_run(struct listed_files *files, char *const *words, const char *interpreter, const char *language,
                     struct fst_error *error);

/* Adds files and links to @layer, and the libraries that @system does not have to @folder. */
int listed_files_add(const struct listed_files *files, struct image_layer *layer, const struct image_layer *system,
                     const char *folder, struct fst_error *error);
