/*
 * See history_server.h.
 *
 * Invariants: `lock` guards everything but what a loaded application holds. Threads hold it for short times only, never
 * while they read files. A job that is taken from a queue belongs to its thread until the thread queues it again or
 * ends it. An application with users or a job is not freed.
 */
#include "history/history_server.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/list.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/string_prefix.h"
#include "conf/conf.h"
#include "conf/redact.h"
#include "history/history_app.h"
#include "history/history_listing.h"
#include "history/history_probe.h"
#include "history/history_settings.h"
#include "history/history_store.h"
#include "history/history_zip.h"
#include "io/codec/zip_file.h"
#include "io/fs/file_systems.h"
#include "io/fs/path.h"
#include "status/status_snapshot.h"

#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <unistd.h>

#define LOG "FsHistoryProvider"

enum {
        SLICE = 16 << 20,            /* bytes of text that a thread reads before it looks for another log */
        MAX_LOADED_BYTES = 64 << 20, /* of tasks, in all loaded applications that nobody uses */
        NEWS_SCANS = 4,              /* scans after a file appeared, */
        NEWS_PERIOD_MS = 300,        /* this far apart: its first lines may follow later */
};

struct history_dir {
        char *path;
        const char *name; /* display name */
        char *own_name;
        const struct file_system *fs;
        int watch; /* of inotify; -1: none */
        bool is_failing;
};

/* Something to read: the head and end of a log, or an application. */
struct history_job {
        struct history_job *next;
        struct history_probe *probe; /* or */
        struct history_app *app;
        char *path; /* of the probed log */
};

struct history_queue {
        struct history_job *first, **end;
};

struct history_server {
        struct app_source source;
        const struct fst_conf *conf;
        struct redactor redactor;
        struct history_settings settings;
        struct history_app_options app_options;
        struct history_store *store; /* NULL: none */
        VEC(struct history_dir) dirs;
        int inotify, wakeup; /* descriptors */

        pthread_mutex_t lock;
        pthread_cond_t work, loaded; /* a job was queued; an application was loaded, or a scan ended */
        struct history_listing listing;
        struct history_queue probes, loads;
        bool load_was_last; /* queues take turns */
        VEC(struct history_app *) apps;
        int64_t scanned_ms, n_uses;
        size_t n_scans;
        bool is_ending;
        VEC(pthread_t) threads;
};

/* ------------------------------------------------------------------------------------------------- queues */

static void history_queue_push(struct history_server *s, struct history_queue *queue, struct history_job *job)
{
        job->next = NULL;
        *queue->end = job;
        queue->end = &job->next;
        pthread_cond_signal(&s->work);
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

static void history_server_queue_app(struct history_server *s, struct history_app *app)
{
        struct history_job *job = new0(struct history_job);
        job->app = app;
        app->is_queued = true;
        history_queue_push(s, &s->loads, job);
}

/* ------------------------------------------------------------------------------------------ applications in memory */

static void history_server_drop_app(struct history_server *s, size_t at)
{
        history_app_free(s->apps.data[at]);
        s->apps.data[at] = s->apps.data[--s->apps.len];
}

/* Frees stale applications, and the least recently used ones beyond the limits. */
static void history_server_trim_apps(struct history_server *s)
{
        for (;;) {
                size_t oldest = SIZE_MAX, n = 0, bytes = 0;
                bool is_stale = false;
                for (size_t i = 0; i < s->apps.len && !is_stale; i++) {
                        struct history_app *app = s->apps.data[i];
                        n++;
                        bytes += app->bytes;
                        if (app->n_users || app->is_queued)
                                continue;
                        is_stale = app->is_stale || app->state == HISTORY_APP_FAILED;
                        if (is_stale || oldest == SIZE_MAX || app->used < s->apps.data[oldest]->used)
                                oldest = i;
                }
                if (oldest == SIZE_MAX ||
                    (!is_stale && n <= s->settings.retained && (bytes <= MAX_LOADED_BYTES || n == 1)))
                        return;
                history_server_drop_app(s, oldest);
        }
}

/* A log that was loaded has changed: it is read on, or its application is loaded anew for the next reader. */
static void history_server_follow(struct history_server *s, const struct history_log *log)
{
        for (size_t i = 0; i < s->apps.len; i++) {
                struct history_app *app = s->apps.data[i];
                if (app->is_stale || strcmp(app->id, log->info.app_id) != 0 ||
                    !text_equals(app->attempt, log->info.attempt_id))
                        continue;
                if (app->is_queued || history_app_is_current(app, &log->files))
                        continue; /* a queued one looks at the listing when it ends */
                if (app->state == HISTORY_APP_READY && history_app_follows(app)) {
                        history_app_set_log(app, &log->files);
                        history_server_queue_app(s, app);
                } else {
                        app->is_stale = true;
                }
        }
        history_server_trim_apps(s);
}

static const struct history_log *history_server_find_log(struct history_server *s, const char *id, const char *attempt)
{
        struct history_log_list list = {0};
        const struct history_log *found = NULL;
        history_listing_attempts(&s->listing, id, &list);
        for (size_t i = 0; i < list.len && !found; i++)
                if (!attempt || text_equals(list.data[i]->info.attempt_id, attempt))
                        found = list.data[i];
        vec_deinit(&list);
        return found;
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

/* Carries out the actions of the listing. The caller holds the lock, which is released while files are removed. */
static void history_server_act(struct history_server *s)
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
                        log_info(LOG, "Deleting expired event log for %s", path_name(path));
                        if (fs->remove(fs, path, &error) < 0)
                                log_warn(LOG, "%s", error_message(&error));
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

/* Tries to take an application from the store. Without the lock. */
static bool history_server_restore_app(struct history_server *s, struct history_app *app)
{
        _cleanup_(buf_deinit) struct buf bytes = BUF_INIT;
        return s->store && app->log.is_complete && history_store_get_snapshot(s->store, &app->log, &bytes) &&
               history_app_restore(app, &bytes);
}

/* Stores an application whose complete log was read. Without the lock. */
static void history_server_store_app(struct history_server *s, struct history_app *app)
{
        _cleanup_(buf_deinit) struct buf bytes = BUF_INIT;
        if (!s->store || !app->log.is_complete || app->is_restored)
                return;
        status_snapshot_put(app->view.status, &bytes);
        history_store_put_snapshot(s->store, &app->log, &bytes);
}

static void history_server_run_probe(struct history_server *s, struct history_job *job)
{
        struct fst_error error = FST_ERROR_INIT;
        struct history_info info;
        bool done = false;
        pthread_mutex_unlock(&s->lock);
        int r = history_probe_step(job->probe, SLICE, &done, &error);
        if (r < 0)
                log_warn(LOG, "Error while reading a new log: %s", error_message(&error));
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
        if (!history_listing_is_pending(&s->listing))
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

static void history_server_run_app(struct history_server *s, struct history_job *job)
{
        struct history_app *app = job->app;
        struct fst_error error = FST_ERROR_INIT;
        bool done = false;
        int64_t begin = now_ns();
        pthread_mutex_unlock(&s->lock);
        int r = 0;
        if (!app->is_begun && history_server_restore_app(s, app))
                done = true;
        else
                r = history_app_step(app, SLICE, &done, &error);
        app->is_begun = true;
        log_debug(LOG, "%s: a slice took %lld ms", app->log.path, (long long)((now_ns() - begin) / NS_PER_MS));
        if (r < 0)
                log_warn(LOG, "Exception when opening log %s: %s", app->log.path, error_message(&error));
        pthread_mutex_lock(&s->lock);
        if (r == 0 && !done) {
                history_queue_push(s, &s->loads, job);
                return;
        }
        history_job_free(job);
        if (r == 0) {
                app->state = HISTORY_APP_READY;
                pthread_cond_broadcast(&s->loaded);
                /* Readers go on meanwhile: the status of a complete log does not change. */
                pthread_mutex_unlock(&s->lock);
                history_server_store_app(s, app);
                pthread_mutex_lock(&s->lock);
        } else if (app->state == HISTORY_APP_READY) {
                app->is_stale = true; /* what was read stays for its readers */
        } else {
                app->state = HISTORY_APP_FAILED;
                app->problem = mem_strdup(error_message(&error));
                app->code = r;
        }
        error_deinit(&error);
        history_server_end_app(s, app);
        pthread_cond_broadcast(&s->loaded);
}

/* Requests wait for loads, so these go first, but every other job is a probe if there is one. */
static struct history_job *history_server_next_job(struct history_server *s)
{
        struct history_queue *first = s->load_was_last ? &s->probes : &s->loads;
        struct history_job *job = history_queue_pop(first);
        s->load_was_last = job ? first == &s->loads : first != &s->loads;
        return job ? job : history_queue_pop(first == &s->loads ? &s->probes : &s->loads);
}

static void *history_server_work(void *owner)
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

/* ------------------------------------------------------------------------------------------------- scans */

static void history_server_scan_dir(struct history_server *s, int number)
{
        struct history_dir *dir = &s->dirs.data[number];
        struct event_log_list list = {0};
        struct fst_error error = FST_ERROR_INIT;
        int r = event_log_list_directory(dir->fs, dir->path, &list, &error);
        int64_t now = time_of_day_ms();
        if (r < 0 && !dir->is_failing)
                log_error(LOG, "Exception in checking for event log updates: %s", error_message(&error));
        dir->is_failing = r < 0;
        error_deinit(&error);
        if (r == 0) {
                pthread_mutex_lock(&s->lock);
                history_listing_begin_scan(&s->listing, number);
                for (size_t i = 0; i < list.len; i++)
                        history_listing_see(&s->listing, number, &list.data[i], now);
                history_listing_end_scan(&s->listing, number);
                history_server_act(s);
                pthread_mutex_unlock(&s->lock);
        }
        event_log_list_deinit(&list);
}

static void history_server_scan(struct history_server *s)
{
        for (size_t i = 0; i < s->dirs.len; i++)
                history_server_scan_dir(s, (int)i);
        pthread_mutex_lock(&s->lock);
        s->scanned_ms = time_of_day_ms();
        s->n_scans++;
        pthread_cond_broadcast(&s->loaded);
        pthread_mutex_unlock(&s->lock);
}

static void history_server_clean(struct history_server *s)
{
        pthread_mutex_lock(&s->lock);
        history_listing_clean(&s->listing, time_of_day_ms());
        history_server_act(s);
        pthread_mutex_unlock(&s->lock);
}

/* Removes drivers' logs that were not written for spark.history.fs.driverlog.cleaner.maxAge. */
static void history_server_clean_driver_logs(struct history_server *s)
{
        _cleanup_free_ char *path = NULL;
        const struct file_system *fs;
        struct file_list list = {0};
        struct fst_error error = FST_ERROR_INIT;
        int64_t limit = time_of_day_ms() - s->settings.driver_log_max_age_ms;
        int r = file_system_resolve(s->settings.driver_log_dir, &path, &fs, &error);
        if (r == 0)
                r = fs->list(fs, path, &list, &error);
        for (size_t i = 0; r == 0 && i < list.len; i++) {
                const struct file_status *file = &list.data[i];
                if (file->directory || file->modified_ms >= limit)
                        continue;
                log_info(LOG, "Deleting expired driver log %s", path_name(file->path));
                if (fs->remove(fs, file->path, &error) < 0) {
                        log_warn(LOG, "%s", error_message(&error));
                        error_deinit(&error);
                }
        }
        if (r < 0)
                log_warn(LOG, "the driver logs cannot be cleaned: %s", error_message(&error));
        error_deinit(&error);
        file_list_deinit(&list);
}

/* Reads the events of inotify. Returns true if a file came or went. */
static bool history_server_drain_news(struct history_server *s)
{
        char events[16384] __attribute__((aligned(8)));
        bool found = false;
        while (read(s->inotify, events, sizeof(events)) > 0)
                found = true;
        return found;
}

static void *history_server_watch(void *owner)
{
        struct history_server *s = owner;
        int64_t next_scan = now_ms(), next_clean = next_scan, next_driver_clean = next_scan;
        int news = 0;
        for (;;) {
                int64_t now = now_ms(), until = next_scan;
                if (now >= next_scan) {
                        history_server_scan(s);
                        now = now_ms();
                        news -= news > 0;
                        next_scan = now + (news ? NEWS_PERIOD_MS : s->settings.update_ms);
                        until = next_scan;
                }
                if (s->settings.cleaner && now >= next_clean) {
                        history_server_clean(s);
                        next_clean = now + s->settings.cleaner_ms;
                }
                if (s->settings.driver_log_cleaner && now >= next_driver_clean) {
                        history_server_clean_driver_logs(s);
                        next_driver_clean = now + s->settings.driver_log_cleaner_ms;
                }
                if (s->settings.cleaner)
                        until = MIN(until, next_clean);
                if (s->settings.driver_log_cleaner)
                        until = MIN(until, next_driver_clean);
                struct pollfd fds[] = {{.fd = s->wakeup, .events = POLLIN}, {.fd = s->inotify, .events = POLLIN}};
                int64_t wait_ms = MAX(until - now_ms(), (int64_t)0);
                poll(fds, 2, (int)MIN(wait_ms, (int64_t)INT32_MAX));
                uint64_t count;
                bool woken = read(s->wakeup, &count, sizeof(count)) > 0;
                pthread_mutex_lock(&s->lock);
                bool is_ending = s->is_ending;
                pthread_mutex_unlock(&s->lock);
                if (is_ending)
                        return NULL;
                if (s->inotify >= 0 && history_server_drain_news(s)) {
                        news = NEWS_SCANS;
                        next_scan = MIN(next_scan, now_ms() + NEWS_PERIOD_MS / 3);
                }
                if (woken)
                        next_scan = now_ms();
        }
}

/* ------------------------------------------------------------------------------------------ source of the site */

struct history_server *history_server_of(struct app_source *source)
{
        return container_of(source, struct history_server, source);
}

static const char *history_server_copy_text(struct app_list *list, const char *text)
{
        return text ? arena_copy(&list->texts, text, strlen(text)) : NULL;
}

static void history_server_fill_attempt(struct history_server *s, const struct history_log *log, struct app_list *list,
                                        struct app_attempt *out)
{
        const struct history_info *info = &log->info;
        const struct history_dir *dir = &s->dirs.data[log->dir];
        *out = (struct app_attempt){
                .id = history_server_copy_text(list, info->attempt_id),
                .start_ms = info->start_ms,
                .end_ms = info->has_ended ? info->end_ms : -1,
                .updated_ms = log->updated_ms,
                .duration_ms = info->has_ended ? MAX(info->end_ms - info->start_ms, (int64_t)0) : 0,
                .user = history_server_copy_text(list, info->user ? info->user : ""),
                .spark_version = history_server_copy_text(list, info->spark_version ? info->spark_version : ""),
                .completed = info->has_ended,
                .exit_code = info->has_ended ? info->exit_code : -1,
                .log_source = history_server_copy_text(list, dir->name),
                .log_dir = history_server_copy_text(list, dir->path),
        };
}

static void history_server_list(struct app_source *source, const char *id, struct app_list *out)
{
        struct history_server *s = history_server_of(source);
        struct history_log_list found = {0};
        pthread_mutex_lock(&s->lock);
        history_listing_attempts(&s->listing, id, &found);
        for (size_t i = 0, n; i < found.len; i += n) {
                const struct history_info *info = &found.data[i]->info;
                for (n = 1; i + n < found.len && strcmp(found.data[i + n]->info.app_id, info->app_id) == 0;)
                        n++;
                struct app_attempt *attempts = arena_alloc(&out->texts, n * sizeof(*attempts));
                for (size_t k = 0; k < n; k++)
                        history_server_fill_attempt(s, found.data[i + k], out, &attempts[k]);
                struct app_summary app = {.id = history_server_copy_text(out, info->app_id),
                                          .name = history_server_copy_text(out, info->app_name ? info->app_name : ""),
                                          .attempts = attempts,
                                          .n_attempts = n};
                vec_push(&out->apps, app);
        }
        pthread_mutex_unlock(&s->lock);
        vec_deinit(&found);
}

/* Returns the application of a log, which it begins to load if it is not in memory. The caller holds the lock. */
static int history_server_get_app(struct history_server *s, const struct history_log *log, struct history_app **out,
                                  struct fst_error *error)
{
        struct history_app *app = NULL;
        for (size_t i = 0; i < s->apps.len && !app; i++)
                if (!s->apps.data[i]->is_stale && s->apps.data[i]->state != HISTORY_APP_FAILED &&
                    strcmp(s->apps.data[i]->id, log->info.app_id) == 0 &&
                    text_equals(s->apps.data[i]->attempt, log->info.attempt_id))
                        app = s->apps.data[i];
        if (!app) {
                int r = history_app_new(&s->app_options, s->dirs.data[log->dir].fs, &log->info, &log->files, log->dir,
                                        &app, error);
                if (r < 0)
                        return r;
                vec_push(&s->apps, app);
                history_server_queue_app(s, app);
        }
        *out = app;
        return 0;
}

static int history_server_open(struct app_source *source, const char *id, const char *attempt, struct app_view **out,
                               struct fst_error *error)
{
        struct history_server *s = history_server_of(source);
        struct history_app *app = NULL;
        pthread_mutex_lock(&s->lock);
        while (!s->n_scans && !s->is_ending) /* the store tells only what logs were, not what they are */
                pthread_cond_wait(&s->loaded, &s->lock);
        const struct history_log *log = history_server_find_log(s, id, attempt);
        int r = log ? history_server_get_app(s, log, &app, error) : -ENOENT;
        if (r == 0) {
                app->n_users++;
                app->used = ++s->n_uses;
                while (app->state == HISTORY_APP_LOADING && !s->is_ending)
                        pthread_cond_wait(&s->loaded, &s->lock);
                if (app->state == HISTORY_APP_LOADING) {
                        r = error_set(error, -ECANCELED, "the server is shutting down");
                        app->n_users--;
                } else if (app->state == HISTORY_APP_FAILED) {
                        /* -ENOENT would read as an unknown application. */
                        r = error_set(error, app->code == -ENOENT ? -EIO : app->code, "%s", app->problem);
                        app->n_users--;
                        history_server_trim_apps(s);
                }
        }
        pthread_mutex_unlock(&s->lock);
        if (r == 0)
                *out = &app->view;
        return r;
}

static void history_server_release(struct app_source *source, struct app_view *view)
{
        struct history_server *s = history_server_of(source);
        struct history_app *app = container_of(view, struct history_app, view);
        pthread_mutex_lock(&s->lock);
        app->n_users--;
        history_server_trim_apps(s);
        pthread_mutex_unlock(&s->lock);
}

static int history_server_write_logs(struct app_source *source, const char *id, const char *attempt,
                                     struct zip_writer *zip, struct fst_error *error)
{
        struct history_server *s = history_server_of(source);
        struct history_log_list list = {0};
        VEC(struct event_log_info) logs = {0};
        VEC(const struct file_system *) systems = {0};
        pthread_mutex_lock(&s->lock);
        history_listing_attempts(&s->listing, id, &list);
        for (size_t i = 0; i < list.len; i++) {
                struct event_log_info copy;
                if (attempt && !text_equals(list.data[i]->info.attempt_id, attempt))
                        continue;
                event_log_copy(&copy, &list.data[i]->files);
                vec_push(&logs, copy);
                vec_push(&systems, s->dirs.data[list.data[i]->dir].fs);
        }
        pthread_mutex_unlock(&s->lock);
        int r = logs.len ? 0 : -ENOENT;
        for (size_t i = 0; i < logs.len; i++) {
                if (r == 0)
                        r = history_zip_log(systems.data[i], &logs.data[i], zip, error);
                event_log_deinit(&logs.data[i]);
        }
        vec_deinit(&logs);
        vec_deinit(&systems);
        vec_deinit(&list);
        return r;
}

static const struct app_source_class history_source_class = {.list = history_server_list,
                                                             .open = history_server_open,
                                                             .release = history_server_release,
                                                             .write_logs = history_server_write_logs};

struct app_source *history_server_source(struct history_server *s)
{
        return &s->source;
}

void history_server_get_state(struct history_server *s, struct history_server_state *out)
{
        pthread_mutex_lock(&s->lock);
        *out = (struct history_server_state){.scanned_ms = s->scanned_ms,
                                             .n_pending = s->listing.n_reading,
                                             .n_loaded = s->apps.len,
                                             .title = s->settings.title,
                                             .dirs = s->settings.dirs,
                                             .max_applications = s->settings.max_applications};
        pthread_mutex_unlock(&s->lock);
}

/* ------------------------------------------------------------------------------------------------- lifetime */

static int history_server_add_dir(struct history_server *s, const char *text, char *name, struct fst_error *error)
{
        struct history_dir dir = {.own_name = name, .watch = -1};
        struct file_status status = {0};
        int r = file_system_resolve(text, &dir.path, &dir.fs, error);
        dir.name = name ? name : dir.path;
        if (r == 0)
                r = dir.fs->stat(dir.fs, dir.path, &status, error);
        if (r == -ENOENT)
                error_set(error, r,
                          "Log directory specified does not exist: %s. Did you configure the correct one through "
                          "spark.history.fs.logDirectory?",
                          dir.path);
        else if (r == 0 && !status.directory)
                r = error_set(error, -ENOTDIR, "Logging directory specified is not a directory: %s", dir.path);
        file_status_deinit(&status);
        if (r == 0 && strcmp(dir.fs->scheme, "file") == 0 && s->inotify >= 0)
                dir.watch = inotify_add_watch(s->inotify, path_local(dir.path),
                                              IN_CREATE | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE | IN_CLOSE_WRITE);
        if (r == 0)
                log_info(LOG, "Reading event logs from %s", dir.path);
        vec_push(&s->dirs, dir);
        return r;
}

/* Opens the directories of a list, which names display by position. */
static int history_server_add_dirs(struct history_server *s, struct fst_error *error)
{
        _cleanup_free_ char *dirs = mem_strdup(s->settings.dirs ? s->settings.dirs : "");
        _cleanup_free_ char *names = mem_strdup(s->settings.names ? s->settings.names : "");
        char *at = dirs, *name_at = names;
        int r = 0;
        for (char *dir; r == 0 && (dir = strsep(&at, ","));) {
                char *name = name_at ? conf_trim(strsep(&name_at, ",")) : NULL;
                dir = conf_trim(dir);
                if (*dir)
                        r = history_server_add_dir(s, dir, name && *name ? mem_strdup(name) : NULL, error);
        }
        if (r == 0 && !s->dirs.len)
                r = error_set(error, -EINVAL, "spark.history.fs.logDirectory is empty: name a directory");
        return r;
}

/* Opens the store and lists what it holds. */
static int history_server_open_store(struct history_server *s, struct fst_error *error)
{
        static const char *const keys[] = {"spark.ui.retainedJobs", "spark.ui.retainedStages", "spark.ui.retainedTasks",
                                           "spark.ui.retainedDeadExecutors"};
        _cleanup_(buf_deinit) struct buf limits = BUF_INIT;
        if (!s->settings.store || !*s->settings.store)
                return 0;
        for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
                buf_printf(&limits, "%s ", conf_get_value(s->conf, keys[i]));
        int r = history_store_open(s->settings.store, s->settings.max_store, buf_text(&limits), &s->store, error);
        if (r == 0)
                history_store_each(s->store, history_server_on_stored_log, s);
        return r;
}

static int history_server_start(struct history_server *s, struct fst_error *error)
{
        pthread_t thread;
        for (int i = 0; i <= s->settings.n_threads; i++) {
                int r = pthread_create(&thread, NULL, i ? history_server_work : history_server_watch, s);
                if (r)
                        return error_set(error, -r, "a thread cannot be started: %s", strerror(r));
                vec_push(&s->threads, thread);
        }
        return 0;
}

int history_server_new(const struct fst_conf *conf, struct history_server **out, struct fst_error *error)
{
        struct history_server *s = new0(struct history_server);
        s->source = (struct app_source){.class = &history_source_class, .is_history = true};
        s->conf = conf;
        s->probes.end = &s->probes.first;
        s->loads.end = &s->loads.first;
        pthread_mutex_init(&s->lock, NULL);
        pthread_cond_init(&s->work, NULL);
        pthread_cond_init(&s->loaded, NULL);
        s->inotify = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
        s->wakeup = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
        file_systems_use(s, &conf->set);
        int r = redactor_init(&s->redactor, conf, error);
        if (r == 0)
                r = history_settings_read(&s->settings, conf, error);
        history_listing_init(&s->listing, &s->settings.listing);
        s->app_options =
                (struct history_app_options){.conf = conf, .redactor = &s->redactor, .max_line = s->settings.max_line};
        if (r == 0)
                r = history_server_add_dirs(s, error);
        if (r == 0)
                r = history_server_open_store(s, error);
        if (r == 0)
                r = history_server_start(s, error);
        if (r < 0) {
                history_server_free(s);
                return r;
        }
        *out = s;
        return 0;
}

void history_server_stop(struct history_server *s)
{
        pthread_mutex_lock(&s->lock);
        s->is_ending = true;
        pthread_cond_broadcast(&s->work);
        pthread_cond_broadcast(&s->loaded);
        pthread_mutex_unlock(&s->lock);
        eventfd_write(s->wakeup, 1);
}

void history_server_free(struct history_server *s)
{
        if (!s)
                return;
        history_server_stop(s);
        for (size_t i = 0; i < s->threads.len; i++)
                pthread_join(s->threads.data[i], NULL);
        vec_deinit(&s->threads);
        for (struct history_job *job; (job = history_queue_pop(&s->probes)) || (job = history_queue_pop(&s->loads));)
                history_job_free(job);
        while (s->apps.len)
                history_server_drop_app(s, 0);
        vec_deinit(&s->apps);
        for (size_t i = 0; i < s->dirs.len; i++) {
                free(s->dirs.data[i].path);
                free(s->dirs.data[i].own_name);
        }
        vec_deinit(&s->dirs);
        history_listing_deinit(&s->listing);
        history_store_close(s->store);
        history_settings_deinit(&s->settings);
        redactor_deinit(&s->redactor);
        if (s->inotify >= 0)
                close(s->inotify);
        close(s->wakeup);
        file_systems_leave(s);
        pthread_cond_destroy(&s->work);
        pthread_cond_destroy(&s->loaded);
        pthread_mutex_destroy(&s->lock);
        free(s);
}
