/* System calls of recovery mode FILESYSTEM. A test may replace them with failing ones. Nothing else changes the
 * pointer.
 */
#pragma once

#include <sys/types.h>

struct persistence_file_system {
        ssize_t (*pwrite)(int fd, const void *data, size_t n, off_t at);
        int (*fdatasync)(int fd);
        int (*fsync)(int fd);
        int (*rename)(const char *from, const char *to);
};

extern const struct persistence_file_system persistence_file_default;
extern const struct persistence_file_system *persistence_file_system;
