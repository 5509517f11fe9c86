/* See history_app.h. */
#include "history/history_app.h"

#include "base/error.h"
#include "base/log.h"
#include "base/mem.h"
#include "conf/conf.h"
#include "history/history_log_urls.h"
#include "history/history_store.h"
#include "web/acls.h"

#define LOG "ReplayListenerBus"

/* Replaces the URLs of logs by those of the pattern, if the attributes suffice. @out is empty. */
static void history_app_set_urls(struct history_app *a, const struct strmap *attributes, const struct strmap **urls,
                                 struct strmap *out)
{
        static const struct strmap none = STRMAP_INIT;
        if (!a->options->log_url || !*a->options->log_url || !(a->log.is_complete || a->options->log_url_of_incomplete))
                return;
        if (history_log_urls_apply(a->options->log_url, attributes ? attributes : &none, out))
                *urls = out;
        else if (!a->warned_of_urls)
                log_warn(LOG,
                         "%s: the URLs of logs stay: an executor lacks an attribute of "
                         "spark.history.custom.executor.log.url",
                         a->log.path);
        a->warned_of_urls |= *urls != out;
}

static void history_app_on_event(void *owner, const struct log_event *e)
{
        struct history_app *a = owner;
        struct strmap urls = STRMAP_INIT;
        struct log_event changed;
        if (e->type == EVENT_executor_added) {
                changed = *e;
                history_app_set_urls(a, changed.executor_added.attributes, &changed.executor_added.log_urls, &urls);
                e = &changed;
        } else if (e->type == EVENT_application_start && e->application_start.driver_logs) {
                changed = *e;
                history_app_set_urls(a, changed.application_start.driver_attributes,
                                     &changed.application_start.driver_logs, &urls);
                e = &changed;
        }
        status_on_log_event(a->view.status, e);
        strmap_deinit(&urls);
}

static void history_app_on_damaged(void *owner, size_t line, const char *problem)
{
        enum { MAX_REPORTED = 10 };
        struct history_app *a = owner;
        if (++a->damaged <= MAX_REPORTED)
                log_warn(LOG, "%s: line %zu is skipped: %s", a->log.path, line, problem);
        else if (a->damaged == MAX_REPORTED + 1)
                log_warn(LOG, "%s: more lines are skipped", a->log.path);
}

static void history_app_on_unknown(void *owner, size_t line, const char *class_name)
{
        struct history_app *a = owner;
        log_info(LOG, "%s: line %zu has an event of the unknown class %s; such events are skipped", a->log.path, line,
                 class_name);
}

static bool history_app_may_view(struct app_view *view, const char *user)
{
        struct history_app *a = container_of(view, struct history_app, view);
        return access_may_view(a->access, user);
}

static bool history_app_view_is_damaged(struct app_view *view)
{
        return history_app_is_damaged(container_of(view, struct history_app, view));
}

static const struct app_view_class history_app_class = {.may_view = history_app_may_view,
                                                        .is_damaged = history_app_view_is_damaged};

/* Joins lists of names, of which any may be NULL. The caller owns the result. */
static char *history_app_join(const char *a, const char *b, const char *c)
{
        return mem_printf("%s,%s,%s", a ? a : "", b ? b : "", c ? c : "");
}

/* The rights of the application's own lists and of the server's administrators. */
static int history_app_read_access(struct history_app *a, const struct fst_conf *conf, const struct history_info *info,
                                   struct fst_error *error)
{
        bool enabled = false;
        struct fst_conf own;
        int r = conf_get_bool(conf, "spark.history.ui.acls.enable", &enabled, error);
        if (r < 0)
                return r;
        conf_init(&own);
        _cleanup_free_ char *view = history_app_join(info->view_acls, info->user, NULL);
        _cleanup_free_ char *admin =
                history_app_join(info->admin_acls, conf_get_value(conf, "spark.history.ui.admin.acls"), NULL);
        _cleanup_free_ char *groups =
                history_app_join(info->admin_groups, conf_get_value(conf, "spark.history.ui.admin.acls.groups"), NULL);
        const char *mapping = conf_get_raw(conf, "spark.user.groups.mapping");
        conf_set(&own, "spark.acls.enable", enabled ? "true" : "false");
        conf_set(&own, "spark.ui.view.acls", view);
        conf_set(&own, "spark.admin.acls", admin);
        conf_set(&own, "spark.admin.acls.groups", groups);
        if (info->view_groups)
                conf_set(&own, "spark.ui.view.acls.groups", info->view_groups);
        if (mapping)
                conf_set(&own, "spark.user.groups.mapping", mapping);
        r = access_new(&own, &a->access, error);
        conf_deinit(&own);
        return r;
}

static int history_app_limit(const struct fst_conf *conf, const char *key, size_t *out, struct fst_error *error)
{
        int64_t limit = 0;
        int r = conf_get_int(conf, key, &limit, error);
        *out = (size_t)MAX(limit, (int64_t)1);
        return r;
}

static int history_app_read_limits(const struct fst_conf *conf, struct status_options *out, struct fst_error *error)
{
        int r = history_app_limit(conf, "spark.ui.retainedJobs", &out->retained_jobs, error);
        if (r == 0)
                r = history_app_limit(conf, "spark.ui.retainedStages", &out->retained_stages, error);
        if (r == 0)
                r = history_app_limit(conf, "spark.ui.retainedTasks", &out->retained_tasks, error);
        if (r == 0)
                r = history_app_limit(conf, "spark.ui.retainedDeadExecutors", &out->retained_dead_executors, error);
        return r;
}

static void history_app_begin_log(struct history_app *a)
{
        a->reader = event_reader_new(&(struct event_reader_options){.on_event = history_app_on_event,
                                                                    .on_damaged = history_app_on_damaged,
                                                                    .on_unknown = history_app_on_unknown,
                                                                    .owner = a,
                                                                    .max_line = a->options->max_line});
        a->stream = event_log_stream_new(a->fs, a->reader);
}

int history_app_new(const struct history_app_options *options, const struct file_system *fs,
                    const struct history_log *log, struct history_app **out, struct fst_error *error)
{
        const struct history_info *info = &log->info;
        struct status_options limits = {0};
        struct history_app *a = new0(struct history_app);
        int r = history_app_read_limits(options->conf, &limits, error);
        if (r == 0)
                r = history_app_read_access(a, options->conf, info, error);
        if (r < 0) {
                free(a);
                return r;
        }
        app_view_init(&a->view, &history_app_class, status_new(&limits), options->redactor);
        a->view.logs_dir = options->logs_dir;
        a->id = mem_strdup(info->app_id);
        a->attempt = mem_strdup_if(info->attempt_id);
        a->dir = log->dir;
        a->fs = fs;
        a->updated_ms = log->updated_ms;
        event_log_copy(&a->log, &log->files);
        a->options = options;
        history_app_begin_log(a);
        *out = a;
        return 0;
}

void history_app_free(struct history_app *a)
{
        if (!a)
                return;
        struct status *status = a->view.status;
        app_view_deinit(&a->view);
        event_log_stream_free(a->stream);
        event_reader_free(a->reader);
        status_free(status);
        access_free(a->access);
        event_log_deinit(&a->log);
        free(a->id);
        free(a->attempt);
        free(a->problem);
        free(a);
}

bool history_app_follows(const struct history_app *a)
{
        return a->stream != NULL;
}

/* Nothing follows: the buffers of the log are not needed any more. */
static void history_app_leave_log(struct history_app *a)
{
        event_log_stream_free(a->stream);
        event_reader_free(a->reader);
        a->stream = NULL;
        a->reader = NULL;
}

void history_app_restart(struct history_app *a, const struct event_log_info *log)
{
        const struct status_options limits = a->view.status->options;
        history_app_leave_log(a);
        history_app_set_log(a, log, a->updated_ms);
        app_view_write(&a->view);
        status_free(a->view.status);
        a->view.status = status_new(&limits);
        app_view_written(&a->view);
        a->damaged = 0;
        a->stored_bytes = 0;
        a->is_part = false;
        history_app_begin_log(a);
}

static bool history_app_open_stored(void *owner, uint64_t piece)
{
        struct history_app *a = owner;
        return history_store_open_snapshot(a->store, &a->log, a->is_part ? &a->position : NULL, piece);
}

static const void *history_app_get_stored(void *owner, size_t *size)
{
        struct history_app *a = owner;
        return history_store_get_piece(a->store, size);
}

static void history_app_close_stored(void *owner)
{
        struct history_app *a = owner;
        history_store_leave_snapshot(a->store);
}

static void history_app_on_lost(void *owner)
{
        struct history_app *a = owner;
        if (atomic_exchange(&a->has_lost_tasks, true))
                return;
        log_warn(LOG, "%s: the store has lost its tasks: the log is read again", a->log.path);
        history_store_forget_snapshot(a->store, a->log.path);
}

bool history_app_is_damaged(const struct history_app *a)
{
        return atomic_load(&a->has_lost_tasks);
}

/* Moves to where the stored status of a log that grows ends. Returns false if there is none. */
static bool history_app_resume_log(struct history_app *a)
{
        a->is_part = !a->log.is_complete;
        return !a->is_part || (history_store_find_position(a->store, &a->log, &a->position) &&
                               event_log_stream_resume(a->stream, &a->log, &a->position));
}

bool history_app_restore(struct history_app *a, struct history_store *store)
{
        a->store = store;
        a->source = (struct status_snapshot_source){.open = history_app_open_stored,
                                                    .get = history_app_get_stored,
                                                    .close = history_app_close_stored,
                                                    .on_lost = history_app_on_lost,
                                                    .owner = a};
        struct status *restored = history_app_resume_log(a) ? status_snapshot_read(&a->source) : NULL;
        if (!restored) {
                a->is_part = false;
                history_app_leave_log(a);
                history_app_begin_log(a);
                return false;
        }
        app_view_write(&a->view);
        status_free(a->view.status);
        a->view.status = restored;
        app_view_written(&a->view);
        if (a->is_part) {
                event_reader_resume(a->reader, restored->application.spark_version);
                log_info(LOG, "%s: the store has what lies before byte %llu of the text of %s", a->log.path,
                         (unsigned long long)a->position.text, a->position.number ? "its last file" : "the log");
        } else {
                a->is_restored = true;
                history_app_leave_log(a);
        }
        return true;
}

void history_app_store(struct history_app *a, struct history_store *store, uint64_t least)
{
        struct event_log_position position;
        const bool is_part = a->stream != NULL;
        const uint64_t read = is_part ? event_reader_counts(a->reader).bytes : 0;
        if (a->is_restored || history_app_is_damaged(a) ||
            (is_part && (read - a->stored_bytes < least || !event_log_stream_position(a->stream, &position))))
                return;
        app_view_write(&a->view);
        uint64_t bytes = status_snapshot_size(a->view.status);
        app_view_written(&a->view);
        a->stored_bytes = read;
        /* Readers go on meanwhile: only this thread changes the status. */
        if (history_store_begin_snapshot(store, &a->log, is_part ? &position : NULL, bytes))
                history_store_end_snapshot(store,
                                           status_snapshot_write(a->view.status, history_store_put_piece, store));
}

/* Holds the view's lock for a piece of the text at a time, so that pages of a growing application wait for little. */
int history_app_step(struct history_app *a, size_t budget, bool *done, struct fst_error *error)
{
        enum { PIECE = 1 << 20 };
        int r = 0;
        *done = false;
        if (a->is_part) { /* what is stored changes when the status does */
                app_view_write(&a->view);
                status_snapshot_load(a->view.status);
                app_view_written(&a->view);
                a->is_part = false;
        }
        for (size_t read = 0; r == 0 && read < budget && !*done; read += PIECE) {
                app_view_write(&a->view);
                a->view.updated_ms = a->log.is_complete ? 0 : a->updated_ms;
                r = event_log_stream_read(a->stream, &a->log, PIECE, done, error);
                if (r == 0 && *done && a->log.is_complete)
                        event_reader_end(a->reader, false);
                app_view_written(&a->view);
        }
        if (*done && a->log.is_complete)
                history_app_leave_log(a);
        return r;
}

bool history_app_is_current(const struct history_app *a, const struct event_log_info *log)
{
        return a->log.size == log->size && a->log.is_complete == log->is_complete &&
               strcmp(a->log.path, log->path) == 0;
}

void history_app_set_log(struct history_app *a, const struct event_log_info *log, int64_t updated_ms)
{
        a->updated_ms = updated_ms;
        event_log_deinit(&a->log);
        event_log_copy(&a->log, log);
}
