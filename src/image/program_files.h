/*
 * The files that this program consists of on this machine: itself, its library, the modules that it loads on demand,
 * and the shared libraries that all of them need, the C library and its loader included. The system's loader is asked,
 * which loads them all: for a process that does nothing else.
 */
#pragma once

#include "base/string_list.h"

struct fst_error;

struct program_files {
        char *program;              /* the executable */
        char *library;              /* libfiresteel.so */
        struct string_list modules; /* libfiresteel-NAME.so */
        struct string_list
                libraries; /* paths as the loader found them, by their names (libz.so.1); without the loader */
        char *loader;      /* the path that executables name: /lib64/ld-linux-x86-64.so.2 */
        char *folder;      /* where the C library is: the loader looks there by itself */
};

#define PROGRAM_FILES_INIT ((struct program_files){0})

/* -ENOENT, -ELIBBAD with @error when a part is missing, naming it; @files is to be deinitialised either way. */
int program_files_find(struct program_files *files, struct fst_error *error);
void program_files_deinit(struct program_files *files);
