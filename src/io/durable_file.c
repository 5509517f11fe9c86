/* See durable_file.h. */
#include "io/durable_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

const struct durable_file_calls durable_file_default = {
        .pwritev = pwritev, .fdatasync = fdatasync, .fsync = fsync, .rename = rename};
const struct durable_file_calls *durable_file_calls = &durable_file_default;

int durable_file_write(int fd, struct iovec *parts, int n, off_t at)
{
        for (; n > 0 && parts->iov_len == 0; n--, parts++)
                ;
        while (n > 0) {
                ssize_t written = durable_file_calls->pwritev(fd, parts, n, at);
                if (written < 0 && errno == EINTR)
                        continue;
                if (written <= 0)
                        return written < 0 ? -errno : -EIO;
                at += written;
                for (; n > 0 && (size_t)written >= parts->iov_len; n--, parts++)
                        written -= (ssize_t)parts->iov_len;
                if (n > 0) {
                        parts->iov_base = (char *)parts->iov_base + written;
                        parts->iov_len -= (size_t)written;
                }
        }
        return 0;
}

int durable_file_sync_directory(const char *path)
{
        int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (fd < 0)
                return -errno;
        int r = durable_file_calls->fsync(fd) < 0 ? -errno : 0;
        close(fd);
        return r;
}
