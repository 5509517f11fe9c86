/*
 * See place.h: journals on HDFS and in object stores.
 *
 * The first file of an epoch is created exclusively. Each write makes a further file. A failed one is repeated under
 * the same number. Readers take the files from number 0 on without a gap: the end of a file of which only a part was
 * written is found by its frame. A store that ignores "only if it does not exist" cannot hold a journal, so each driver
 * tries its own file twice.
 */
#include "journal/place_internal.h"

#include "base/error.h"
#include "base/mem.h"
#include "io/fs/file_system.h"
#include "io/fs/path.h"
#include "journal/frame.h"

#include <stdio.h>

#define MAX_FILES 9999999

static char *place_remote_file(const struct journal_place *p, int epoch, int number)
{
        return mem_printf("%s/" EPOCH_PREFIX "%06d-%07d", p->path, epoch, number);
}

/* Parses the name of a file. */
static bool place_remote_is_file(const char *path, int *epoch, int *number)
{
        const char *name = path_name(path);
        int used = 0;
        return sscanf(name, EPOCH_PREFIX "%6d-%7d%n", epoch, number, &used) == 2 && !name[used] && *epoch > 0 &&
               *number >= 0;
}

static int place_remote_list(struct journal_place *p, struct file_list *list, struct fst_error *error)
{
        int r = p->fs->list(p->fs, p->path, list, error);
        return r == -ENOENT ? (error_deinit(error), 0) : r;
}

static int place_remote_make(struct journal_place *p, struct fst_error *error)
{
        return 0; /* with its first file */
}

static int place_remote_newest(struct journal_place *p, struct fst_error *error)
{
        struct file_list list = {0};
        int newest = 0, epoch, number, r = place_remote_list(p, &list, error);
        for (size_t i = 0; i < list.len; i++)
                if (place_remote_is_file(list.data[i].path, &epoch, &number))
                        newest = MAX(newest, epoch);
        file_list_deinit(&list);
        return r < 0 ? r : newest;
}

static int place_remote_newest_driver(struct journal_place *p, struct fst_error *error)
{
        struct file_list list = {0};
        int newest = 0, epoch, r = place_remote_list(p, &list, error);
        for (size_t i = 0; i < list.len; i++) {
                const char *name = path_name(list.data[i].path);
                int used = 0;
                if (sscanf(name, DRIVER_PREFIX "%6d%n", &epoch, &used) == 1 && !name[used])
                        newest = MAX(newest, epoch);
        }
        file_list_deinit(&list);
        return r < 0 ? r : newest;
}

static int place_remote_find(struct journal_place *p, struct fst_error *error)
{
        int newest = place_remote_newest(p, error);
        return newest == 0 ? error_set(error, -ENOENT, "there are no files %s/" EPOCH_PREFIX "…", p->path)
                           : MIN(newest, 0);
}

static int place_remote_take(struct journal_place *p, int epoch, struct fst_error *error)
{
        static const char line[] = JOURNAL_FIRST_LINE;
        struct fst_error again = FST_ERROR_INIT;
        _cleanup_free_ char *file = place_remote_file(p, epoch, 0);
        int r = p->fs->put_new(p->fs, file, line, sizeof(line) - 1, error);
        if (r == -EEXIST) {
                error_deinit(error);
                return error_set(error, -EEXIST, "another driver has just taken over the application: %s exists", file);
        }
        if (r < 0)
                return error_wrap(error, r, "cannot create %s", file);
        r = p->fs->put_new(p->fs, file, line, sizeof(line) - 1, &again);
        error_deinit(&again);
        if (r == 0)
                return error_set(
                        error, -ENOTSUP,
                        "the store of %s creates objects that exist, although it is told not to (If-None-Match), so "
                        "that two drivers could have one application: use another store",
                        file);
        p->epoch = epoch;
        p->next = 1;
        return 0;
}

/* Appends the content of a file to @out. */
static int place_remote_read_file(struct journal_place *p, const struct file_status *status, struct buf *out,
                                  struct fst_error *error)
{
        struct open_file file = OPEN_FILE_INIT;
        size_t done = 0;
        ssize_t n = 1;
        int r = p->fs->open(p->fs, status->path, &file, error);
        if (r < 0)
                return r;
        buf_reserve(out, file.size);
        for (; done < file.size && n > 0; done += (size_t)MAX(n, (ssize_t)0))
                n = p->fs->read_at(&file, out->data + out->len + done, file.size - done, done, error);
        p->fs->discard(&file);
        if (n < 0)
                return (int)n;
        out->len += done;
        return 0;
}

static int place_remote_read(struct journal_place *p, int epoch, struct buf *out, struct fst_error *error)
{
        struct file_list list = {0};
        int of, number, next = 0, r = place_remote_list(p, &list, error);
        for (size_t i = 0; i < list.len && r == 0; i++) /* sorted by name */
                if (place_remote_is_file(list.data[i].path, &of, &number) && of == epoch && number == next) {
                        r = place_remote_read_file(p, &list.data[i], out, error);
                        next++;
                }
        file_list_deinit(&list);
        return r == 0 && next == 0 ? error_set(error, -ENOENT, "%s has no epoch %d", p->path, epoch) : r;
}

static int place_remote_append(struct journal_place *p, const void *header, size_t header_size, const void *body,
                               size_t size, struct fst_error *error)
{
        struct open_file file = OPEN_FILE_INIT;
        _cleanup_free_ char *path = place_remote_file(p, p->epoch, p->next);
        if (p->next > MAX_FILES)
                return error_set(error, -EFBIG, "%s has %d files of one driver, the most it may have", p->path,
                                 p->next);
        int r = p->fs->create(p->fs, path, &file, error);
        if (r < 0)
                return r;
        r = p->fs->write(&file, header, header_size, error);
        if (r == 0 && size)
                r = p->fs->write(&file, body, size, error);
        if (r < 0)
                p->fs->discard(&file);
        else
                r = p->fs->close(&file, error);
        p->next += r == 0;
        return r;
}

static int place_remote_put(struct journal_place *p, const char *name, const char *text, struct fst_error *error)
{
        struct open_file file = OPEN_FILE_INIT;
        _cleanup_free_ char *path = mem_printf("%s/%s", p->path, name);
        int r = p->fs->create(p->fs, path, &file, error);
        if (r < 0)
                return r;
        r = p->fs->write(&file, text, strlen(text), error);
        if (r == 0)
                return p->fs->close(&file, error);
        p->fs->discard(&file);
        return r;
}

static int place_remote_get(struct journal_place *p, const char *name, struct buf *out, struct fst_error *error)
{
        struct file_status status = {.path = mem_printf("%s/%s", p->path, name)};
        int r = place_remote_read_file(p, &status, out, error);
        file_status_deinit(&status);
        return r;
}

static int place_remote_stat(const struct journal_place *p, int epoch)
{
        struct file_status status = {0};
        _cleanup_free_ char *file = place_remote_file(p, epoch, 0);
        int r = p->fs->stat(p->fs, file, &status, NULL);
        file_status_deinit(&status);
        return r;
}

static bool place_remote_is_superseded(struct journal_place *p)
{
        return place_remote_stat(p, p->epoch + 1) == 0 || place_remote_stat(p, p->epoch) == -ENOENT;
}

static void place_remote_remove_earlier(struct journal_place *p)
{
        struct file_list list = {0};
        int epoch, number;
        place_remote_list(p, &list, NULL);
        for (size_t i = 0; i < list.len; i++)
                if (place_remote_is_file(list.data[i].path, &epoch, &number) && epoch < p->epoch)
                        p->fs->remove(p->fs, list.data[i].path, NULL);
        file_list_deinit(&list);
}

/* Without the first file of its first epoch, the journal is that of a driver that died before it began. */
static void place_remote_remove(struct journal_place *p)
{
        struct file_list list = {0};
        int epoch, number;
        place_remote_list(p, &list, NULL);
        for (size_t i = 0; i < list.len; i++)
                if (place_remote_is_file(list.data[i].path, &epoch, &number)) {
                        p->fs->remove(p->fs, list.data[i].path, NULL);
                        break;
                }
        file_list_deinit(&list);
        p->fs->remove(p->fs, p->path, NULL);
}

const struct journal_place_class journal_place_remote = {
        .make = place_remote_make,
        .find = place_remote_find,
        .newest = place_remote_newest,
        .newest_driver = place_remote_newest_driver,
        .take = place_remote_take,
        .read = place_remote_read,
        .append = place_remote_append,
        .put = place_remote_put,
        .get = place_remote_get,
        .is_superseded = place_remote_is_superseded,
        .remove_earlier = place_remote_remove_earlier,
        .remove = place_remote_remove,
};
