/*
 * Disks that fail, for disks_test.py: preloaded (LD_PRELOAD), it has files under some folders fail as FAILING_DISKS
 * says:
 * "/folder:ERRNO" for each, separated by commas. What fails is writing and making room, or for EROFS creating. Beyond
 * the first FAILING_AFTER bytes of each file (0 by default), as a disk fills while it is written to. FIRESTEEL itself
 * knows nothing of it.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/uio.h>
#include <unistd.h>

/* The errno for @path, or 0. The files that mark the owner of a directory never fail. */
static int fault_of(const char *path)
{
        const char *list = getenv("FAILING_DISKS");
        if (!strstr(path, "/blockmgr-") || strstr(path, ".firesteel.lock"))
                return 0;
        while (list && *list) {
                size_t n = strcspn(list, ":");
                if (strncmp(path, list, n) == 0 && path[n] == '/')
                        return atoi(list + n + 1);
                list = strchr(list, ',');
                list += list != NULL;
        }
        return 0;
}

static int fault_at(int fd, off_t end)
{
        char link[64], path[4096];
        const char *after = getenv("FAILING_AFTER");
        snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
        ssize_t n = readlink(link, path, sizeof(path) - 1);
        path[n > 0 ? n : 0] = 0;
        int fault = fault_of(path);
        if (!fault || fault == EROFS || end <= (after ? atoll(after) : 0))
                return 0;
        errno = fault;
        return fault;
}

ssize_t pwritev64(int fd, const struct iovec *parts, int n, off64_t at)
{
        static ssize_t (*real)(int, const struct iovec *, int, off64_t);
        off_t size = 0;
        for (int i = 0; i < n; i++)
                size += (off_t)parts[i].iov_len;
        if (fault_at(fd, at + size))
                return -1;
        real = real ? real : dlsym(RTLD_NEXT, "pwritev64");
        return real(fd, parts, n, at);
}

ssize_t pwritev(int fd, const struct iovec *parts, int n, off_t at)
{
        return pwritev64(fd, parts, n, at);
}

ssize_t write(int fd, const void *data, size_t n)
{
        static ssize_t (*real)(int, const void *, size_t);
        real = real ? real : dlsym(RTLD_NEXT, "write");
        return fd > 2 && fault_at(fd, (off_t)n) ? -1 : real(fd, data, n);
}

ssize_t sendfile64(int to, int from, off64_t *at, size_t n)
{
        static ssize_t (*real)(int, int, off64_t *, size_t);
        real = real ? real : dlsym(RTLD_NEXT, "sendfile64");
        return fault_at(to, (off_t)n) ? -1 : real(to, from, at, n);
}

ssize_t sendfile(int to, int from, off_t *at, size_t n)
{
        return sendfile64(to, from, at, n);
}

int posix_fallocate64(int fd, off64_t at, off64_t n)
{
        static int (*real)(int, off64_t, off64_t);
        int fault = fault_at(fd, at + n);
        real = real ? real : dlsym(RTLD_NEXT, "posix_fallocate64");
        return fault ? fault : real(fd, at, n);
}

int posix_fallocate(int fd, off_t at, off_t n)
{
        return posix_fallocate64(fd, at, n);
}

int open64(const char *path, int flags, ...)
{
        static int (*real)(const char *, int, ...);
        va_list more;
        va_start(more, flags);
        mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(more, mode_t) : 0;
        va_end(more);
        if (flags & O_CREAT && fault_of(path) == EROFS) {
                errno = EROFS;
                return -1;
        }
        real = real ? real : dlsym(RTLD_NEXT, "open64");
        return real(path, flags, mode);
}
