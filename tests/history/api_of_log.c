/*
 * Answers requests of /api/v1 from an event log, for tests/history/check_api:
 *
 *      api_of_log LOG < requests
 *
 * Reads a target on each line, "/api/v1/applications?limit=1", and writes a line "STATUS LENGTH TYPE" and the body.
 */
#include "ui/ui_fixture.h"

#include "events/event_files.h"
#include "io/fs/file_systems.h"

#include <stdio.h>

static void on_event(void *owner, const struct log_event *e)
{
        status_on_log_event(owner, e);
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
        int r = argc == 2 ? read_log(argv[1], f.status, &log, &error) : -EINVAL;
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
