/*
 * A temporary directory for the unit tests of one file, with small files in it.
 *
 *      cmocka_run_group_tests(tests, temp_dir_make, temp_dir_remove)
 *      …
 *      _cleanup_free_ char *path = temp_dir_write("a.conf", "key=value\n");
 *
 * A case that needs a directory of its own makes it by temp_dir_new and removes it by remove_tree (base/fs.h).
 *
 * A file includes it once. Processes of other tests have directories of their own.
 */
#pragma once

#include "base/fs.h"
#include "base/mem.h"

#include <stdio.h>
#include <stdlib.h>

#define TEMP_DIR_SIZE 48 /* of a path */

static char temp_dir[TEMP_DIR_SIZE]; /* its path; "" before temp_dir_make */

/* Makes another directory and writes its path. Aborts if that is impossible. */
static inline void temp_dir_new(char path[static TEMP_DIR_SIZE])
{
        snprintf(path, TEMP_DIR_SIZE, "/tmp/firesteel-unit-XXXXXX");
        if (!mkdtemp(path))
                abort();
}

/* Setup function: makes the directory. */
static inline int temp_dir_make(void **state)
{
        temp_dir_new(temp_dir);
        return 0;
}

/* Teardown function: removes the directory with all that is in it. */
static inline int temp_dir_remove(void **state)
{
        remove_tree(temp_dir);
        return 0;
}

/* The path of @name in the directory. The caller owns it. */
static inline char *temp_dir_path(const char *name)
{
        return mem_printf("%s/%s", temp_dir, name);
}

/* Writes @content to the file @name in the directory, and returns its path, which the caller owns. */
static inline char *temp_dir_write(const char *name, const char *content)
{
        char *path = temp_dir_path(name);
        FILE *file = fopen(path, "w");
        if (!file || fputs(content, file) < 0 || fclose(file))
                abort();
        return path;
}
