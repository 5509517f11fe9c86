/*
 * Finds the log of an application that no scan has listed, when somebody asks for it by its id: a new one, or one in a
 * directory that spark.history.fs.update.scanDisabledPathPatterns excludes from scans. See history_server_internal.h.
 *
 * The names that a log may have follow from the id and the attempt (events/event_files.h), so no directory is listed.
 */
#include "history/history_server_internal.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/mem.h"
#include "io/fs/file_systems.h"

/* Adds the log at @path, if there is one. The caller does not hold the lock. */
static bool history_demand_look_up(struct history_server *s, int dir, const char *path)
{
        struct event_log_info log;
        struct fst_error error = FST_ERROR_INIT;
        int r = event_log_look_up(s->dirs.data[dir].fs, path, &log, &error);
        error_deinit(&error);
        if (r < 0)
                return false;
        bool is_log = log.size > 0;
        pthread_mutex_lock(&s->lock);
        if (is_log) {
                history_listing_demand(&s->listing, dir, &log, time_of_day_ms());
                history_server_act(s);
        }
        pthread_mutex_unlock(&s->lock);
        event_log_deinit(&log);
        return is_log;
}

/* Tries the names of one attempt: "app-1" or "app-1_2". */
static bool history_demand_try(struct history_server *s, int dir, const char *name)
{
        static const char *const codecs[] = {"", ".zstd", ".lz4", ".snappy"};
        const char *top = s->dirs.data[dir].path;
        if (s->settings.demands_rolling) {
                _cleanup_free_ char *path = mem_printf("%s/" EVENT_LOG_ROLLING_PREFIX "%s", top, name);
                if (history_demand_look_up(s, dir, path))
                        return true;
        }
        for (size_t i = 0; s->settings.demands_single && i < 2 * ARRAY_SIZE(codecs); i++) {
                _cleanup_free_ char *path =
                        mem_printf("%s/%s%s%s", top, name, codecs[i / 2], i % 2 ? EVENT_LOG_IN_PROGRESS : "");
                if (history_demand_look_up(s, dir, path))
                        return true;
        }
        return false;
}

static bool history_demand_find(struct history_server *s, const char *id, const char *attempt)
{
        static const char *const guesses[] = {NULL, "1", "2"}; /* YARN counts attempts */
        _cleanup_free_ char *name = event_log_clean_name(id);
        _cleanup_free_ char *suffix = attempt ? event_log_clean_name(attempt) : NULL;
        bool found = false;
        for (size_t i = 0; i < s->dirs.len; i++) {
                /* A scan tells the attempts of a log in the other directories. */
                size_t n = attempt || s->dirs.data[i].is_scanned ? 1 : ARRAY_SIZE(guesses);
                for (size_t k = 0; k < n; k++) {
                        const char *number = suffix ? suffix : guesses[k];
                        _cleanup_free_ char *whole = number ? mem_printf("%s_%s", name, number) : mem_strdup(name);
                        found |= history_demand_try(s, (int)i, whole);
                }
        }
        return found;
}

void history_server_demand(struct history_server *s, const char *id, const char *attempt)
{
        const struct history_log *log = history_server_find_log(s, id, attempt);
        if ((log && s->dirs.data[log->dir].is_scanned) || (!s->settings.demands_single && !s->settings.demands_rolling))
                return;
        pthread_mutex_unlock(&s->lock);
        bool found = history_demand_find(s, id, attempt);
        pthread_mutex_lock(&s->lock);
        while (found && !s->is_ending && history_listing_is_pending(&s->listing)) {
                log = history_server_find_log(s, id, attempt);
                if (log && log->state != HISTORY_LOG_READING)
                        return;
                pthread_cond_wait(&s->loaded, &s->lock);
        }
}
