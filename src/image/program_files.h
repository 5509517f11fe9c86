/*
 * Lists the files of this program on this machine: the executable, its library, the modules that it loads on demand,
 * and all shared libraries that they need, including the C library and its loader. The system's loader resolves them by
 * loading them all, so call it only in a process that does nothing else.
 */
#pragma once

#include "base/string_list.h"

struct fst_error;

struct program_files {
        char *program;                /* the executable */
        char *library;                /* libfiresteel.so */
        struct string_list modules;   /* libfiresteel-NAME.so */
        struct string_list libraries; /* paths as the loader found them, by name (libz.so.1); without the loader */
        char *loader;                 /* the loader's path in executables: /lib64/ld-linux-x86-64.so.2 */
        char *folder;                 /* the C library's directory, a default search path of the loader */
};

#define PROGRAM_FILES_INIT ((struct program_files){0})

/*
 * Returns -ENOENT or -ELIBBAD with @error, which names the missing part. The caller must deinit @files in either case.
 */
int program_files_find(struct program_files *files, struct fst_error *error);
void program_files_deinit(struct program_files *files);
