/* An event log as a status core; see log_source.h. */
#include "cmd/log_source.h"

#include "base/buf.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/string_prefix.h"
#include "events/event_files.h"
#include "events/event_reader.h"
#include "io/fs/file_systems.h"

#include <inttypes.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_REPORTED_LINES = 10, MAX_LISTED_LOGS = 20 };

static void log_source_report(const struct log_source *source, size_t line, const char *problem)
{
        fprintf(stderr, "Warning: %s: line %zu is skipped: %s\n", source->path, line, problem);
}

/* Reports the damaged lines before the first event: the file is an event log. */
static void log_source_report_early(struct log_source *source)
{
        for (size_t i = 0; i < source->early.len; i++) {
                log_source_report(source, source->early.data[i].line, source->early.data[i].problem);
                free(source->early.data[i].problem);
        }
        source->early.len = 0;
}

static void log_source_on_event(void *owner, const struct log_event *e)
{
        struct log_source *source = owner;
        source->has_events = true;
        log_source_report_early(source);
        status_on_log_event(source->status, e);
}

static void log_source_on_damaged(void *owner, size_t line, const char *problem)
{
        struct log_source *source = owner;
        if (++source->n_reported > MAX_REPORTED_LINES + 1)
                return;
        if (source->n_reported == MAX_REPORTED_LINES + 1 && source->has_events)
                fprintf(stderr, "Warning: %s: more lines are skipped\n", source->path);
        else if (source->has_events)
                log_source_report(source, line, problem);
        else if (source->n_reported <= MAX_REPORTED_LINES)
                vec_push(&source->early, ((struct log_source_line){line, mem_strdup(problem)}));
}

/* Returns whether the text that was read has nothing of an event log. */
static bool log_source_is_foreign(const struct log_source *source)
{
        const struct event_reader_counts counts = event_reader_counts(source->reader);
        return counts.damaged && !counts.events && !counts.unknown && !counts.ignored;
}

static int log_source_refuse(const struct log_source *source, struct fst_error *error)
{
        if (source->early.len)
                return error_set(error, -EINVAL,
                                 "'%s' has no event: it is not an event log of Spark (line %zu: %s). Name a file of "
                                 "spark.eventLog.dir",
                                 source->path, source->early.data[0].line, source->early.data[0].problem);
        return error_set(error, -EINVAL,
                         "'%s' has no event: it is not an event log of Spark. Name a file of spark.eventLog.dir",
                         source->path);
}

static int log_source_compare_age(const void *x, const void *y)
{
        int64_t a = ((const struct event_log_info *)x)->modified_ms,
                b = ((const struct event_log_info *)y)->modified_ms;
        return (a < b) - (a > b);
}

/* The path is a directory, but not that of a rolling log: names the logs in it. */
static int log_source_list(const struct log_source *source, const struct file_system *fs, const char *path,
                           const char *command, struct fst_error *error)
{
        struct event_log_list list = {0};
        struct buf text = BUF_INIT;
        size_t n = strlen(source->path);
        if (event_log_list_directory(fs, path, &list, NULL, NULL) < 0 || !list.len) {
                event_log_list_deinit(&list);
                return -ENOENT;
        }
        while (n > 1 && source->path[n - 1] == '/')
                n--;
        qsort(list.data, list.len, sizeof(*list.data), log_source_compare_age);
        buf_printf(&text, "'%s' is a directory of %zu event log%s: name one of them", source->path, list.len,
                   list.len == 1 ? "" : "s");
        for (size_t i = 0; i < MIN(list.len, (size_t)MAX_LISTED_LOGS); i++)
                buf_printf(&text, "\n  %s%s%.*s/%s%s", command ? command : "", command ? " " : "", (int)n, source->path,
                           text_base_name(list.data[i].path), list.data[i].is_complete ? "" : "  (not complete)");
        if (list.len > MAX_LISTED_LOGS)
                buf_printf(&text, "\n  and %zu older ones", list.len - MAX_LISTED_LOGS);
        int r = error_set(error, -EISDIR, "%s", buf_text(&text));
        buf_deinit(&text);
        event_log_list_deinit(&list);
        return r;
}

static int log_source_read(struct log_source *source, const char *command, struct fst_error *error)
{
        enum { PIECE = 1 << 20 };
        _cleanup_free_ char *path = NULL;
        const struct file_system *fs;
        struct event_log_info log;
        bool ended = false;
        int r = file_system_resolve(source->path, &path, &fs, error);
        if (r == 0)
                r = event_log_look_up(fs, path, &log, error);
        if (r == -ENOENT && log_source_list(source, fs, path, command, error) == -EISDIR)
                r = -EISDIR;
        if (r < 0)
                return r;
        struct event_log_stream *stream = event_log_stream_new(fs, source->reader);
        while (r == 0 && !ended && !log_source_is_foreign(source))
                r = event_log_stream_read(stream, &log, PIECE, &ended, error);
        event_log_stream_free(stream);
        event_log_deinit(&log);
        event_reader_end(source->reader, true);
        if (r == 0 && !event_reader_counts(source->reader).events)
                r = log_source_refuse(source, error);
        return r;
}

void log_source_deinit(struct log_source *source)
{
        for (size_t i = 0; i < source->early.len; i++)
                free(source->early.data[i].problem);
        vec_deinit(&source->early);
        event_reader_free(source->reader);
        status_free(source->status);
}

int log_source_init(struct log_source *source, const char *path, const char *command)
{
        struct fst_error error = FST_ERROR_INIT;
        *source = (struct log_source){.path = path, .status = status_new(NULL)};
        source->reader = event_reader_new(&(struct event_reader_options){
                .on_event = log_source_on_event, .on_damaged = log_source_on_damaged, .owner = source});
        int r = log_source_read(source, command, &error);
        if (r < 0) {
                fprintf(stderr, "Error: %s\n", error_message(&error));
                log_source_deinit(source);
        }
        error_deinit(&error);
        return r;
}

void log_source_warn(const struct log_source *source)
{
        const struct status_totals *t = &source->status->totals;
        if (t->lost_ends || t->unknown_ends)
                fprintf(stderr,
                        "Warning: %s: events are missing: %" PRId64 " tasks have no end, %" PRId64 " no start\n",
                        source->path, t->lost_ends, t->unknown_ends);
}
