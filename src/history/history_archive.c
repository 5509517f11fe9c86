/* Event logs as a zip archive. One file is open at a time; the disk is read when the client wants more. */
#include "history/history_archive.h"

#include "base/error.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/vec.h"
#include "io/codec/zip_file.h"
#include "io/fs/file_systems.h"
#include "io/fs/path.h"

struct archive_file {
        const struct file_system *fs;
        char *path; /* NULL: a directory */
        char *name; /* in the archive */
};

struct history_archive {
        struct ui_stream stream;
        VEC(struct archive_file) files;
        size_t at; /* the file that is read */
        struct open_file file;
        bool is_open;
        uint64_t offset; /* in the file */
        struct zip_writer zip;
        struct buf *out; /* of the present piece */
};

static int history_archive_sink(void *context, const void *data, size_t n, struct fst_error *error)
{
        struct history_archive *a = context;
        buf_append(a->out, data, n);
        return 0;
}

/* Reads on, or goes to the next file at the end of one. */
static int history_archive_step(struct history_archive *a, struct fst_error *error)
{
        const struct archive_file *f = &a->files.data[a->at];
        char data[UI_STREAM_PIECE / 2];
        if (!f->path) {
                a->at++;
                return zip_writer_add(&a->zip, f->name, "", 0, error);
        }
        if (!a->is_open) {
                int r = f->fs->open(f->fs, f->path, &a->file, error);
                if (r < 0)
                        return r;
                a->is_open = true;
                a->offset = 0;
                return zip_writer_begin(&a->zip, f->name, error);
        }
        ssize_t n = f->fs->read_at(&a->file, data, sizeof(data), a->offset, error);
        if (n < 0)
                return (int)n;
        a->offset += (uint64_t)n;
        if (n > 0)
                return zip_writer_put(&a->zip, data, (size_t)n, error);
        f->fs->close(&a->file, NULL);
        a->is_open = false;
        a->at++;
        return zip_writer_end(&a->zip, error);
}

static int history_archive_next(struct ui_stream *stream, struct buf *out)
{
        struct history_archive *a = container_of(stream, struct history_archive, stream);
        struct fst_error error = FST_ERROR_INIT;
        int r = 0;
        a->out = out;
        while (r == 0 && a->at < a->files.len && out->len < UI_STREAM_PIECE)
                r = history_archive_step(a, &error);
        bool is_complete = a->at == a->files.len;
        if (r == 0 && is_complete)
                r = zip_writer_finish(&a->zip, &error);
        if (r < 0)
                log_warn("HistoryServer", "an archive of event logs is incomplete: %s", error_message(&error));
        error_deinit(&error);
        return r < 0 ? r : !is_complete;
}

static void history_archive_free(struct ui_stream *stream)
{
        struct history_archive *a = container_of(stream, struct history_archive, stream);
        if (a->is_open)
                a->files.data[a->at].fs->close(&a->file, NULL);
        for (size_t i = 0; i < a->files.len; i++) {
                free(a->files.data[i].path);
                free(a->files.data[i].name);
        }
        vec_deinit(&a->files);
        zip_writer_deinit(&a->zip);
        free(a);
}

struct history_archive *history_archive_new(void)
{
        struct history_archive *a = new0(struct history_archive);
        a->stream = (struct ui_stream){.next = history_archive_next, .free = history_archive_free};
        a->file = OPEN_FILE_INIT;
        zip_writer_init(&a->zip, history_archive_sink, a);
        return a;
}

int history_archive_add(struct history_archive *a, const struct file_system *fs, const struct event_log_info *log,
                        struct fst_error *error)
{
        struct file_list list = {0};
        const char *name = path_name(log->path);
        if (!log->is_rolling) {
                vec_push(&a->files, (struct archive_file){fs, mem_strdup(log->path), mem_strdup(name)});
                return 0;
        }
        vec_push(&a->files, (struct archive_file){fs, NULL, mem_printf("%s/", name)});
        int r = fs->list(fs, log->path, &list, error);
        for (size_t i = 0; r == 0 && i < list.len; i++)
                if (!list.data[i].directory)
                        vec_push(&a->files,
                                 (struct archive_file){fs, mem_strdup(list.data[i].path),
                                                       mem_printf("%s/%s", name, path_name(list.data[i].path))});
        file_list_deinit(&list);
        return r;
}

struct ui_stream *history_archive_stream(struct history_archive *a)
{
        return &a->stream;
}
