/*
 * See unique_ms.h. The process holds the socket of its last time only. Invariant: a socket is closed, and a time
 * becomes free, only after MAX_AGE_MS, when no process takes that time any more.
 */
#include "process/unique_ms.h"

#include "base/clock.h"
#include "base/mem.h"

#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* Beyond these, abstract sockets cannot tell: another user may have bound them on purpose. */
#define MAX_ATTEMPTS 2000

/* A process takes no time that is older. It needs longer from its first time to its end. */
#define MAX_AGE_MS 1

/* The wait for a time to pass. A later time is that of a clock that was set back. */
#define MAX_WAIT_MS 100

static struct {
        pthread_mutex_t lock;
        int64_t last;
        int fd;
} unique = {.lock = PTHREAD_MUTEX_INITIALIZER, .fd = -1};

/* Returns a socket, or -errno: -EADDRINUSE if another process has this time. */
static int unique_ms_bind(const char *prefix, int64_t ms)
{
        struct sockaddr_un address = {.sun_family = AF_UNIX};
        int n = snprintf(address.sun_path + 1, sizeof(address.sun_path) - 1, "firesteel/%s%lld", prefix, (long long)ms);
        int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
        if (fd < 0)
                return -errno;
        socklen_t size =
                (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + MIN((size_t)n, sizeof(address.sun_path) - 1));
        if (bind(fd, (const struct sockaddr *)&address, size) < 0) {
                int r = -errno;
                close(fd);
                return r;
        }
        return fd;
}

int64_t unique_ms_new(const char *prefix)
{
        pthread_mutex_lock(&unique.lock);
        int64_t early = unique.last + MAX_AGE_MS + 1 - time_of_day_ms();
        if (early > 0 && early <= MAX_WAIT_MS)
                usleep((useconds_t)early * 1000);
        int64_t ms = MAX(time_of_day_ms(), unique.last + 1);
        int fd = -1;
        for (int i = 0; i < MAX_ATTEMPTS; i++) {
                fd = unique_ms_bind(prefix, ms);
                if (fd < 0 && fd != -EADDRINUSE)
                        break;
                int64_t now = time_of_day_ms();
                if (fd >= 0 && now - ms <= MAX_AGE_MS)
                        break;
                if (fd >= 0)
                        close(fd);
                fd = -1;
                ms = MAX(ms + 1, now);
        }
        if (unique.fd >= 0)
                close(unique.fd);
        unique.fd = MAX(fd, -1);
        unique.last = ms;
        pthread_mutex_unlock(&unique.lock);
        return ms;
}
