/*
 * Files whose content survives a crash of the machine: writes at an offset, and the names of files in their directory.
 *
 * All system calls go through a table, which a test may replace to inject faults. Nothing else changes the pointer.
 */
#pragma once

#include <sys/types.h>
#include <sys/uio.h>

struct durable_file_calls {
        ssize_t (*pwritev)(int fd, const struct iovec *parts, int n, off_t at);
        int (*fdatasync)(int fd);
        int (*fsync)(int fd);
        int (*rename)(const char *from, const char *to);
};

extern const struct durable_file_calls durable_file_default;
extern const struct durable_file_calls *durable_file_calls;

/*
 * Writes all of @n parts one after another at offset @at, and changes @parts while it does so. They are durable after an
 * fdatasync. Returns 0, or -errno: then any of the bytes may be written.
 */
int durable_file_write(int fd, struct iovec *parts, int n, off_t at);

/* Makes the names of created and renamed files in directory @path durable. Returns 0 or -errno. */
int durable_file_sync_directory(const char *path);
