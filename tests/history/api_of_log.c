/*
 * Answers requests of /api/v1 from an event log, for tests/history/check_api:
 *
 *      api_of_log LOG [LINES] < requests
 *
 * With LINES, the status becomes bytes and back after so many lines, as in a history server that restarts.
 *
 * Reads a target on each line, "/api/v1/applications?limit=1", and writes a line "STATUS LENGTH TYPE" and the body.
 */
#include "ui/ui_fixture.h"

#include "events/event_files.h"
#include "io/fs/file_systems.h"
#include "status/status_snapshot.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

static void on_event(void *owner, const struct log_event *e)
{
        status_on_log_event(owner, e);
}

static VEC(struct buf) pieces;
static size_t next_piece;

static bool put_piece(void *owner, const void *piece, size_t size)
{
        struct buf copy = BUF_INIT;
        buf_append(&copy, piece, size);
        vec_push(&pieces, copy);
        return true;
}

static bool open_pieces(void *owner, uint64_t piece)
{
        next_piece = piece;
        return true;
}

static const void *get_piece(void *owner, size_t *size)
{
        if (next_piece == pieces.len)
                return NULL;
        *size = pieces.data[next_piece].len;
        return pieces.data[next_piece++].data;
}

static void close_pieces(void *owner)
{
}

static void on_lost(void *owner)
{
        fputs("tasks are lost\n", stderr);
        exit(1);
}

/* Gives the lines of a file to the reader, from one to another. */
static void read_lines(FILE *file, struct event_reader *reader, size_t from, size_t to)
{
        char *line = NULL;
        size_t size = 0, room;
        ssize_t n;
        rewind(file);
        for (size_t i = 0; i < to && (n = getline(&line, &size, file)) > 0; i++)
                for (size_t done = 0; i >= from && done < (size_t)n;) {
                        char *text = event_reader_room(reader, &room);
                        room = MIN(room, (size_t)n - done);
                        memcpy(text, line + done, room);
                        event_reader_filled(reader, room);
                        done += room;
                }
        free(line);
}

/* Reads a plain log. The status becomes bytes after @n lines, and goes on from them. */
static int read_cut_log(const char *path, size_t n, struct status **status)
{
        static const struct status_snapshot_source source = {
                .open = open_pieces, .get = get_piece, .close = close_pieces, .on_lost = on_lost};
        FILE *file = fopen(path, "re");
        if (!file)
                return -errno;
        struct event_reader *reader =
                event_reader_new(&(struct event_reader_options){.on_event = on_event, .owner = *status});
        read_lines(file, reader, 0, n);
        event_reader_free(reader);
        status_snapshot_size(*status);
        bool good = status_snapshot_write(*status, put_piece, NULL);
        struct status *back = good ? status_snapshot_read(&source) : NULL;
        if (back) {
                status_free(*status);
                *status = back;
                reader = event_reader_new(&(struct event_reader_options){.on_event = on_event, .owner = back});
                event_reader_resume(reader, back->application.spark_version);
                read_lines(file, reader, n, SIZE_MAX);
                event_reader_end(reader, true);
                event_reader_free(reader);
        }
        fclose(file);
        return back ? 0 : -EBADMSG;
}

static int read_log(const char *uri, struct status *status, struct event_log_info *log, struct fst_error *error)
{
        _cleanup_free_ char *path = NULL;
        const struct file_system *fs;
        bool ended = false;
        struct event_reader *reader =
                event_reader_new(&(struct event_reader_options){.on_event = on_event, .owner = status});
        int r = file_system_resolve(uri, &path, &fs, error);
        if (r == 0)
                r = event_log_look_up(fs, path, log, error);
        struct event_log_stream *stream = r == 0 ? event_log_stream_new(fs, reader) : NULL;
        while (r == 0 && !ended)
                r = event_log_stream_read(stream, log, 1 << 20, &ended, error);
        if (r == 0)
                event_reader_end(reader, true);
        event_log_stream_free(stream);
        event_reader_free(reader);
        return r;
}

static void set_summary(struct ui_fixture *f, const struct event_log_info *log)
{
        const struct status_application *a = &f->status->application;
        f->source.app_id = a->id;
        f->name = a->name;
        f->view.updated_ms = log->modified_ms;
        f->attempt = (struct app_attempt){.id = a->attempt_id,
                                          .start_ms = a->start_ms,
                                          .end_ms = a->has_ended ? a->end_ms : -1,
                                          .updated_ms = log->modified_ms,
                                          .duration_ms = a->has_ended ? a->end_ms - a->start_ms : 0,
                                          .user = a->user,
                                          .spark_version = a->spark_version,
                                          .completed = a->has_ended,
                                          .exit_code = a->exit_code};
}

static void api_of_log_answer(struct ui_fixture *f, char *line)
{
        struct buf path = BUF_INIT;
        line[strcspn(line, "\r\n")] = '\0';
        char *query = strchr(line, '?');
        if (query)
                *query++ = '\0';
        form_put_decoded(&path, line, strlen(line));
        ui_fixture_ask(f, buf_text(&path), query ? query : "");
        printf("%d %zu %s\n", f->answer.status, f->answer.body.len, f->answer.type);
        fwrite(buf_text(&f->answer.body), 1, f->answer.body.len, stdout);
        fflush(stdout);
        buf_deinit(&path);
}

int main(int argc, char **argv)
{
        struct fst_error error = FST_ERROR_INIT;
        struct event_log_info log = {0};
        struct ui_fixture f;
        char line[8192];
        ui_fixture_begin(&f, false);
        int r = argc == 2 || argc == 3 ? read_log(argv[1], f.status, &log, &error) : -EINVAL;
        if (r == 0 && argc == 3) {
                status_free(f.status);
                f.status = status_new(NULL);
                r = read_cut_log(argv[1], strtoul(argv[2], NULL, 10), &f.status);
                f.view.status = f.status;
        }
        if (r < 0) {
                fprintf(stderr, "api_of_log: %s\n", argc == 2 ? error_message(&error) : "name one log");
                return 1;
        }
        set_summary(&f, &log);
        while (fgets(line, sizeof(line), stdin))
                api_of_log_answer(&f, line);
        event_log_deinit(&log);
        ui_fixture_end(&f);
        error_deinit(&error);
        return 0;
}
