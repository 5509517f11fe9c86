/* See log_reader.h. The last four bytes of a compressed file are its uncompressed length. */
#include "standalone/pages/log_reader.h"

#include "base/error.h"
#include "base/mem.h"
#include "base/string_prefix.h"
#include "base/vec.h"
#include "net/byte_order.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#define MOST_FILES 10000

struct log_part {
        char *name;
        int64_t size;
        bool compressed;
};

typedef VEC(struct log_part) parts_t;

void log_range_deinit(struct log_range *r)
{
        buf_deinit(&r->text);
}

bool log_view_is_type(const char *type)
{
        return type && (strcmp(type, "stdout") == 0 || strcmp(type, "stderr") == 0 || strcmp(type, "out") == 0);
}

static bool is_plain_name(const char *name)
{
        return *name && !strchr(name, '/') && strcmp(name, ".") != 0 && strcmp(name, "..") != 0;
}

/* Opens the directory. Returns -ENOENT if any component is not a directory. */
static int open_directory(const char *work_dir, const char *const *parts, int n_parts)
{
        int fd = open(work_dir, (n_parts ? O_PATH : O_RDONLY) | O_DIRECTORY | O_CLOEXEC);
        for (int i = 0; fd >= 0 && i < n_parts; i++) {
                int next = is_plain_name(parts[i])
                                   ? openat(fd, parts[i], O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
                                   : -1;
                close(fd);
                fd = next;
        }
        return fd >= 0 ? fd : -ENOENT;
}

/* Opens a regular file that is not a symbolic link, else returns -ENOENT. Opening a FIFO must not block. */
static int log_reader_open_file(int directory, const char *name, struct stat *st)
{
        int fd = openat(directory, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
        if (fd < 0)
                return -ENOENT;
        if (fstat(fd, st) < 0 || !S_ISREG(st->st_mode)) {
                close(fd);
                return -ENOENT;
        }
        return fd;
}

static int64_t compressed_size(int fd, const struct stat *st)
{
        unsigned char end[4];
        if (st->st_size < 18 || pread(fd, end, 4, st->st_size - 4) != 4)
                return 0;
        return get_le32(end);
}

static void add_part(parts_t *parts, int directory, const char *name)
{
        struct stat st;
        int fd = log_reader_open_file(directory, name, &st);
        if (fd < 0)
                return;
        bool compressed = text_ends_with(name, ".gz");
        vec_push(parts, (struct log_part){.name = mem_strdup(name),
                                          .size = compressed ? compressed_size(fd, &st) : st.st_size,
                                          .compressed = compressed});
        close(fd);
}

static int log_reader_by_name(const void *a, const void *b)
{
        return strcmp(((const struct log_part *)a)->name, ((const struct log_part *)b)->name);
}

/* Takes ownership of the descriptor. */
static int list_parts(int directory, const char *type, parts_t *parts, struct fst_error *error)
{
        _cleanup_free_ char *prefix = mem_printf("%s--", type);
        DIR *entries = fdopendir(directory);
        const struct dirent *e;
        if (!entries) {
                close(directory);
                return error_errno(error, "cannot read the directory of this log");
        }
        while ((e = readdir(entries)) && parts->len < MOST_FILES)
                if (text_starts_with(e->d_name, prefix))
                        add_part(parts, dirfd(entries), e->d_name);
        if (parts->len > 1)
                qsort(parts->data, parts->len, sizeof(*parts->data), log_reader_by_name);
        add_part(parts, dirfd(entries), type);
        closedir(entries);
        return 0;
}

char *log_view_own(const char *directory)
{
        DIR *entries = opendir(directory);
        struct stat ours = {0}, st;
        char *best = NULL;
        bool found = false, known = fstat(STDOUT_FILENO, &ours) == 0 && S_ISREG(ours.st_mode);
        for (const struct dirent *e; entries && !found && (e = readdir(entries));) {
                if (!text_ends_with(e->d_name, ".out") ||
                    fstatat(dirfd(entries), e->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISREG(st.st_mode))
                        continue;
                found = known && st.st_ino == ours.st_ino && st.st_dev == ours.st_dev;
                if (!found && best && strcmp(best, e->d_name) < 0)
                        continue;
                free(best);
                best = mem_strdup(e->d_name);
        }
        if (entries)
                closedir(entries);
        return best;
}

static void read_compressed(int fd, int64_t from, int64_t n, struct buf *out)
{
        gzFile gz = gzdopen(fd, "rb");
        if (!gz) {
                close(fd);
                return;
        }
        buf_reserve(out, (size_t)n);
        if (gzseek(gz, (z_off_t)from, SEEK_SET) >= 0) {
                int got = gzread(gz, out->data + out->len, (unsigned)n);
                out->len += got > 0 ? (size_t)got : 0;
                out->data[out->len] = '\0';
        }
        gzclose(gz);
}

static void log_reader_read_part(int directory, const struct log_part *p, int64_t from, int64_t n, struct buf *out)
{
        struct stat st;
        int fd = log_reader_open_file(directory, p->name, &st);
        if (fd < 0)
                return; /* removed meanwhile */
        if (p->compressed)
                return read_compressed(fd, from, n, out);
        buf_reserve(out, (size_t)n);
        while (n > 0) {
                ssize_t got = pread(fd, out->data + out->len, (size_t)n, from);
                if (got <= 0)
                        break;
                out->len += (size_t)got;
                from += got;
                n -= got;
        }
        out->data[out->len] = '\0';
        close(fd);
}

static void log_reader_read_range(int directory, const parts_t *parts, struct log_range *r)
{
        int64_t at = 0;
        for (size_t i = 0; i < parts->len; i++) {
                const struct log_part *p = &parts->data[i];
                int64_t from = MAX(r->start - at, (int64_t)0), to = MIN(r->end - at, p->size);
                if (to > from)
                        log_reader_read_part(directory, p, from, to - from, &r->text);
                at += p->size;
        }
}

int log_view_read(const char *work_dir, const char *const *names, int n_names, const char *type, const int64_t *offset,
                  int64_t bytes, struct log_range *out, struct fst_error *error)
{
        parts_t parts = {0};
        int directory = open_directory(work_dir, names, n_names);
        int again = directory < 0 ? directory : fcntl(directory, F_DUPFD_CLOEXEC, 0);
        if (directory < 0)
                return -ENOENT;
        int r = again < 0 ? -errno : list_parts(again, type, &parts, error);
        if (r == 0) {
                struct log_range range = LOG_RANGE_INIT;
                bytes = MIN(MAX(bytes, (int64_t)0), (int64_t)MAX_LOG_VIEW);
                for (size_t i = 0; i < parts.len; i++)
                        range.total += parts.data[i].size;
                range.start = offset ? *offset : range.total - bytes;
                range.start = MIN(MAX(range.start, (int64_t)0), range.total);
                range.end = MIN(range.start + bytes, range.total);
                log_reader_read_range(directory, &parts, &range);
                *out = range;
        }
        for (size_t i = 0; i < parts.len; i++)
                free(parts.data[i].name);
        vec_deinit(&parts);
        close(directory);
        return r;
}
