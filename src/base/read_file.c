/* See file_text.h. */
#include "base/read_file.h"

#include "base/error.h"

#include <fcntl.h>
#include <unistd.h>

#define BLOCK (64 * 1024)

int file_text_read(const char *path, size_t most, struct buf *out, struct fst_error *error)
{
        size_t before = out->len;
        int r = 0, fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
        if (fd < 0)
                return error_errno(error, "%s", path);
        for (ssize_t n = 1; r == 0 && n != 0;) {
                buf_reserve(out, BLOCK);
                n = read(fd, out->data + out->len, BLOCK);
                if (n < 0 && errno != EINTR)
                        r = error_errno(error, "%s", path);
                if (n > 0)
                        out->data[out->len += (size_t)n] = '\0';
                if (r == 0 && out->len - before > most)
                        r = error_set(error, -EFBIG, "%s: longer than %zu bytes", path, most);
        }
        close(fd);
        if (r < 0)
                buf_truncate(out, before);
        return r;
}
