/*
 * A journal on a slow disk, for resume_test.py: preloaded (LD_PRELOAD), it delays each write of the thread
 * "driver-journal" by two seconds while the file SLOW_JOURNAL exists.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#define DELAY_S 2

ssize_t pwritev64(int fd, const struct iovec *parts, int n, off64_t offset)
{
        ssize_t (*write)(int, const struct iovec *, int, off64_t) =
                (ssize_t(*)(int, const struct iovec *, int, off64_t))dlsym(RTLD_NEXT, "pwritev64");
        const char *file = getenv("SLOW_JOURNAL");
        char name[16];
        if (file && access(file, F_OK) == 0 && pthread_getname_np(pthread_self(), name, sizeof(name)) == 0 &&
            strcmp(name, "driver-journal") == 0)
                sleep(DELAY_S);
        return write(fd, parts, n, offset);
}
