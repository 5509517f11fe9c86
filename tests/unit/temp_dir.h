/*
 * A temporary directory for the unit tests of one file, with small files in it.
 *
 *      cmocka_run_group_tests(tests, temp_dir_make, temp_dir_remove)
 *      …
 *      _cleanup_free_ char *path = temp_dir_write("a.conf", "key=value\n");
 *
 * A file includes it once. Processes of other tests have directories of their own.
 */
#pragma once

#include "base/fs.h"
#include "base/mem.h"

#include <stdio.h>
#include <stdlib.h>

static char temp_dir[48]; /* its path; "" before temp_dir_make */

/* Setup function: makes the directory. */
static inline int temp_dir_make(void **state)
{
        snprintf(temp_dir, sizeof(temp_dir), "/tmp/firesteel-unit-XXXXXX");
        return mkdtemp(temp_dir) ? 0 : -1;
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
