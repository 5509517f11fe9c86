/* A directory with small files, for tests of steps that read files. */
#pragma once

#include "base/mem.h"
#include "base/fs.h"

#include <stdio.h>
#include <stdlib.h>

static char folder[64];

static inline int folder_make(void **state)
{
        snprintf(folder, sizeof(folder), "/tmp/pods-test-XXXXXX");
        return mkdtemp(folder) ? 0 : -1;
}

static inline int folder_remove(void **state)
{
        remove_tree(folder);
        return 0;
}

/* Writes a file into it. The caller owns the path. */
static inline char *folder_write(const char *name, const char *content)
{
        char *path = mem_printf("%s/%s", folder, name);
        FILE *file = fopen(path, "w");
        if (!file || fputs(content, file) < 0 || fclose(file))
                abort();
        return path;
}
