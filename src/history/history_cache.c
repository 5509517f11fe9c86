/*
 * The applications that a history server has in memory (Spark: ApplicationCache). See history_server_internal.h.
 *
 * An application whose log has changed is read on, or becomes stale: its users keep it, and the next reader gets
 * another.
 */
#include "history/history_server_internal.h"

#include "base/clock.h"
#include "base/mem.h"
#include "base/string_prefix.h"

enum {
        MAX_LOADED_BYTES = 64 << 20, /* of tasks, in all loaded applications that nobody uses */
        FAILED_MS = 1000,            /* a failed application answers for so long before its log is tried again */
};

/* True if all requests that waited for an application may be answered with the error of its last load. */
static bool history_app_has_just_failed(const struct history_app *app)
{
        return app->state == HISTORY_APP_FAILED && now_ns() - app->failed_ns < FAILED_MS * NS_PER_MS;
}

static void history_server_drop_app(struct history_server *s, size_t at)
{
        history_app_free(s->apps.data[at]);
        s->apps.data[at] = s->apps.data[--s->apps.len];
}

void history_server_trim_apps(struct history_server *s)
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
                        if (history_app_has_just_failed(app) || (app->is_awaited && !is_stale)) {
                                is_stale = false;
                                continue;
                        }
                        if (is_stale || oldest == SIZE_MAX || app->used < s->apps.data[oldest]->used)
                                oldest = i;
                }
                if (oldest == SIZE_MAX ||
                    (!is_stale && n <= s->settings.retained && (bytes <= MAX_LOADED_BYTES || n == 1)))
                        return;
                history_server_drop_app(s, oldest);
        }
}

void history_server_follow(struct history_server *s, const struct history_log *log)
{
        for (size_t i = 0; i < s->apps.len; i++) {
                struct history_app *app = s->apps.data[i];
                if (app->is_stale || strcmp(app->id, log->info.app_id) != 0 ||
                    !text_equals(app->attempt, log->info.attempt_id))
                        continue;
                if (app->is_queued || history_app_is_current(app, &log->files))
                        continue; /* a queued one looks at the listing when it ends */
                /* The URLs of a running application's logs may not be those of the pattern. */
                bool keeps_urls = !s->app_options.log_url || s->app_options.log_url_of_incomplete ||
                                  app->log.is_complete == log->files.is_complete;
                if (app->state == HISTORY_APP_READY && history_app_follows(app) && keeps_urls) {
                        history_app_set_log(app, &log->files, log->updated_ms);
                        history_server_queue_app(s, app);
                } else {
                        app->is_stale = true;
                }
        }
        history_server_trim_apps(s);
}

const struct history_log *history_server_find_log(struct history_server *s, const char *id, const char *attempt)
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

int history_server_get_app(struct history_server *s, const struct history_log *log, struct history_app **out,
                           struct fst_error *error)
{
        struct history_app *app = NULL;
        for (size_t i = 0; i < s->apps.len; i++)
                s->apps.data[i]->is_stale |= history_app_is_damaged(s->apps.data[i]);
        for (size_t i = 0; i < s->apps.len && !app; i++)
                if (!s->apps.data[i]->is_stale &&
                    (s->apps.data[i]->state != HISTORY_APP_FAILED || history_app_has_just_failed(s->apps.data[i])) &&
                    strcmp(s->apps.data[i]->id, log->info.app_id) == 0 &&
                    text_equals(s->apps.data[i]->attempt, log->info.attempt_id))
                        app = s->apps.data[i];
        if (!app) {
                int r = history_app_new(&s->app_options, s->dirs.data[log->dir].fs, log, &app, error);
                if (r < 0)
                        return r;
                vec_push(&s->apps, app);
                history_server_queue_app(s, app);
        }
        *out = app;
        return 0;
}

void history_server_free_apps(struct history_server *s)
{
        while (s->apps.len)
                history_server_drop_app(s, 0);
        vec_deinit(&s->apps);
}
