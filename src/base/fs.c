/* Blocking helpers for files and directories. */
#include "base/fs.h"

#include "base/error.h"
#include "base/mem.h"

#include <fcntl.h>
#include <ftw.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#define BLOCK (64 * 1024)

int file_text_read(const char *path, size_t most, struct buf *out, struct fst_error *error)
{
        size_t before = out->len;
        int r = 0, fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
        if (fd < 0)
                return error_errno(error, "%s", path);
        struct stat st;
        if (fstat(fd, &st) == 0 && st.st_size > 0 && (uint64_t)st.st_size <= most)
                buf_reserve(out,
                            (size_t)st.st_size + BLOCK); /* it does not grow, so that no copies of secrets are left */
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

static bool is_dir(const char *path)
{
        struct stat st;
        return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

int make_dirs(const char *path, mode_t mode)
{
        if (mkdir(path, mode) == 0)
                return 0;
        if (errno == EEXIST)
                return is_dir(path) ? 0 : -ENOTDIR;
        if (errno != ENOENT || !*path)
                return -errno;
        _cleanup_free_ char *copy = mem_strdup(path);
        for (char *slash = strchr(copy + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
                *slash = '\0';
                /* an unwritable parent may already hold the directory */
                if (mkdir(copy, mode) < 0 && !is_dir(copy))
                        return errno == EEXIST ? -ENOTDIR : -errno;
                *slash = '/';
        }
        if (mkdir(copy, mode) == 0 || is_dir(copy))
                return 0;
        return errno == EEXIST ? -ENOTDIR : -errno;
}

#define OPEN_MAX_AT_ONCE 16

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
        (void)st;
        (void)type;
        (void)ftw;
        remove(path);
        return 0;
}

void remove_tree(const char *path)
{
        if (path)
                nftw(path, remove_one, OPEN_MAX_AT_ONCE, FTW_DEPTH | FTW_PHYS);
}

void uuid_draw(char text[static UUID_TEXT])
{
        unsigned char u[16];
        if (getrandom(u, sizeof(u), 0) != sizeof(u))
                abort(); /* impossible for 16 bytes after the system has started */
        u[6] = (u[6] & 0x0f) | 0x40;
        u[8] = (u[8] & 0x3f) | 0x80;
        snprintf(text, UUID_TEXT, "%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x", u[0], u[1],
                 u[2], u[3], u[4], u[5], u[6], u[7], u[8], u[9], u[10], u[11], u[12], u[13], u[14], u[15]);
}
