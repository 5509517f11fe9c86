/*
 * The file system of local files.
 *
 * Like Hadoop's RawLocalFileSystem where users notice: 32 MiB blocks, directories created on create, messages that name
 * "file:/…". Differs from LocalFileSystem, a ChecksumFileSystem: neither writes nor reads .crc files.
 *
 * Reads use pread(2), so one descriptor serves any position. posix_fadvise announces sequential reading. They take what
 * the page cache has (RWF_NOWAIT). The first read that would wait for the device starts to read ahead
 * (io/ahead/read_ahead.h) up to what the reader wants, so that a warm page cache costs nothing more.
 *
 * With direct reads (local_fs_configure) files are opened with O_DIRECT, and all reads pass through the blocks of a
 * read_ahead, which have the alignment that O_DIRECT needs.
 */
#include "io/fs/local_fs.h"

#include "base/error.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/vec.h"
#include "conf/conf.h"
#include "io/ahead/drop_behind.h"
#include "io/ahead/read_ahead.h"
#include "io/fs/path.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#define MAX_READ_AHEAD ((int64_t)(READ_AHEAD_MAX_BLOCKS * READ_AHEAD_BLOCK))
#define LOCAL_BLOCK ((uint64_t)32 << 20)
#define MIN_AHEAD (2 * (uint64_t)READ_AHEAD_BLOCK) /* with less to read, reading ahead gains nothing */

static atomic_bool ahead_enabled = true, direct_reads;
static atomic_flag direct_refused = ATOMIC_FLAG_INIT; /* the user knows */

void local_fs_configure(bool ahead, bool direct)
{
        atomic_store(&ahead_enabled, ahead);
        atomic_store(&direct_reads, direct);
}

int local_fs_read_conf(const struct fst_conf *conf, struct fst_error *error)
{
        int64_t ahead = 0;
        bool direct = false;
        int r = conf_get_bytes(conf, "spark.firesteel.io.readAhead", &ahead, error);
        if (r == 0)
                r = conf_get_bool(conf, "spark.firesteel.io.direct", &direct, error);
        if (r < 0)
                return r;
        if (ahead < 0)
                return error_set(error, -EINVAL,
                                 "spark.firesteel.io.readAhead must not be negative, but was %lld: use 0 to read "
                                 "nothing ahead",
                                 (long long)ahead);
        if (ahead > MAX_READ_AHEAD)
                return error_set(error, -EINVAL,
                                 "spark.firesteel.io.readAhead must be at most %dm, but was %lld bytes: each running "
                                 "task takes as much memory",
                                 (int)(MAX_READ_AHEAD >> 20), (long long)ahead);
        read_ahead_configure((unsigned)((size_t)ahead / READ_AHEAD_BLOCK), READ_AHEAD_ANY);
        local_fs_configure(ahead > 0, direct);
        drop_behind_configure(direct);
        return 0;
}

void file_status_deinit(struct file_status *status)
{
        free(status->path);
        status->path = NULL;
}

void file_list_deinit(struct file_list *list)
{
        for (size_t i = 0; i < list->len; i++)
                file_status_deinit(&list->data[i]);
        vec_deinit(list);
}

static int file_status_compare(const void *a, const void *b)
{
        return strcmp(((const struct file_status *)a)->path, ((const struct file_status *)b)->path);
}

void file_list_append_sorted(struct file_list *list, struct file_list *from)
{
        if (from->len > 0)
                qsort(from->data, from->len, sizeof(*from->data), file_status_compare);
        for (size_t i = 0; i < from->len; i++)
                vec_push(list, from->data[i]);
        vec_deinit(from);
}

void block_list_deinit(struct block_list *list)
{
        for (size_t i = 0; i < list->len; i++)
                free(list->data[i].hosts);
        vec_deinit(list);
}

static void local_fill_status(struct file_status *status, const struct stat *st)
{
        status->size = S_ISDIR(st->st_mode) ? 0 : (uint64_t)st->st_size;
        status->block_size = LOCAL_BLOCK;
        status->modified_ms = (int64_t)st->st_mtim.tv_sec * 1000 + st->st_mtim.tv_nsec / 1000000;
        status->directory = S_ISDIR(st->st_mode);
        status->permission = st->st_mode & 0777;
}

static int local_stat(const struct file_system *fs, const char *path, struct file_status *status,
                      struct fst_error *error)
{
        struct stat st;
        if (stat(path_local(path), &st) < 0) {
                if (errno == ENOENT || errno == ENOTDIR)
                        return error_set(error, -ENOENT, "File %s does not exist", path);
                return error_errno(error, "looking up %s", path);
        }
        local_fill_status(status, &st);
        status->path = mem_strdup(path);
        return 0;
}

static void local_close_dir(DIR **dir)
{
        if (*dir)
                closedir(*dir);
}

static int local_list(const struct file_system *fs, const char *path, struct file_list *list, struct fst_error *error)
{
        _cleanup_(local_close_dir) DIR *dir = opendir(path_local(path));
        if (!dir)
                return error_errno(error, "listing %s", path);

        struct file_list found = {0};
        int r = 0;
        for (;;) {
                errno = 0;
                struct dirent *entry = readdir(dir);
                if (!entry) {
                        if (errno)
                                r = error_errno(error, "listing %s", path);
                        break;
                }
                if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
                        continue;
                struct stat st;
                if (fstatat(dirfd(dir), entry->d_name, &st, 0) < 0) {
                        /* Removed meanwhile, or a dangling link: Hadoop skips these, too. */
                        if (errno == ENOENT)
                                continue;
                        r = error_errno(error, "looking up %s/%s", path, entry->d_name);
                        break;
                }
                struct file_status status = {.path = path_join(path, entry->d_name)};
                local_fill_status(&status, &st);
                vec_push(&found, status);
        }
        if (r < 0) {
                file_list_deinit(&found);
                return r;
        }
        file_list_append_sorted(list, &found);
        return 0;
}

/* How a file that is open for reading is read: bits of open_file.flags. */
enum {
        LOCAL_WAITS = 1,  /* pread: there is nothing to read ahead, or the file system does not know RWF_NOWAIT */
        LOCAL_DIRECT = 2, /* O_DIRECT: only aligned reads are allowed */
};

static void local_warn_direct(const char *path, const char *why)
{
        if (!atomic_flag_test_and_set(&direct_refused))
                log_warn(
                        "LocalFileSystem",
                        "Reading %s through the page cache, although spark.firesteel.io.direct is true: %s. Other files "
                        "of such file systems get no further warning.",
                        path, why);
}

/* Opens for reading, with O_DIRECT if *@direct, which becomes false if the file system refuses. */
static int local_open_fd(const char *path, bool *direct)
{
        if (*direct) {
                int fd = open(path_local(path), O_RDONLY | O_CLOEXEC | O_DIRECT);
                if (fd >= 0 || errno != EINVAL)
                        return fd;
                local_warn_direct(path, "the file system refuses O_DIRECT");
                *direct = false;
        }
        return open(path_local(path), O_RDONLY | O_CLOEXEC);
}

static int local_open(const struct file_system *fs, const char *path, struct open_file *file, struct fst_error *error)
{
        bool direct = atomic_load_explicit(&direct_reads, memory_order_relaxed);
        int fd = local_open_fd(path, &direct);
        if (fd < 0)
                return error_errno(error, "opening %s", path);
        struct stat st;
        if (fstat(fd, &st) < 0) {
                int r = error_errno(error, "opening %s", path);
                close(fd);
                return r;
        }
        if (S_ISDIR(st.st_mode)) {
                close(fd);
                return error_set(error, -EISDIR, "opening %s: it is a directory", path);
        }
        bool ahead = atomic_load_explicit(&ahead_enabled, memory_order_relaxed) && (uint64_t)st.st_size >= MIN_AHEAD;
        if (!direct)
                posix_fadvise(fd, 0, 0, POSIX_FADV_SEQUENTIAL);
        *file = (struct open_file){.fs = fs,
                                   .path = (char *)path,
                                   .size = (uint64_t)st.st_size,
                                   .fd = fd,
                                   .flags = direct  ? LOCAL_DIRECT
                                            : ahead ? 0
                                                    : LOCAL_WAITS};
        return 0;
}

static ssize_t local_read_waiting(struct open_file *file, void *data, size_t size, uint64_t offset)
{
        ssize_t n;
        do
                n = pread(file->fd, data, size, (off_t)offset);
        while (n < 0 && errno == EINTR);
        return n < 0 ? -errno : n;
}

/* Reads without waiting for the device. Returns -EAGAIN if that gives nothing; afterwards the file may be LOCAL_WAITS.
 */
static ssize_t local_read_cached(struct open_file *file, void *data, size_t size, uint64_t offset)
{
        struct iovec part = {data, size};
        ssize_t n = preadv2(file->fd, &part, 1, (off_t)offset, RWF_NOWAIT);
        if (n >= 0 || errno == EAGAIN || errno == EINTR)
                return n < 0 ? -EAGAIN : n;
        file->flags |= LOCAL_WAITS; /* EOPNOTSUPP, or an error that pread repeats */
        return -EAGAIN;
}

/* Reads ahead from now on, if that pays. Returns -EAGAIN if not. */
static ssize_t local_read_ahead(struct open_file *file, void *data, size_t size, uint64_t offset)
{
        struct read_ahead *a = file->state;
        bool direct = file->flags & LOCAL_DIRECT;
        if (!direct && (file->wanted < offset || file->wanted - offset < (a ? 1 : MIN_AHEAD)))
                return -EAGAIN;
        if (!a)
                file->state = a = read_ahead_new(file->fd, file->wanted);
        if (!a && direct)
                return -ENOMEM;
        if (!a) {
                file->flags |= LOCAL_WAITS;
                return -EAGAIN;
        }
        read_ahead_set_end(a, MIN(file->wanted, file->size));
        ssize_t n = read_ahead_read(a, data, size, offset);
        if (n != -EINVAL || !direct)
                return n;
        local_warn_direct(file->path, "the file system needs another alignment");
        file->flags = LOCAL_WAITS;
        return fcntl(file->fd, F_SETFL, 0) < 0 ? -errno : -EAGAIN;
}

static ssize_t local_read_at(struct open_file *file, void *data, size_t size, uint64_t offset, struct fst_error *error)
{
        ssize_t cached = 0;
        if (!file->flags && !file->state) {
                cached = local_read_cached(file, data, size, offset);
                if (cached == (ssize_t)size || (cached >= 0 && offset + (uint64_t)cached >= file->size))
                        return cached;
                cached = MAX(cached, 0);
                data = (char *)data + cached;
                size -= (size_t)cached;
                offset += (uint64_t)cached;
        }
        ssize_t n = file->flags & LOCAL_WAITS ? -EAGAIN : local_read_ahead(file, data, size, offset);
        if (n == -EAGAIN)
                n = local_read_waiting(file, data, size, offset);
        if (n >= 0 || cached > 0)
                return cached + MAX(n, 0);
        errno = (int)-n;
        return error_errno(error, "reading %s at byte %llu", file->path, (unsigned long long)offset);
}

static int local_mkdirs(const struct file_system *fs, const char *path, struct fst_error *error)
{
        _cleanup_free_ char *name = mem_strdup(path);
        char *local = (char *)path_local(name);

        if (mkdir(local, 0777) == 0)
                return 0;
        struct stat st;
        if (errno == EEXIST) {
                if (stat(local, &st) == 0 && S_ISDIR(st.st_mode))
                        return 0;
                return error_set(error, -ENOTDIR, "Parent path is not a directory: %s", path);
        }
        if (errno == ENOTDIR || errno == ENOENT) {
                _cleanup_free_ char *parent = path_parent(path);
                if (parent) {
                        int r = local_mkdirs(fs, parent, error);
                        if (r < 0)
                                return r;
                        if (mkdir(local, 0777) == 0 || errno == EEXIST)
                                return 0;
                }
        }
        return error_errno(error, "creating directory %s", path);
}

static int local_open_for_writing(const struct file_system *fs, const char *path, int how, struct open_file *file,
                                  struct fst_error *error)
{
        int flags = O_WRONLY | O_CREAT | O_CLOEXEC | how;
        int fd = open(path_local(path), flags, 0666);
        if (fd < 0 && errno == ENOENT) {
                _cleanup_free_ char *parent = path_parent(path);
                int r = parent ? local_mkdirs(fs, parent, error) : 0;
                if (r < 0)
                        return error_wrap(error, r, "creating %s", path);
                fd = open(path_local(path), flags, 0666);
        }
        if (fd < 0)
                return error_errno(error, "creating %s", path);
        *file = (struct open_file){.fs = fs, .path = (char *)path, .fd = fd};
        return 0;
}

static int local_create(const struct file_system *fs, const char *path, struct open_file *file, struct fst_error *error)
{
        return local_open_for_writing(fs, path, O_TRUNC, file, error);
}

static int local_write(struct open_file *file, const void *data, size_t size, struct fst_error *error)
{
        const char *p = data;
        while (size > 0) {
                ssize_t n = write(file->fd, p, size);
                if (n < 0) {
                        if (errno == EINTR)
                                continue;
                        return error_errno(error, "writing %s", file->path);
                }
                p += n;
                size -= (size_t)n;
        }
        return 0;
}

static int local_write_parts(struct open_file *file, struct iovec *parts, int n, struct fst_error *error)
{
        while (n > 0) {
                ssize_t done = writev(file->fd, parts, n);
                if (done < 0) {
                        if (errno == EINTR)
                                continue;
                        return error_errno(error, "writing %s", file->path);
                }
                for (; n > 0 && (size_t)done >= parts->iov_len; parts++, n--)
                        done -= (ssize_t)parts->iov_len;
                if (n > 0) {
                        parts->iov_base = (char *)parts->iov_base + done;
                        parts->iov_len -= (size_t)done;
                }
        }
        return 0;
}

static int local_close(struct open_file *file, struct fst_error *error)
{
        int fd = file->fd;
        const char *path = file->path;
        read_ahead_free(file->state);
        *file = OPEN_FILE_INIT;
        /* Linux releases the descriptor even if close returns EINTR. */
        if (fd >= 0 && close(fd) < 0 && errno != EINTR)
                return error_errno(error, "closing %s", path);
        return 0;
}

static void local_discard(struct open_file *file)
{
        local_close(file, NULL);
}

static int local_rename(const struct file_system *fs, const char *from, const char *to, struct fst_error *error)
{
        if (rename(path_local(from), path_local(to)) == 0)
                return 0;
        if (errno == EEXIST) /* POSIX allows either for a directory with content */
                errno = ENOTEMPTY;
        return error_errno(error, "renaming %s to %s", from, to);
}

/* Removes the entry @name of directory @dir. Recurses as deep as the tree and holds a descriptor for each level. */
static int local_remove_at(int dir, const char *name)
{
        if (unlinkat(dir, name, 0) == 0 || errno == ENOENT)
                return 0;
        if (errno != EISDIR && errno != EPERM)
                return -errno;
        int fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (fd < 0)
                return errno == ENOENT ? 0 : -errno;
        DIR *entries = fdopendir(fd);
        if (!entries) {
                int r = -errno;
                close(fd);
                return r;
        }
        int r = 0;
        for (struct dirent *entry; r == 0 && (entry = readdir(entries));)
                if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
                        r = local_remove_at(fd, entry->d_name);
        closedir(entries);
        if (r == 0 && unlinkat(dir, name, AT_REMOVEDIR) < 0 && errno != ENOENT)
                r = -errno;
        return r;
}

static int local_remove(const struct file_system *fs, const char *path, struct fst_error *error)
{
        int r = local_remove_at(AT_FDCWD, path_local(path));
        if (r == -ENOTDIR)
                return 0;
        if (r < 0) {
                errno = -r;
                return error_errno(error, "removing %s", path);
        }
        return 0;
}

static int local_set_permission(const struct file_system *fs, const char *path, unsigned permission,
                                struct fst_error *error)
{
        if (chmod(path_local(path), permission) < 0)
                return error_errno(error, "setting the permission of %s", path);
        return 0;
}

static int local_put_new(const struct file_system *fs, const char *path, const void *data, size_t size,
                         struct fst_error *error)
{
        struct open_file file = OPEN_FILE_INIT;
        int r = local_open_for_writing(fs, path, O_EXCL, &file, error);
        if (r == 0 && (r = local_write(&file, data, size, error)))
                close(file.fd);
        else if (r == 0)
                r = local_close(&file, error);
        return r;
}

const struct file_system local_fs = {
        .scheme = "file",
        .stat = local_stat,
        .list = local_list,
        .open = local_open,
        .read_at = local_read_at,
        .create = local_create,
        .put_new = local_put_new,
        .write = local_write,
        .write_parts = local_write_parts,
        .close = local_close,
        .discard = local_discard,
        .mkdirs = local_mkdirs,
        .rename = local_rename,
        .remove = local_remove,
        .set_permission = local_set_permission,
};
