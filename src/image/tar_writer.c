/* See tar_writer.h. */
#include "image/tar_writer.h"

#include "base/error.h"
#include "io/codec/archive_library.h"

#include <string.h>
#include <sys/stat.h>

static la_ssize_t tar_writer_take(struct archive *tar, void *context, const void *data, size_t n)
{
        struct tar_writer *w = context;
        buf_append(w->out, data, n);
        return (la_ssize_t)n;
}

static int tar_writer_failed(struct tar_writer *w, const char *name, struct fst_error *error)
{
        return error_set(error, -EIO, "cannot write %s into a tar: %s", name, archive_library_why(w->lib, w->tar));
}

int tar_writer_init(struct tar_writer *w, struct buf *out, struct fst_error *error)
{
        *w = (struct tar_writer){.out = out};
        int r = archive_library_load(&w->lib, error);
        if (r)
                return r;
        w->tar = w->lib->archive_write_new();
        if (!w->tar)
                return error_set(error, -ENOMEM, "not enough memory for a tar");
        if (w->lib->archive_write_set_format_ustar(w->tar) != ARCHIVE_OK ||
            w->lib->archive_write_open(w->tar, w, NULL, tar_writer_take, NULL) != ARCHIVE_OK) {
                r = tar_writer_failed(w, "its head", error);
                tar_writer_deinit(w);
        }
        return r;
}

void tar_writer_deinit(struct tar_writer *w)
{
        if (w->tar)
                w->lib->archive_write_free(w->tar);
        w->tar = NULL;
}

int tar_writer_add(struct tar_writer *w, const char *name, mode_t mode, int user, const void *data, size_t n,
                   struct fst_error *error)
{
        struct archive_entry *entry = w->lib->archive_entry_new();
        if (!entry)
                return error_set(error, -ENOMEM, "not enough memory for a tar");
        struct stat st = {
                .st_mode = mode, .st_size = S_ISREG(mode) ? (off_t)n : 0, .st_uid = (uid_t)user, .st_nlink = 1};
        w->lib->archive_entry_copy_stat(entry, &st);
        w->lib->archive_entry_set_pathname(entry, name);
        if (S_ISLNK(mode))
                w->lib->archive_entry_set_symlink(entry, data);
        int r = 0;
        if (w->lib->archive_write_header(w->tar, entry) != ARCHIVE_OK)
                r = tar_writer_failed(w, name, error);
        else if (S_ISREG(mode) && n > 0 && w->lib->archive_write_data(w->tar, data, n) != (la_ssize_t)n)
                r = tar_writer_failed(w, name, error);
        w->lib->archive_entry_free(entry);
        return r;
}

int tar_writer_end(struct tar_writer *w, struct fst_error *error)
{
        return w->lib->archive_write_close(w->tar) == ARCHIVE_OK ? 0 : tar_writer_failed(w, "its end", error);
}
