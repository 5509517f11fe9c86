/*
 * The calls by which recovery mode FILESYSTEM writes. A test may put others in their place, which fail as a disk does;
 * nothing else changes the pointer.
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
