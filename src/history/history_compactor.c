/* See history_compactor.h. The files are read twice: to learn what is live, and to write what is kept. */
#include "history/history_compactor.h"

#include "base/buf.h"
#include "base/error.h"
#include "base/log.h"
#include "base/mem.h"
#include "events/event_filter.h"
#include "io/codec/codec.h"
#include "io/fs/file_system.h"
#include "io/fs/path.h"

#include <string.h>

#define LOG "EventLogFileCompactor"

enum { WRITE_PIECE = 1 << 20, PERMISSION = 0660 };

struct history_compactor {
        const struct history_compactor_options *options;
        const struct file_system *fs;
        struct event_log_info log; /* the files to compact */
        struct event_filter *filter;
        bool has_event, keeps; /* the present line has an event; it is kept */

        /* The file that is written. */
        char *path, *hidden_path;
        struct open_file file;
        struct encoder *encoder; /* NULL: plain */
        struct buf text;
        int status; /* of writing */
        struct fst_error *error;
        uint64_t n_kept, n_dropped;
};

bool history_compactor_wants(const struct history_compactor_options *options, const struct event_log_info *log)
{
        size_t compacted = log->files.len && log->files.data[0].is_compacted;
        return options->max_files && log->is_rolling && log->files.len - compacted > options->max_files;
}

/* ------------------------------------------------------------------------------------------------- reading */

static void history_compactor_learn(void *owner, const struct log_event *e)
{
        struct history_compactor *c = owner;
        c->has_event = true;
        event_filter_learn(c->filter, e);
}

static void history_compactor_learn_line(void *owner, const char *line, size_t length)
{
        struct history_compactor *c = owner;
        if (!c->has_event)
                event_filter_learn_line(c->filter, line, length);
        c->has_event = false;
}

static void history_compactor_choose(void *owner, const struct log_event *e)
{
        struct history_compactor *c = owner;
        c->has_event = true;
        c->keeps = event_filter_keeps(c->filter, e);
}

static void history_compactor_flush(struct history_compactor *c)
{
        if (c->status == 0 && c->text.len)
                c->status = c->encoder ? encoder_write(c->encoder, c->text.data, c->text.len, c->error)
                                       : c->fs->write(&c->file, c->text.data, c->text.len, c->error);
        buf_reset(&c->text);
}

static void history_compactor_write_line(void *owner, const char *line, size_t length)
{
        struct history_compactor *c = owner;
        bool keeps = c->has_event ? c->keeps : event_filter_keeps_line(c->filter, line, length);
        c->has_event = false;
        c->n_kept += keeps;
        c->n_dropped += !keeps;
        if (!keeps)
                return;
        buf_append(&c->text, line, length);
        buf_putc(&c->text, '\n');
        if (c->text.len >= WRITE_PIECE)
                history_compactor_flush(c);
}

/* Reads all lines of the files. */
static int history_compactor_read(struct history_compactor *c, void (*on_event)(void *owner, const struct log_event *e),
                                  void (*on_line)(void *owner, const char *line, size_t length))
{
        enum { PIECE = 4 << 20 };
        struct event_reader *reader = event_reader_new(&(struct event_reader_options){
                .on_event = on_event, .on_line = on_line, .owner = c, .max_line = c->options->max_line});
        struct event_log_stream *stream = event_log_stream_new(c->fs, reader);
        bool ended = false;
        int r = 0;
        c->has_event = false;
        while (r == 0 && c->status == 0 && !ended)
                r = event_log_stream_read(stream, &c->log, PIECE, &ended, c->error);
        if (r == 0 && c->status == 0)
                event_reader_end(reader, false);
        event_log_stream_free(stream);
        event_reader_free(reader);
        return r ? r : c->status;
}

/* ------------------------------------------------------------------------------------------------- writing */

/* The names of the new file: that of the last replaced file, with a codec that can be written, and ".compact". */
static void history_compactor_name(struct history_compactor *c)
{
        const char *last = c->log.files.data[c->log.files.len - 1].path;
        enum event_log_codec codec = event_log_codec_of(last);
        size_t n = strlen(last), compacted = strlen(EVENT_LOG_COMPACTED);
        if (n > compacted && strcmp(last + n - compacted, EVENT_LOG_COMPACTED) == 0)
                n -= compacted;
        if (codec != EVENT_LOG_PLAIN && codec != EVENT_LOG_ZSTD)
                while (last[--n] != '.')
                        ;
        c->path = mem_printf("%.*s%s" EVENT_LOG_COMPACTED, (int)n, last,
                             codec != EVENT_LOG_PLAIN && codec != EVENT_LOG_ZSTD ? ".zstd" : "");
        size_t dir = (size_t)(path_name(c->path) - c->path);
        c->hidden_path = mem_printf("%.*s.%s", (int)dir, c->path, c->path + dir);
        if (codec != EVENT_LOG_PLAIN)
                c->encoder = encoder_new();
}

static int history_compactor_rewrite(struct history_compactor *c)
{
        struct fst_error *error = c->error;
        history_compactor_name(c);
        int r = c->fs->create(c->fs, c->hidden_path, &c->file, error);
        if (r < 0)
                return r;
        if (c->encoder)
                r = encoder_start(c->encoder, CODEC_ZSTD, &c->file, error);
        if (r == 0)
                r = history_compactor_read(c, history_compactor_choose, history_compactor_write_line);
        history_compactor_flush(c);
        if (r == 0)
                r = c->status;
        if (r == 0 && c->encoder)
                r = encoder_end(c->encoder, error);
        if (r == 0)
                r = c->fs->close(&c->file, error);
        else
                c->fs->discard(&c->file);
        if (r == 0 && c->fs->set_permission)
                r = c->fs->set_permission(c->fs, c->hidden_path, PERMISSION, error);
        if (r == 0)
                r = c->fs->rename(c->fs, c->hidden_path, c->path, error);
        if (r < 0)
                c->fs->remove(c->fs, c->hidden_path, NULL);
        return r;
}

/* The files that remain are replaced all the same: readers take the compacted one. */
static void history_compactor_remove_files(struct history_compactor *c)
{
        for (size_t i = 0; i < c->log.files.len; i++) {
                struct fst_error error = FST_ERROR_INIT;
                if (strcmp(c->log.files.data[i].path, c->path) != 0 &&
                    c->fs->remove(c->fs, c->log.files.data[i].path, &error) < 0)
                        log_warn(LOG, "Failed to remove %s: %s", c->log.files.data[i].path, error_message(&error));
                error_deinit(&error);
        }
}

int history_compactor_run(const struct history_compactor_options *options, const struct file_system *fs,
                          const struct event_log_info *log, enum history_compaction *result, struct fst_error *error)
{
        if (!history_compactor_wants(options, log)) {
                *result = HISTORY_COMPACTION_FEW_FILES;
                return 0;
        }
        struct history_compactor c = {.options = options, .fs = fs, .file = OPEN_FILE_INIT, .error = error};
        event_log_copy(&c.log, log);
        c.log.is_complete = true; /* these files are */
        for (size_t i = 0; i < options->max_files; i++)
                free(c.log.files.data[--c.log.files.len].path);
        c.filter = event_filter_new();
        int r = history_compactor_read(&c, history_compactor_learn, history_compactor_learn_line);
        event_filter_freeze(c.filter);
        double score = event_filter_score(c.filter);
        if (r == 0 && score < options->threshold) {
                *result = HISTORY_COMPACTION_LOW_SCORE;
                log_debug(LOG, "%s: the score of compaction is %.2f, below %.2f", log->path, score, options->threshold);
        } else if (r == 0 && (r = history_compactor_rewrite(&c)) == 0) {
                *result = HISTORY_COMPACTION_DONE;
                log_info(LOG, "compacted %zu files of %s: %llu events are kept, %llu dropped", c.log.files.len,
                         log->path, (unsigned long long)c.n_kept, (unsigned long long)c.n_dropped);
                history_compactor_remove_files(&c);
        }
        event_filter_free(c.filter);
        encoder_free(c.encoder);
        buf_deinit(&c.text);
        free(c.path);
        free(c.hidden_path);
        event_log_deinit(&c.log);
        return r;
}
