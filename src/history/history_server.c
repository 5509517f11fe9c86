/*
 * The lifetime of a history server, and the source of the applications of its site. See history_server.h.
 */
#include "history/history_server_internal.h"

#include "base/error.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/string_prefix.h"
#include "conf/conf.h"
#include "history/history_archive.h"
#include "history/history_store.h"
#include "io/fs/file_systems.h"
#include "io/fs/path.h"

#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <unistd.h>

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
        if (id && s->n_scans)
                history_server_demand(s, id, NULL);
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

/* Sets *@app to the application of an attempt, with one user more. It may be loading. */
static int history_server_find_app(struct history_server *s, const char *id, const char *attempt,
                                   struct history_app **app, struct fst_error *error)
{
        history_server_demand(s, id, attempt);
        const struct history_log *log = history_server_find_log(s, id, attempt);
        int r = log ? history_server_get_app(s, log, app, error) : -ENOENT;
        if (r == 0) {
                (*app)->n_users++;
                (*app)->used = ++s->n_uses;
        }
        return r;
}

static int history_server_open(struct app_source *source, const char *id, const char *attempt, struct app_view **out,
                               struct fst_error *error)
{
        struct history_server *s = history_server_of(source);
        struct history_app *app = NULL;
        pthread_mutex_lock(&s->lock);
        const bool waits = !s->on_loaded;
        while (!s->n_scans && waits && !s->is_ending) /* the store tells only what logs were, not what they are */
                pthread_cond_wait(&s->loaded, &s->lock);
        int r = !s->n_scans && !s->is_ending ? -EAGAIN : history_server_find_app(s, id, attempt, &app, error);
        if (r == 0) {
                while (app->state == HISTORY_APP_LOADING && waits && !s->is_ending)
                        pthread_cond_wait(&s->loaded, &s->lock);
                app->is_awaited = app->state == HISTORY_APP_LOADING && !s->is_ending;
                if (app->is_awaited)
                        r = -EAGAIN;
                else if (app->state == HISTORY_APP_LOADING)
                        r = error_set(error, -ECANCELED, "the server is shutting down");
                else if (app->state == HISTORY_APP_FAILED) /* -ENOENT would read as an unknown application */
                        r = error_set(error, app->code == -ENOENT ? -EIO : app->code, "%s", app->problem);
                if (r < 0) {
                        app->n_users--;
                        history_server_trim_apps(s);
                }
        }
        pthread_mutex_unlock(&s->lock);
        if (r == 0)
                *out = &app->view;
        return r;
}

static uint64_t history_server_version(struct app_source *source)
{
        struct history_server *s = history_server_of(source);
        pthread_mutex_lock(&s->lock);
        uint64_t version = s->listing.version;
        pthread_mutex_unlock(&s->lock);
        return version;
}

static void history_server_set_on_loaded(struct app_source *source, void (*on_loaded)(void *owner), void *owner)
{
        struct history_server *s = history_server_of(source);
        pthread_mutex_lock(&s->lock);
        s->on_loaded = on_loaded;
        s->on_loaded_owner = owner;
        pthread_mutex_unlock(&s->lock);
}

void history_server_tell_loaded(struct history_server *s)
{
        pthread_cond_broadcast(&s->loaded);
        if (s->on_loaded)
                s->on_loaded(s->on_loaded_owner);
}

static void history_server_release(struct app_source *source, struct app_view *view)
{
        struct history_server *s = history_server_of(source);
        struct history_app *app = container_of(view, struct history_app, view);
        pthread_mutex_lock(&s->lock);
        app->n_users--;
        if (history_app_is_damaged(app)) { /* requests that saw it are repeated, and read its log */
                app->is_stale = true;
                history_server_tell_loaded(s);
        }
        history_server_trim_apps(s);
        pthread_mutex_unlock(&s->lock);
}

static int history_server_archive_logs(struct app_source *source, const char *id, const char *attempt,
                                       struct ui_stream **out, struct fst_error *error)
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
        struct history_archive *archive = history_archive_new();
        for (size_t i = 0; i < logs.len; i++) {
                if (r == 0)
                        r = history_archive_add(archive, systems.data[i], &logs.data[i], error);
                event_log_deinit(&logs.data[i]);
        }
        struct ui_stream *stream = history_archive_stream(archive);
        if (r == 0)
                *out = stream;
        else
                stream->free(stream);
        vec_deinit(&logs);
        vec_deinit(&systems);
        vec_deinit(&list);
        return r;
}

static const struct app_source_class history_source_class = {.list = history_server_list,
                                                             .version = history_server_version,
                                                             .open = history_server_open,
                                                             .release = history_server_release,
                                                             .set_on_loaded = history_server_set_on_loaded,
                                                             .archive_logs = history_server_archive_logs};

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
        for (size_t i = 0; i < s->dirs.len && !out->problem; i++)
                out->problem = s->dirs.data[i].problem ? mem_strdup(s->dirs.data[i].problem) : NULL;
        pthread_mutex_unlock(&s->lock);
}

/* ------------------------------------------------------------------------------------------------- lifetime */

/* Finds whether a directory is scanned: none of the expressions matches its whole path. */
static int history_server_choose_scan(const struct history_server *s, struct history_dir *dir, struct fst_error *error)
{
        _cleanup_free_ char *patterns = mem_strdup(s->settings.unscanned ? s->settings.unscanned : "");
        char *at = patterns;
        dir->is_scanned = true;
        for (char *pattern; (pattern = strsep(&at, ","));) {
                regmatch_t match;
                regex_t regex;
                pattern = conf_trim(pattern);
                if (!*pattern)
                        continue;
                int r = redact_compile(&regex, "spark.history.fs.update.scanDisabledPathPatterns", pattern, error);
                if (r < 0)
                        return r;
                if (regexec(&regex, dir->path, 1, &match, 0) == 0 && match.rm_so == 0 &&
                    match.rm_eo == (regoff_t)strlen(dir->path))
                        dir->is_scanned = false;
                regfree(&regex);
        }
        return 0;
}

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
        if (r == 0)
                r = history_server_choose_scan(s, &dir, error);
        if (r == 0 && dir.is_scanned && strcmp(dir.fs->scheme, "file") == 0 && s->inotify >= 0)
                dir.watch = inotify_add_watch(s->inotify, path_local(dir.path),
                                              IN_CREATE | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE | IN_CLOSE_WRITE);
        if (r == 0)
                log_info(HISTORY_LOG, "Reading event logs from %s", dir.path);
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
                                           "spark.ui.retainedDeadExecutors", "spark.history.custom.executor.log.url",
                                           "spark.history.custom.executor.log.url.applyIncompleteApplication"};
        _cleanup_(buf_deinit) struct buf limits = BUF_INIT;
        if (!s->settings.store || !*s->settings.store)
                return 0;
        for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
                buf_printf(&limits, "%s ", conf_get_value(s->conf, keys[i]) ? conf_get_value(s->conf, keys[i]) : "");
        int r = history_store_open(s->settings.store, s->settings.max_store, buf_text(&limits), &s->store, error);
        if (r == 0)
                history_server_list_store(s);
        return r;
}

static int history_server_start(struct history_server *s, struct fst_error *error)
{
        pthread_t thread;
        int n_compact = s->settings.compactor.max_files ? s->settings.n_compact_threads : 0;
        for (int i = 0; i <= s->settings.n_threads + n_compact; i++) {
                void *(*run)(void *) = i == 0                       ? history_server_watch
                                       : i <= s->settings.n_threads ? history_server_work
                                                                    : history_server_compact;
                int r = pthread_create(&thread, NULL, run, s);
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
        s->compactions.end = &s->compactions.first;
        pthread_mutex_init(&s->lock, NULL);
        pthread_cond_init(&s->work, NULL);
        pthread_cond_init(&s->compact, NULL);
        pthread_cond_init(&s->loaded, NULL);
        s->inotify = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
        s->wakeup = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
        file_systems_use(s, &conf->set);
        int r = redactor_init(&s->redactor, conf, error);
        if (r == 0)
                r = history_settings_read(&s->settings, conf, error);
        history_listing_init(&s->listing, &s->settings.listing);
        s->app_options = (struct history_app_options){.conf = conf,
                                                      .redactor = &s->redactor,
                                                      .logs_dir = s->settings.logs_dir,
                                                      .max_line = s->settings.max_line};
        s->app_options.log_url = conf_get_value(conf, "spark.history.custom.executor.log.url");
        if (r == 0)
                r = conf_get_bool(conf, "spark.history.custom.executor.log.url.applyIncompleteApplication",
                                  &s->app_options.log_url_of_incomplete, error);
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
        pthread_cond_broadcast(&s->compact);
        history_server_tell_loaded(s);
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
        history_server_free_jobs(s);
        for (size_t i = 0; s->store && i < s->apps.len; i++)
                if (history_app_follows(s->apps.data[i]))
                        history_app_store(s->apps.data[i], s->store, 1);
        history_server_free_apps(s);
        for (size_t i = 0; i < s->dirs.len; i++) {
                free(s->dirs.data[i].path);
                free(s->dirs.data[i].own_name);
                free(s->dirs.data[i].problem);
                string_list_deinit(&s->dirs.data[i].unreadable);
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
        pthread_cond_destroy(&s->compact);
        pthread_cond_destroy(&s->loaded);
        pthread_mutex_destroy(&s->lock);
        free(s);
}
