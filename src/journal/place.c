/*
 * See place.h: the choice of the file system, and the files of a local (or shared) directory.
 *
 * The directories are created for their owner only, because results of jobs are data of the application.
 */
#include "journal/place_internal.h"

#include "base/error.h"
#include "base/fs.h"
#include "base/mem.h"
#include "io/durable_file.h"
#include "io/fs/file_systems.h"
#include "io/fs/path.h"
#include "journal/frame.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#define REMOVED ".removed"

static char *place_local_file(const struct journal_place *place, int epoch)
{
        return mem_printf("%s/" EPOCH_PREFIX "%06d", place->path, epoch);
}

int journal_place_check_id(const char *id, struct fst_error *error)
{
        if (!*id || id[0] == '.' || strlen(id) > 200 || strchr(id, '/') || strchr(id, '\n'))
                return error_set(error, -EINVAL,
                                 "'%s' is not the id of an application: ids have no slash, no leading dot and at most "
                                 "200 characters",
                                 id);
        return 0;
}

static const struct journal_place_class place_local;

static int journal_place_new(const char *directory, const char *id, struct journal_place **place,
                             struct fst_error *error)
{
        _cleanup_free_ char *full = NULL;
        const struct file_system *fs;
        int r = journal_place_check_id(id, error);
        if (r == 0)
                r = file_system_resolve(directory, &full, &fs, error);
        if (r)
                return r;
        const bool local = strcmp(fs->scheme, "file") == 0;
        *place = new0(struct journal_place);
        **place = (struct journal_place){.class = local ? &place_local : &journal_place_remote,
                                         .fs = fs,
                                         .path = path_join(local ? path_local(full) : full, id),
                                         .fd = -1};
        return 0;
}

/* Removes what drivers that were killed while they removed their journals have left beside @place. */
static void place_local_sweep(const struct journal_place *place)
{
        _cleanup_free_ char *above = mem_strndup(place->path, (size_t)(strrchr(place->path, '/') - place->path));
        DIR *dir = opendir(above);
        for (struct dirent *e; dir && (e = readdir(dir));) {
                const char *end = strstr(e->d_name, REMOVED);
                if (!end || end == e->d_name || strcmp(end, REMOVED) != 0)
                        continue;
                _cleanup_free_ char *left = mem_printf("%s/%s", above, e->d_name);
                remove_tree(left);
        }
        if (dir)
                closedir(dir);
}

static int place_local_make(struct journal_place *place, struct fst_error *error)
{
        int r = make_dirs(place->path, 0700);
        if (r)
                return error_set(error, r, "cannot make the directory %s: %s%s", place->path, strerror(-r),
                                 r == -EACCES || r == -EPERM || r == -EROFS
                                         ? ": let this user write there, or choose another directory"
                                         : "");
        place_local_sweep(place);
        return 0;
}

static int place_local_find(struct journal_place *place, struct fst_error *error)
{
        return access(place->path, R_OK | X_OK) < 0 ? error_errno(error, "%s", place->path) : 0;
}

int journal_place_open(const char *directory, const char *id, struct journal_place **place, struct fst_error *error)
{
        struct journal_place *made = NULL;
        int r = journal_place_new(directory, id, &made, error);
        if (r == 0)
                r = made->class->make(made, error);
        if (r == 0)
                *place = steal(made);
        journal_place_free(made);
        return r;
}

int journal_place_find(const char *directory, const char *id, struct journal_place **place, struct fst_error *error)
{
        struct journal_place *made = NULL;
        int r = journal_place_new(directory, id, &made, error);
        if (r == 0 && (r = made->class->find(made, error)))
                error_wrap(error, r,
                           r == -ENOENT ? "no journal of application %s in %s (a driver that succeeds removes it)"
                                        : "the journal of application %s in %s cannot be read",
                           id, directory);
        if (r == 0)
                *place = steal(made);
        journal_place_free(made);
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

/* The highest number of a file with this prefix; 0: there is none. */
static int place_local_highest(struct journal_place *place, const char *prefix, struct fst_error *error)
{
        int highest = 0, number, used;
        DIR *dir = opendir(place->path);
        if (!dir)
                return error_errno(error, "cannot list %s", place->path);
        for (struct dirent *e; (e = readdir(dir));)
                if (strncmp(e->d_name, prefix, strlen(prefix)) == 0 &&
                    sscanf(e->d_name + strlen(prefix), "%6d%n", &number, &used) == 1 &&
                    !e->d_name[strlen(prefix) + (size_t)used])
                        highest = MAX(highest, number);
        closedir(dir);
        return highest;
}

static int place_local_newest(struct journal_place *place, struct fst_error *error)
{
        return place_local_highest(place, EPOCH_PREFIX, error);
}

static int place_local_newest_driver(struct journal_place *place, struct fst_error *error)
{
        return place_local_highest(place, DRIVER_PREFIX, error);
}

static int place_local_take(struct journal_place *place, int epoch, struct fst_error *error)
{
        static const char line[] = JOURNAL_FIRST_LINE;
        _cleanup_free_ char *file = place_local_file(place, epoch);
        int fd = open(file, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        if (fd < 0 && errno == EEXIST)
                return error_set(error, -EEXIST, "another driver has just taken over the application: %s exists", file);
        if (fd < 0)
                return error_errno(error, "cannot create %s", file);
        int r = write_all(fd, line, sizeof(line) - 1);
        if (r == 0)
                r = durable_file_sync_directory(place->path);
        if (r) {
                close(fd);
                return error_set(error, r, "cannot write %s: %s", file, strerror(-r));
        }
        if (place->fd >= 0)
                close(place->fd);
        place->epoch = epoch;
        place->fd = fd;
        place->size = sizeof(line) - 1;
        return 0;
}

static int place_local_read(struct journal_place *place, int epoch, struct buf *out, struct fst_error *error)
{
        _cleanup_free_ char *file = place_local_file(place, epoch);
        return file_text_read(file, SIZE_MAX / 2, out, error);
}

static int place_local_append(struct journal_place *place, const void *header, size_t header_size, const void *body,
                              size_t size, struct fst_error *error)
{
        struct iovec parts[] = {{(void *)header, header_size}, {(void *)body, size}};
        /* At the end of the good part, so that a retry replaces what a failed write left. */
        int r = durable_file_write(place->fd, parts, 2, place->size);
        if (r == 0 && durable_file_calls->fdatasync(place->fd) < 0)
                r = -errno;
        if (r)
                return error_set(error, r, "cannot write to %s: %s", place->path, strerror(-r));
        place->size += (off_t)(header_size + size);
        return 0;
}

static int place_local_put(struct journal_place *place, const char *name, const char *text, struct fst_error *error)
{
        _cleanup_free_ char *file = mem_printf("%s/%s", place->path, name), *draft = mem_printf("%s.new", file);
        int fd = open(draft, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
        if (fd < 0)
                return error_errno(error, "cannot create %s", draft);
        int r = write_all(fd, text, strlen(text));
        close(fd);
        if (r == 0 && rename(draft, file) < 0)
                r = -errno;
        if (r == 0)
                return 0;
        unlink(draft);
        return error_set(error, r, "cannot write %s: %s", file, strerror(-r));
}

static int place_local_get(struct journal_place *place, const char *name, struct buf *out, struct fst_error *error)
{
        _cleanup_free_ char *file = mem_printf("%s/%s", place->path, name);
        return file_text_read(file, MAX_SMALL_FILE, out, error);
}

static bool place_local_is_superseded(struct journal_place *place)
{
        _cleanup_free_ char *own = place_local_file(place, place->epoch);
        _cleanup_free_ char *next = place_local_file(place, place->epoch + 1);
        return access(next, F_OK) == 0 || (access(own, F_OK) < 0 && (errno == ENOENT || errno == ENOTDIR));
}

static void place_local_remove_earlier(struct journal_place *place)
{
        int epoch, used;
        DIR *dir = opendir(place->path);
        for (struct dirent *e; dir && (e = readdir(dir));)
                if (sscanf(e->d_name, EPOCH_PREFIX "%6d%n", &epoch, &used) == 1 && !e->d_name[used] &&
                    epoch < place->epoch)
                        unlinkat(dirfd(dir), e->d_name, 0);
        if (dir)
                closedir(dir);
}

static void place_local_remove(struct journal_place *place)
{
        _cleanup_free_ char *removed = mem_printf("%s" REMOVED, place->path);
        remove_tree(removed);
        remove_tree(rename(place->path, removed) == 0 ? removed : place->path);
}

static const struct journal_place_class place_local = {
        .make = place_local_make,
        .find = place_local_find,
        .newest = place_local_newest,
        .newest_driver = place_local_newest_driver,
        .take = place_local_take,
        .read = place_local_read,
        .append = place_local_append,
        .put = place_local_put,
        .get = place_local_get,
        .is_superseded = place_local_is_superseded,
        .remove_earlier = place_local_remove_earlier,
        .remove = place_local_remove,
};

/* ------------------------------------------------------------------------------------------------------- either kind
 */

bool journal_place_is_remote(const struct journal_place *place)
{
        return place->class == &journal_place_remote;
}

int journal_place_newest(struct journal_place *place, struct fst_error *error)
{
        return place->class->newest(place, error);
}

int journal_place_take(struct journal_place *place, int epoch, struct fst_error *error)
{
        return place->class->take(place, epoch, error);
}

int journal_place_read(struct journal_place *place, int epoch, struct buf *out, struct fst_error *error)
{
        return place->class->read(place, epoch, out, error);
}

int journal_place_append(struct journal_place *place, const void *header, size_t header_size, const void *body,
                         size_t size, struct fst_error *error)
{
        return place->class->append(place, header, header_size, body, size, error);
}

int journal_place_put(struct journal_place *place, const char *name, const char *text, struct fst_error *error)
{
        return place->class->put(place, name, text, error);
}

int journal_place_get(struct journal_place *place, const char *name, struct buf *out, struct fst_error *error)
{
        return place->class->get(place, name, out, error);
}

int journal_place_publish(struct journal_place *place, int epoch, const char *url, struct fst_error *error)
{
        char name[32];
        snprintf(name, sizeof(name), DRIVER_PREFIX "%06d", epoch);
        return journal_place_put(place, name, url, error);
}

int journal_place_find_driver(struct journal_place *place, int after, struct buf *out, struct fst_error *error)
{
        int epoch = place->class->newest_driver(place, error);
        char name[32];
        if (epoch <= after)
                return MIN(epoch, 0);
        snprintf(name, sizeof(name), DRIVER_PREFIX "%06d", epoch);
        int r = journal_place_get(place, name, out, error);
        return r < 0 ? r : epoch;
}

bool journal_place_is_superseded(struct journal_place *place)
{
        return place->class->is_superseded(place);
}

int journal_place_fold(struct journal_place *place, const void *body, size_t size, struct fst_error *error)
{
        unsigned char header[JOURNAL_FRAME_HEADER];
        int r = place->epoch >= MAX_JOURNAL_EPOCH    ? error_set(error, -EOVERFLOW, "%s has no epoch left", place->path)
                : journal_place_is_superseded(place) ? error_set(error, -EEXIST, "another driver has the application")
                                                     : journal_place_take(place, place->epoch + 1, error);
        if (r)
                return r;
        journal_frame_header(body, size, header);
        r = journal_place_append(place, header, sizeof(header), body, size, error);
        /*
         * The look comes after the write: a newer driver that this look misses reads what was written. It lists all
         * epochs, because a newer driver may have folded its own, and the one that was taken here was then free again.
         */
        int newest = r ? r : journal_place_newest(place, error);
        if (newest < 0)
                return newest;
        if (newest > place->epoch)
                return error_set(error, -EEXIST, "another driver has the application");
        place->class->remove_earlier(place);
        return 0;
}

int journal_place_epoch(const struct journal_place *place)
{
        return place->epoch;
}

void journal_place_remove(struct journal_place *place)
{
        place->class->remove(place);
}
