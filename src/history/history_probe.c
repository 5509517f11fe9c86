/* See history_probe.h. */
#include "history/history_probe.h"

#include "base/mem.h"
#include "base/strmap.h"
#include "events/event_reader.h"

struct history_probe {
        const struct file_system *fs;
        const struct history_probe_options *options;
        struct event_log_info log;
        struct event_log_stream *stream;
        struct event_reader *reader;
        struct history_info info;
        bool has_start, has_environment;
        bool is_tail;  /* the stream is at the end of the log */
        bool is_whole; /* the whole log is read: its tail had no end */
};

static void history_probe_set(char **to, const char *text)
{
        free(*to);
        *to = text && *text ? mem_strdup(text) : NULL;
}

static void history_probe_set_acls(struct history_info *info, const struct strmap *properties)
{
        if (!properties)
                return;
        history_probe_set(&info->view_acls, strmap_get(properties, "spark.ui.view.acls"));
        history_probe_set(&info->view_groups, strmap_get(properties, "spark.ui.view.acls.groups"));
        history_probe_set(&info->admin_acls, strmap_get(properties, "spark.admin.acls"));
        history_probe_set(&info->admin_groups, strmap_get(properties, "spark.admin.acls.groups"));
}

static void history_probe_on_event(void *owner, const struct log_event *e)
{
        struct history_probe *p = owner;
        struct history_info *info = &p->info;
        switch (e->type) {
        case EVENT_log_start:
                history_probe_set(&info->spark_version, e->log_start.spark_version);
                break;
        case EVENT_application_start:
                /* Old logs have no id: the file's name is in its place, as in Spark. */
                history_probe_set(&info->app_id, e->application_start.id ? e->application_start.id : p->log.name);
                history_probe_set(&info->app_name, e->application_start.name);
                history_probe_set(&info->user, e->application_start.user);
                history_probe_set(&info->attempt_id, e->application_start.attempt_id);
                info->start_ms = e->application_start.ms;
                p->has_start = info->app_id != NULL;
                break;
        case EVENT_environment_update:
                history_probe_set_acls(info, e->environment_update.spark_properties);
                p->has_environment = true;
                break;
        case EVENT_application_end:
                info->has_ended = true;
                info->end_ms = e->application_end.ms;
                info->exit_code = e->application_end.exit_code;
                break;
        default:
                break;
        }
}

static void history_probe_begin(struct history_probe *p)
{
        event_log_stream_free(p->stream);
        event_reader_free(p->reader);
        p->reader = event_reader_new(&(struct event_reader_options){
                .on_event = history_probe_on_event, .owner = p, .max_line = p->options->max_line});
        p->stream = event_log_stream_new(p->fs, p->reader);
}

struct history_probe *history_probe_new(const struct file_system *fs, const struct event_log_info *log,
                                        const struct history_probe_options *options)
{
        struct history_probe *p = new0(struct history_probe);
        p->fs = fs;
        p->options = options;
        event_log_copy(&p->log, log);
        p->info.exit_code = -1;
        history_probe_begin(p);
        return p;
}

void history_probe_free(struct history_probe *p)
{
        if (!p)
                return;
        event_log_stream_free(p->stream);
        event_reader_free(p->reader);
        event_log_deinit(&p->log);
        history_info_deinit(&p->info);
        free(p);
}

/* After the head: goes to the end of the log, or decides that it is not needed. Returns true if all is known. */
static bool history_probe_leave_head(struct history_probe *p)
{
        if (!p->has_start || !p->has_environment || p->is_tail || p->is_whole)
                return false;
        if (!p->log.is_complete && p->options->is_fast_in_progress)
                return true;
        if (!p->options->tail_bytes) {
                p->is_whole = true;
                return false;
        }
        history_probe_begin(p);
        p->is_tail = event_log_stream_seek_tail(p->stream, &p->log, p->options->tail_bytes);
        p->is_whole = !p->is_tail; /* begins anew, which costs as much as to go on */
        return false;
}

int history_probe_step(struct history_probe *p, size_t budget, bool *done, struct fst_error *error)
{
        enum { PIECE = 64 << 10 };
        *done = false;
        for (size_t read = 0; read < budget && !*done; read += PIECE) {
                bool ended;
                int r = event_log_stream_read(p->stream, &p->log, p->has_start && p->has_environment ? budget : PIECE,
                                              &ended, error);
                if (r < 0)
                        return r;
                if (ended)
                        event_reader_end(p->reader, !p->log.is_complete);
                if (p->info.has_ended && p->has_start) {
                        *done = true;
                } else if (ended && p->is_tail && p->log.is_complete && p->has_start) {
                        p->is_tail = false;
                        p->is_whole = true;
                        history_probe_begin(p);
                } else if (ended) {
                        *done = true;
                } else {
                        *done = history_probe_leave_head(p);
                }
                if (p->has_start && p->has_environment)
                        read = budget;
        }
        return 0;
}

bool history_probe_take(struct history_probe *p, struct history_info *out)
{
        if (!p->has_start)
                return false;
        *out = p->info;
        p->info = (struct history_info){0};
        return true;
}
