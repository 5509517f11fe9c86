/* A file in memory that holds the input of a fuzz target, for readers that open a path. */
#pragma once

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* Stores @size bytes as the whole content of the target's one file. Returns its path after @scheme ("file:" or "");
 * the path stays valid and the same. */
static inline char *memory_file(const char *scheme, const uint8_t *data, size_t size)
{
        static int file = -1;
        static char path[64];
        if (file < 0) {
                file = memfd_create("fuzz", MFD_CLOEXEC);
                snprintf(path, sizeof(path), "%s/proc/self/fd/%d", scheme, file);
        }
        if (file < 0 || ftruncate(file, 0) < 0 || pwrite(file, data, size, 0) != (ssize_t)size)
                abort();
        return path;
}
