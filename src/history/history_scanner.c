/*
 * The thread of a history server that scans the directories, at every spark.history.fs.update.interval and when a file
 * appears on a local disk, and that runs the cleaners. See history_server_internal.h.
 */
#include "history/history_server_internal.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/log.h"
#include "io/fs/file_systems.h"
#include "io/fs/path.h"

#include <poll.h>
#include <unistd.h>
#include <string.h>

enum {
        NEWS_SCANS = 4,       /* scans after a file appeared, */
        NEWS_PERIOD_MS = 300, /* this far apart: its first lines may follow later */
};

static bool history_dir_has_told(const struct history_dir *dir, const char *problem)
{
        for (size_t i = 0; i < dir->unreadable.len; i++)
                if (strcmp(dir->unreadable.data[i], problem) == 0)
                        return true;
        return false;
}

/* Warns of each rolling log that cannot be listed, once while it stays so. Takes @unreadable over. */
static void history_dir_tell_unreadable(struct history_dir *dir, struct string_list *unreadable)
{
        for (size_t i = 0; i < unreadable->len; i++)
                if (!history_dir_has_told(dir, unreadable->data[i]))
                        log_warn(HISTORY_LOG, "A rolling event log cannot be read: %s", unreadable->data[i]);
        string_list_deinit(&dir->unreadable);
        dir->unreadable = *unreadable;
}

/* Keeps the problem of a scan for the list page. @problem NULL: there is none. */
static void history_dir_set_problem(struct history_server *s, struct history_dir *dir, const char *problem)
{
        if (problem && !dir->problem)
                log_error(HISTORY_LOG, "Exception in checking for event log updates: %s", problem);
        pthread_mutex_lock(&s->lock);
        free(dir->problem);
        dir->problem = problem ? mem_strdup(problem) : NULL;
        pthread_mutex_unlock(&s->lock);
}

static void history_server_scan_dir(struct history_server *s, int number)
{
        struct history_dir *dir = &s->dirs.data[number];
        struct event_log_list list = {0};
        struct string_list unreadable = {0};
        struct fst_error error = FST_ERROR_INIT;
        int r = event_log_list_directory(dir->fs, dir->path, &list, &unreadable, &error);
        int64_t now = time_of_day_ms();
        history_dir_set_problem(s, dir, r < 0 ? error_message(&error) : NULL);
        error_deinit(&error);
        if (r == 0) {
                history_dir_tell_unreadable(dir, &unreadable);
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
                if (s->dirs.data[i].is_scanned)
                        history_server_scan_dir(s, (int)i);
        pthread_mutex_lock(&s->lock);
        s->scanned_ms = time_of_day_ms();
        s->n_scans++;
        history_server_tell_loaded(s);
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
                log_info(HISTORY_LOG, "Deleting expired driver log %s", path_name(file->path));
                if (fs->remove(fs, file->path, &error) < 0) {
                        log_warn(HISTORY_LOG, "%s", error_message(&error));
                        error_deinit(&error);
                }
        }
        if (r < 0)
                log_warn(HISTORY_LOG, "the driver logs cannot be cleaned: %s", error_message(&error));
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

void *history_server_watch(void *owner)
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
