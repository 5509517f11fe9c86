/*
 * The jobs of a history server: heads and ends of logs to read, and applications to load. Its threads take them in
 * turn, a slice of a log at a time. See history_server_internal.h.
 */
#include "history/history_server_internal.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "base/mem.h"
#include "history/history_probe.h"
#include "history/history_store.h"
#include "io/fs/file_systems.h"
#include "io/fs/path.h"
#include "status/status_snapshot.h"

#include <sys/eventfd.h>

enum {
        SLICE = 16 << 20, /* bytes of text that a thread reads before it looks for another log */
};

/* ------------------------------------------------------------------------------------------------- queues */

static void history_queue_push(struct history_server *s, struct history_queue *queue, struct history_job *job)
{
        job->next = NULL;
        *queue->end = job;
        queue->end = &job->next;
        pthread_cond_signal(queue == &s->compactions ? &s->compact : &s->work);
}

static struct history_job *history_queue_pop(struct history_queue *queue)
{
        struct history_job *job = queue->first;
        if (!job)
                return NULL;
        queue->first = job->next;
        if (!job->next)
                queue->end = &queue->first;
        return job;
}

static void history_job_free(struct history_job *job)
{
        history_probe_free(job->probe);
        free(job->path);
        free(job);
}

void history_server_queue_app(struct history_server *s, struct history_app *app)
{
        struct history_job *job = new0(struct history_job);
        job->app = app;
        app->is_queued = true;
        history_queue_push(s, &s->loads, job);
}

void history_server_free_jobs(struct history_server *s)
{
        for (struct history_job *job; (job = history_queue_pop(&s->probes)) || (job = history_queue_pop(&s->loads)) ||
                                      (job = history_queue_pop(&s->compactions));)
                history_job_free(job);
}

/* ------------------------------------------------------------------------------------------------- jobs */

/* Starts reading the head of a log. */
static void history_server_probe(struct history_server *s, const char *path)
{
        const struct history_log *log = history_listing_find(&s->listing, path);
        if (!log)
                return;
        struct history_job *job = new0(struct history_job);
        job->path = mem_strdup(path);
        job->probe = history_probe_new(s->dirs.data[log->dir].fs, &log->files, &s->settings.probe);
        history_queue_push(s, &s->probes, job);
}

void history_server_act(struct history_server *s)
{
        struct history_action action;
        while (history_listing_next(&s->listing, &action)) {
                const struct history_log *log = history_listing_find(&s->listing, action.path);
                switch (action.type) {
                case HISTORY_READ:
                        history_server_probe(s, action.path);
                        break;
                case HISTORY_GREW:
                        if (log && log->has_info)
                                history_server_follow(s, log);
                        break;
                case HISTORY_COMPACT: {
                        struct history_job *job = new0(struct history_job);
                        job->path = mem_strdup(action.path);
                        job->dir = action.dir;
                        history_queue_push(s, &s->compactions, job);
                        break;
                }
                case HISTORY_FORGET: {
                        _cleanup_free_ char *path = mem_strdup(action.path);
                        pthread_mutex_unlock(&s->lock);
                        if (s->store)
                                history_store_forget(s->store, path);
                        pthread_mutex_lock(&s->lock);
                        break;
                }
                case HISTORY_DELETE: {
                        _cleanup_free_ char *path = mem_strdup(action.path);
                        const struct file_system *fs = s->dirs.data[action.dir].fs;
                        struct fst_error error = FST_ERROR_INIT;
                        pthread_mutex_unlock(&s->lock);
                        log_info(HISTORY_LOG, "Deleting expired event log for %s", path_name(path));
                        if (fs->remove(fs, path, &error) < 0)
                                log_warn(HISTORY_LOG, "%s", error_message(&error));
                        error_deinit(&error);
                        if (s->store)
                                history_store_forget(s->store, path);
                        pthread_mutex_lock(&s->lock);
                        break;
                }
                }
        }
}

/* Stores what the list shows of a log. The caller holds the lock, which is released meanwhile. */
static void history_server_store_log(struct history_server *s, const struct history_log *log)
{
        struct event_log_info files;
        struct history_info info;
        if (!s->store)
                return;
        event_log_copy(&files, &log->files);
        history_info_copy(&info, &log->info);
        int64_t updated_ms = log->updated_ms;
        const char *dir = s->dirs.data[log->dir].path;
        pthread_mutex_unlock(&s->lock);
        history_store_put_log(s->store, dir, &files, &info, updated_ms);
        event_log_deinit(&files);
        history_info_deinit(&info);
        pthread_mutex_lock(&s->lock);
}

/* A log of the store, before the first scan. One in a directory that is not configured any more is forgotten. */
static void history_server_on_stored_log(void *owner, const char *dir, struct event_log_info *files,
                                         struct history_info *info, int64_t updated_ms)
{
        struct history_server *s = owner;
        for (size_t i = 0; i < s->dirs.len; i++)
                if (dir && info->app_id && files->path && strcmp(s->dirs.data[i].path, dir) == 0) {
                        history_listing_restore(&s->listing, (int)i, files, info, updated_ms);
                        return;
                }
        event_log_deinit(files);
        history_info_deinit(info);
}

void history_server_list_store(struct history_server *s)
{
        if (s->store)
                history_store_each(s->store, history_server_on_stored_log, s);
}

/* A log that grows is stored again and again: writing its status takes little time beside reading the log. */
static uint64_t history_app_store_step(const struct history_app *app)
{
        enum { MIN_STEP = 64 << 20 };
        return MAX((uint64_t)MIN_STEP, 4 * (uint64_t)app->bytes);
}

static void history_server_run_probe(struct history_server *s, struct history_job *job)
{
        struct fst_error error = FST_ERROR_INIT;
        struct history_info info;
        bool done = false;
        pthread_mutex_unlock(&s->lock);
        int r = history_probe_step(job->probe, SLICE, &done, &error);
        if (r < 0)
                log_warn(HISTORY_LOG, "Error while reading a new log: %s", error_message(&error));
        error_deinit(&error);
        bool has_app = r == 0 && done && history_probe_take(job->probe, &info);
        pthread_mutex_lock(&s->lock);
        if (r == 0 && !done) {
                history_queue_push(s, &s->probes, job);
                return;
        }
        history_listing_read(&s->listing, job->path, has_app ? HISTORY_LOG_HAS_APPLICATION : HISTORY_LOG_IS_OTHER,
                             has_app ? &info : NULL);
        /* The log of a running application that has ended has another name. */
        const struct history_log *log = has_app ? history_listing_find(&s->listing, job->path) : NULL;
        if (log && log->has_info && history_server_find_log(s, log->info.app_id, log->info.attempt_id) == log)
                history_server_follow(s, log);
        if (log && log->has_info)
                history_server_store_log(s, log);
        history_job_free(job);
        history_server_act(s);
        pthread_cond_broadcast(&s->loaded);
}

/* After an application was read to the end of its log: reads on if the log has grown meanwhile. */
static void history_server_end_app(struct history_server *s, struct history_app *app)
{
        const struct history_log *log = history_server_find_log(s, app->id, app->attempt);
        app->is_queued = false;
        if (log && log->has_info)
                history_server_follow(s, log);
        else
                history_server_trim_apps(s);
}

/*
 * A file of a rolling log was compacted, or the log was replaced, before it was read: begins anew with the files that
 * are there now. Without the lock.
 */
static bool history_server_restart_app(struct history_app *app)
{
        enum { MAX_RESTARTS = 3 };
        struct event_log_info log;
        struct fst_error error = FST_ERROR_INIT;
        bool done = app->n_restarts++ < MAX_RESTARTS && event_log_look_up(app->fs, app->log.path, &log, &error) == 0;
        error_deinit(&error);
        if (done) {
                history_app_restart(app, &log);
                event_log_deinit(&log);
        }
        return done;
}

static void history_server_run_app(struct history_server *s, struct history_job *job)
{
        struct history_app *app = job->app;
        struct fst_error error = FST_ERROR_INIT;
        bool done = false;
        int64_t begin = now_ns();
        pthread_mutex_unlock(&s->lock);
        int r = 0;
        if (!app->is_begun && s->store && history_app_restore(app, s->store))
                done = app->log.is_complete;
        else
                r = history_app_step(app, SLICE, &done, &error);
        app->is_begun = true;
        if ((r == -ENOENT || r == -ESTALE) && app->state == HISTORY_APP_LOADING && history_server_restart_app(app)) {
                error_deinit(&error);
                r = 0;
        }
        log_debug(HISTORY_LOG, "%s: a slice took %lld ms", app->log.path, (long long)((now_ns() - begin) / NS_PER_MS));
        if (r < 0)
                log_warn(HISTORY_LOG, "Exception when opening log %s: %s", app->log.path, error_message(&error));
        pthread_mutex_lock(&s->lock);
        if (r == 0 && !done) {
                history_queue_push(s, &s->loads, job);
                return;
        }
        history_job_free(job);
        if (r == 0) {
                app->state = HISTORY_APP_READY;
                app->bytes = status_task_bytes(app->view.status);
                history_server_tell_loaded(s);
                uint64_t step = history_app_store_step(app);
                pthread_mutex_unlock(&s->lock);
                if (s->store)
                        history_app_store(app, s->store, step);
                pthread_mutex_lock(&s->lock);
        } else if (app->state == HISTORY_APP_READY) {
                app->is_stale = true; /* what was read stays for its readers */
        } else {
                app->state = HISTORY_APP_FAILED;
                app->problem = mem_strdup(error_message(&error));
                app->code = r;
                app->failed_ns = now_ns();
        }
        error_deinit(&error);
        history_server_end_app(s, app);
        history_server_tell_loaded(s);
}

/* Requests wait for loads, so these go first, but every other job is a probe if there is one. */
static struct history_job *history_server_next_job(struct history_server *s)
{
        struct history_queue *first = s->load_was_last ? &s->probes : &s->loads;
        struct history_job *job = history_queue_pop(first);
        s->load_was_last = job ? first == &s->loads : first != &s->loads;
        return job ? job : history_queue_pop(first == &s->loads ? &s->probes : &s->loads);
}

void *history_server_work(void *owner)
{
        struct history_server *s = owner;
        pthread_mutex_lock(&s->lock);
        while (!s->is_ending) {
                struct history_job *job = history_server_next_job(s);
                if (!job)
                        pthread_cond_wait(&s->work, &s->lock);
                else if (job->app)
                        history_server_run_app(s, job);
                else
                        history_server_run_probe(s, job);
        }
        pthread_mutex_unlock(&s->lock);
        return NULL;
}

/* ------------------------------------------------------------------------------------------------- compaction */

/* Compacts a log, whose files are those that are there now. Without the lock. */
static void history_server_run_compaction(struct history_server *s, const struct history_job *job)
{
        const struct file_system *fs = s->dirs.data[job->dir].fs;
        enum history_compaction result = HISTORY_COMPACTION_FEW_FILES;
        struct event_log_info log;
        struct fst_error error = FST_ERROR_INIT;
        int r = event_log_look_up(fs, job->path, &log, &error);
        if (r == 0) {
                r = history_compactor_run(&s->settings.compactor, fs, &log, &result, &error);
                event_log_deinit(&log);
        }
        if (r < 0)
                log_warn(HISTORY_LOG, "Exception while compacting %s: %s", job->path, error_message(&error));
        else if (result == HISTORY_COMPACTION_DONE)
                eventfd_write(s->wakeup, 1);
        error_deinit(&error);
}

void *history_server_compact(void *owner)
{
        struct history_server *s = owner;
        pthread_mutex_lock(&s->lock);
        while (!s->is_ending) {
                struct history_job *job = history_queue_pop(&s->compactions);
                if (!job) {
                        pthread_cond_wait(&s->compact, &s->lock);
                        continue;
                }
                pthread_mutex_unlock(&s->lock);
                history_server_run_compaction(s, job);
                pthread_mutex_lock(&s->lock);
                history_listing_compacted(&s->listing, job->path);
                history_job_free(job);
        }
        pthread_mutex_unlock(&s->lock);
        return NULL;
}
