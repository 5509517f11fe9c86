/* See write_all.h. */
#include "base/write_all.h"

#include <errno.h>
#include <unistd.h>

int write_all(int fd, const void *data, size_t n)
{
        for (const char *at = data; n > 0;) {
                ssize_t w = write(fd, at, n);
                if (w < 0 && errno == EINTR)
                        continue;
                if (w < 0)
                        return -errno;
                at += w;
                n -= (size_t)w;
        }
        return 0;
}
