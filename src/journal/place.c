/*
 * See place.h. The files of a local (or shared) directory.
 *
 * The directories are created for their owner only, because results of jobs are data of the application.
 */
#include "journal/place.h"

#include "base/error.h"
#include "base/fs.h"
#include "base/mem.h"
#include "io/fs/file_systems.h"
#include "io/fs/path.h"
#include "journal/frame.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/uio.h>
#include <unistd.h>

#define EPOCH_PREFIX "epoch-"

struct journal_place {
        char *path; /* local */
        int epoch;  /* the taken one; 0 before */
        int fd;     /* of its file */
        off_t size; /* up to the end of the last good frame */
};

static char *journal_place_file(const struct journal_place *place, int epoch)
{
        return mem_printf("%s/" EPOCH_PREFIX "%06d", place->path, epoch);
}

static int journal_place_check_id(const char *id, struct fst_error *error)
{
        if (!*id || id[0] == '.' || strlen(id) > 200 || strchr(id, '/') || strchr(id, '\n'))
                return error_set(error, -EINVAL, "'%s' is not the id of an application", id);
        return 0;
}

/* The path of the place on this machine. Owned by the caller. */
static int journal_place_resolve(const char *directory, const char *id, char **path, struct fst_error *error)
{
        _cleanup_free_ char *full = NULL;
        const struct file_system *fs;
        int r = journal_place_check_id(id, error);
        if (r == 0)
                r = file_system_resolve(directory, &full, &fs, error);
        if (r)
                return r;
        if (strcmp(fs->scheme, "file") != 0)
                return error_set(error, -ENOTSUP,
                                 "%s is on a file system of the scheme %s: name a local or shared directory", directory,
                                 fs->scheme);
        *path = path_join(path_local(full), id);
        return 0;
}

static struct journal_place *journal_place_new(char *path)
{
        struct journal_place *place = new0(struct journal_place);
        *place = (struct journal_place){.path = path, .fd = -1};
        return place;
}

int journal_place_open(const char *directory, const char *id, struct journal_place **place, struct fst_error *error)
{
        _cleanup_free_ char *path = NULL;
        int r = journal_place_resolve(directory, id, &path, error);
        if (r == 0 && (r = make_dirs(path, 0700)))
                error_set(error, r, "cannot make the directory %s: %s", path, strerror(-r));
        if (r == 0)
                *place = journal_place_new(steal(path));
        return r;
}

int journal_place_find(const char *directory, const char *id, struct journal_place **place, struct fst_error *error)
{
        _cleanup_free_ char *path = NULL;
        int r = journal_place_resolve(directory, id, &path, error);
        if (r == 0 && access(path, R_OK | X_OK) < 0)
                r = error_errno(error, "no journal of application %s in %s", id, directory);
        if (r == 0)
                *place = journal_place_new(steal(path));
        return r;
}

void journal_place_free(struct journal_place *place)
{
        if (!place)
                return;
        if (place->fd >= 0)
                close(place->fd);
        free(place->path);
        free(place);
}

const char *journal_place_path(const struct journal_place *place)
{
        return place->path;
}

int journal_place_newest(struct journal_place *place, struct fst_error *error)
{
        int newest = 0, epoch, used;
        DIR *dir = opendir(place->path);
        if (!dir)
                return error_errno(error, "cannot list %s", place->path);
        for (struct dirent *e; (e = readdir(dir));)
                if (sscanf(e->d_name, EPOCH_PREFIX "%6d%n", &epoch, &used) == 1 && !e->d_name[used])
                        newest = MAX(newest, epoch);
        closedir(dir);
        return newest;
}

static int journal_place_sync_directory(const struct journal_place *place)
{
        int fd = open(place->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        int r = fd < 0 || fsync(fd) < 0 ? -errno : 0;
        if (fd >= 0)
                close(fd);
        return r;
}

int journal_place_take(struct journal_place *place, int epoch, struct fst_error *error)
{
        static const char line[] = JOURNAL_FIRST_LINE;
        _cleanup_free_ char *file = journal_place_file(place, epoch);
        int fd = open(file, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        if (fd < 0 && errno == EEXIST)
                return error_set(error, -EEXIST, "another driver has just taken over the application: %s exists", file);
        if (fd < 0)
                return error_errno(error, "cannot create %s", file);
        int r = write_all(fd, line, sizeof(line) - 1);
        if (r == 0)
                r = journal_place_sync_directory(place);
        if (r) {
                close(fd);
                return error_set(error, r, "cannot write %s: %s", file, strerror(-r));
        }
        place->epoch = epoch;
        place->fd = fd;
        place->size = sizeof(line) - 1;
        return 0;
}

int journal_place_read(struct journal_place *place, int epoch, struct buf *out, struct fst_error *error)
{
        _cleanup_free_ char *file = journal_place_file(place, epoch);
        return file_text_read(file, SIZE_MAX / 2, out, error);
}

/* Writes at the end of the good part, so that a retry replaces what a failed write left. */
static int journal_place_write(struct journal_place *place, struct iovec *parts, int n)
{
        off_t at = place->size;
        while (n > 0) {
                ssize_t written = pwritev(place->fd, parts, n, at);
                if (written < 0 && errno == EINTR)
                        continue;
                if (written < 0)
                        return -errno;
                at += written;
                for (; n > 0 && (size_t)written >= parts->iov_len; n--, parts++)
                        written -= (ssize_t)parts->iov_len;
                if (n > 0) {
                        parts->iov_base = (char *)parts->iov_base + written;
                        parts->iov_len -= (size_t)written;
                }
        }
        if (fdatasync(place->fd) < 0)
                return -errno;
        place->size = at;
        return 0;
}

int journal_place_append(struct journal_place *place, const void *header, size_t header_size, const void *body,
                         size_t size, struct fst_error *error)
{
        struct iovec parts[] = {{(void *)header, header_size}, {(void *)body, size}};
        int r = journal_place_write(place, parts, size ? 2 : 1);
        return r ? error_set(error, r, "cannot write to %s: %s", place->path, strerror(-r)) : 0;
}

bool journal_place_is_superseded(struct journal_place *place)
{
        _cleanup_free_ char *own = journal_place_file(place, place->epoch);
        _cleanup_free_ char *next = journal_place_file(place, place->epoch + 1);
        return access(next, F_OK) == 0 || (access(own, F_OK) < 0 && (errno == ENOENT || errno == ENOTDIR));
}

void journal_place_remove(struct journal_place *place)
{
        _cleanup_free_ char *removed = mem_printf("%s.removed", place->path);
        remove_tree(removed);
        remove_tree(rename(place->path, removed) == 0 ? removed : place->path);
}
