/* See history_listing.h. */
#include "history/history_listing.h"

#include "base/mem.h"
#include "base/string_prefix.h"

void history_info_deinit(struct history_info *info)
{
        free(info->app_id);
        free(info->app_name);
        free(info->user);
        free(info->attempt_id);
        free(info->spark_version);
        free(info->view_acls);
        free(info->view_groups);
        free(info->admin_acls);
        free(info->admin_groups);
        *info = (struct history_info){0};
}

void history_info_copy(struct history_info *to, const struct history_info *from)
{
        *to = *from;
        to->app_id = mem_strdup_if(from->app_id);
        to->app_name = mem_strdup_if(from->app_name);
        to->user = mem_strdup_if(from->user);
        to->attempt_id = mem_strdup_if(from->attempt_id);
        to->spark_version = mem_strdup_if(from->spark_version);
        to->view_acls = mem_strdup_if(from->view_acls);
        to->view_groups = mem_strdup_if(from->view_groups);
        to->admin_acls = mem_strdup_if(from->admin_acls);
        to->admin_groups = mem_strdup_if(from->admin_groups);
}

static void history_log_free(struct history_log *log)
{
        event_log_deinit(&log->files);
        history_info_deinit(&log->info);
        free(log);
}

void history_listing_init(struct history_listing *l, const struct history_listing_options *options)
{
        *l = (struct history_listing){.options = *options, .version = 1};
}

static void history_listing_drop_actions(struct history_listing *l, size_t from)
{
        for (size_t i = from; i < l->actions.len; i++)
                free(l->actions.data[i].path);
        l->actions.len = from;
}

void history_listing_deinit(struct history_listing *l)
{
        for (size_t i = 0; i < l->logs.len; i++)
                history_log_free(l->logs.data[i]);
        vec_deinit(&l->logs);
        history_listing_drop_actions(l, 0);
        vec_deinit(&l->actions);
        object_table_deinit(&l->by_path);
}

/* ------------------------------------------------------------------------------------------------- logs */

static bool history_log_has_path(const void *object, const void *key)
{
        return strcmp(((const struct history_log *)object)->files.path, key) == 0;
}

static struct history_log *history_listing_get(const struct history_listing *l, const char *path)
{
        return object_table_find(&l->by_path, object_hash_text(path), history_log_has_path, path);
}

const struct history_log *history_listing_find(const struct history_listing *l, const char *path)
{
        return history_listing_get(l, path);
}

static struct history_log *history_listing_add(struct history_listing *l, int dir, struct event_log_info *files)
{
        l->version++;
        struct history_log *log = new0(struct history_log);
        log->dir = dir;
        log->files = *files;
        *files = (struct event_log_info){0};
        vec_push(&l->logs, log);
        object_table_put(&l->by_path, object_hash_text(log->files.path), log);
        return log;
}

static void history_listing_act(struct history_listing *l, enum history_action_type type, const struct history_log *log)
{
        struct history_action action = {.type = type,
                                        .dir = log->dir,
                                        .path = mem_strdup(log->files.path),
                                        .is_rolling = log->files.is_rolling};
        vec_push(&l->actions, action);
}

static void history_listing_begin_read(struct history_listing *l, struct history_log *log)
{
        log->state = HISTORY_LOG_READING;
        log->is_changed = false;
        l->n_reading++;
        history_listing_act(l, HISTORY_READ, log);
}

static void history_listing_remove(struct history_listing *l, size_t at)
{
        l->version++;
        struct history_log *log = l->logs.data[at];
        object_table_remove(&l->by_path, object_hash_text(log->files.path), log);
        l->logs.data[at] = l->logs.data[--l->logs.len];
        history_log_free(log);
}

/* Once for each new last file, as Spark. */
static void history_listing_try_compact(struct history_listing *l, struct history_log *log)
{
        long last = log->files.files.data[log->files.files.len - 1].number;
        if (!l->options.compactor || !log->has_info || log->is_compacting || log->evaluated >= last ||
            !history_compactor_wants(l->options.compactor, &log->files))
                return;
        log->evaluated = last;
        log->is_compacting = true;
        history_listing_act(l, HISTORY_COMPACT, log);
}

/* ------------------------------------------------------------------------------------------------- scans */

void history_listing_begin_scan(struct history_listing *l, int dir)
{
        for (size_t i = 0; i < l->logs.len; i++)
                if (l->logs.data[i]->dir == dir)
                        l->logs.data[i]->is_seen = false;
}

static bool history_log_differs(const struct event_log_info *a, const struct event_log_info *b)
{
        return a->size != b->size || a->is_complete != b->is_complete ||
               a->files.data[a->files.len - 1].number != b->files.data[b->files.len - 1].number;
}

void history_listing_see(struct history_listing *l, int dir, struct event_log_info *files, int64_t now_ms)
{
        struct history_log *log = history_listing_get(l, files->path);
        bool is_new = !log, differs = log && history_log_differs(&log->files, files);
        if (is_new) {
                log = history_listing_add(l, dir, files);
        } else {
                event_log_deinit(&log->files);
                log->files = *files;
                *files = (struct event_log_info){0};
        }
        log->is_seen = true;
        log->is_gone = false;
        history_listing_try_compact(l, log);
        if (!is_new && !differs)
                return;
        l->version++;
        log->updated_ms = log->files.is_complete ? log->files.modified_ms : now_ms;
        if (log->state == HISTORY_LOG_READING)
                log->is_changed = true;
        else
                log->state = HISTORY_LOG_UNREAD;
        if (differs && log->has_info)
                history_listing_act(l, HISTORY_GREW, log);
}

static int history_log_compare_age(const void *a, const void *b)
{
        const struct history_log *x = *(struct history_log *const *)a, *y = *(struct history_log *const *)b;
        if (x->files.modified_ms != y->files.modified_ms)
                return x->files.modified_ms > y->files.modified_ms ? -1 : 1;
        return strcmp(x->files.path, y->files.path);
}

void history_listing_end_scan(struct history_listing *l, int dir)
{
        VEC(struct history_log *) unread = {0};
        for (size_t i = l->logs.len; i-- > 0;) {
                struct history_log *log = l->logs.data[i];
                if (log->dir != dir)
                        continue;
                if (!log->is_seen && log->state == HISTORY_LOG_READING) {
                        log->is_gone = true;
                } else if (!log->is_seen) {
                        history_listing_act(l, HISTORY_FORGET, log);
                        history_listing_remove(l, i);
                } else if (log->state == HISTORY_LOG_UNREAD) {
                        vec_push(&unread, log);
                }
        }
        if (unread.len)
                qsort(unread.data, unread.len, sizeof(*unread.data), history_log_compare_age);
        for (size_t i = 0; i < unread.len; i++)
                history_listing_begin_read(l, unread.data[i]);
        vec_deinit(&unread);
}

void history_listing_demand(struct history_listing *l, int dir, struct event_log_info *files, int64_t now_ms)
{
        _cleanup_free_ char *path = mem_strdup(files->path);
        history_listing_see(l, dir, files, now_ms);
        struct history_log *log = history_listing_get(l, path);
        if (log->state == HISTORY_LOG_UNREAD)
                history_listing_begin_read(l, log);
}

void history_listing_restore(struct history_listing *l, int dir, struct event_log_info *files,
                             struct history_info *info, int64_t updated_ms)
{
        if (history_listing_get(l, files->path)) {
                event_log_deinit(files);
                history_info_deinit(info);
                return;
        }
        struct history_log *log = history_listing_add(l, dir, files);
        log->info = *info;
        *info = (struct history_info){0};
        log->has_info = log->info.app_id != NULL;
        log->state = log->has_info ? HISTORY_LOG_HAS_APPLICATION : HISTORY_LOG_IS_OTHER;
        log->updated_ms = updated_ms;
}

void history_listing_read(struct history_listing *l, const char *path, enum history_log_state state,
                          struct history_info *info)
{
        l->version++;
        struct history_log *log = history_listing_get(l, path);
        if (!log || log->state != HISTORY_LOG_READING) {
                if (info)
                        history_info_deinit(info);
                return;
        }
        l->n_reading--;
        log->state = state;
        if (info) {
                history_info_deinit(&log->info);
                log->info = *info;
                *info = (struct history_info){0};
                log->has_info = true;
                history_listing_try_compact(l, log);
        }
        if (log->is_gone) {
                history_listing_act(l, HISTORY_FORGET, log);
                for (size_t i = 0; i < l->logs.len; i++)
                        if (l->logs.data[i] == log) {
                                history_listing_remove(l, i);
                                break;
                        }
        } else if (log->is_changed) {
                history_listing_begin_read(l, log);
        }
}

void history_listing_compacted(struct history_listing *l, const char *path)
{
        struct history_log *log = history_listing_get(l, path);
        if (log)
                log->is_compacting = false;
}

bool history_listing_next(struct history_listing *l, struct history_action *out)
{
        if (l->n_given == l->actions.len) {
                history_listing_drop_actions(l, 0);
                l->n_given = 0;
                return false;
        }
        *out = l->actions.data[l->n_given++];
        return true;
}

bool history_listing_is_pending(const struct history_listing *l)
{
        return l->n_reading > 0;
}

/* ------------------------------------------------------------------------------------------------- attempts */

static int history_compare_texts(const char *a, const char *b)
{
        return !a || !b ? (a != NULL) - (b != NULL) : strcmp(a, b);
}

/* By application and attempt; of several logs of one attempt, the one to show first. */
static int history_log_compare_twins(const void *a, const void *b)
{
        const struct history_log *x = *(const struct history_log *const *)a, *y = *(const struct history_log *const *)b;
        int order = strcmp(x->info.app_id, y->info.app_id);
        if (!order)
                order = history_compare_texts(x->info.attempt_id, y->info.attempt_id);
        if (order)
                return order;
        if (x->files.is_complete != y->files.is_complete)
                return x->files.is_complete ? -1 : 1;
        if (x->updated_ms != y->updated_ms)
                return x->updated_ms > y->updated_ms ? -1 : 1;
        return strcmp(x->files.path, y->files.path);
}

/* By application, the newest attempts first. */
static int history_log_compare_attempts(const void *a, const void *b)
{
        const struct history_log *x = *(const struct history_log *const *)a, *y = *(const struct history_log *const *)b;
        int order = strcmp(x->info.app_id, y->info.app_id);
        if (order)
                return order;
        if (x->info.start_ms != y->info.start_ms)
                return x->info.start_ms > y->info.start_ms ? -1 : 1;
        return -history_compare_texts(x->info.attempt_id, y->info.attempt_id);
}

/* The attempts of one application in a list. */
struct history_group {
        size_t first, n;
        int64_t end_ms; /* the latest; -1: running ones only */
        const char *app_id;
};

static int history_group_compare(const void *a, const void *b)
{
        const struct history_group *x = a, *y = b;
        if (x->end_ms != y->end_ms)
                return x->end_ms > y->end_ms ? -1 : 1;
        return strcmp(y->app_id, x->app_id);
}

static int64_t history_log_end(const struct history_log *log)
{
        return log->info.has_ended ? log->info.end_ms : -1;
}

/* Removes all but the first log of each attempt from a list in the order of history_log_compare_twins. */
static void history_listing_drop_twins(struct history_log_list *list)
{
        size_t kept = 0;
        for (size_t i = 0; i < list->len; i++) {
                const struct history_info *info = &list->data[i]->info,
                                          *last = kept ? &list->data[kept - 1]->info : NULL;
                if (!last || strcmp(last->app_id, info->app_id) != 0 ||
                    !text_equals(last->attempt_id, info->attempt_id))
                        list->data[kept++] = list->data[i];
        }
        list->len = kept;
}

void history_listing_attempts(const struct history_listing *l, const char *app_id, struct history_log_list *out)
{
        struct history_log_list found = {0};
        VEC(struct history_group) groups = {0};
        for (size_t i = 0; i < l->logs.len; i++)
                if (l->logs.data[i]->has_info && (!app_id || strcmp(l->logs.data[i]->info.app_id, app_id) == 0))
                        vec_push(&found, l->logs.data[i]);
        if (found.len)
                qsort(found.data, found.len, sizeof(*found.data), history_log_compare_twins);
        history_listing_drop_twins(&found);
        if (found.len)
                qsort(found.data, found.len, sizeof(*found.data), history_log_compare_attempts);
        for (size_t i = 0; i < found.len; i++) {
                const struct history_log *log = found.data[i];
                if (!i || strcmp(found.data[i - 1]->info.app_id, log->info.app_id) != 0)
                        vec_push(&groups, (struct history_group){i, 0, -1, log->info.app_id});
                struct history_group *group = &groups.data[groups.len - 1];
                group->n++;
                group->end_ms = MAX(group->end_ms, history_log_end(log));
        }
        if (groups.len)
                qsort(groups.data, groups.len, sizeof(*groups.data), history_group_compare);
        for (size_t i = 0; i < groups.len; i++)
                for (size_t k = 0; k < groups.data[i].n; k++)
                        vec_push(out, found.data[groups.data[i].first + k]);
        vec_deinit(&found);
        vec_deinit(&groups);
}

/* ------------------------------------------------------------------------------------------------- cleaner */

static int history_log_compare_updates(const void *a, const void *b)
{
        const struct history_log *x = *(struct history_log *const *)a, *y = *(struct history_log *const *)b;
        if (x->updated_ms != y->updated_ms)
                return x->updated_ms < y->updated_ms ? -1 : 1;
        return strcmp(x->files.path, y->files.path);
}

static bool history_log_is_running(const struct history_log *log)
{
        return log->has_info && !log->files.is_complete && !log->info.has_ended;
}

/* Logs older than the limit go, running ones included if nothing was written to them for so long. Then the oldest ended
 * ones go until the number of logs is within its limit. */
void history_listing_clean(struct history_listing *l, int64_t now_ms)
{
        VEC(struct history_log *) by_age = {0};
        size_t left = l->logs.len;
        for (size_t i = 0; i < l->logs.len; i++)
                if (l->logs.data[i]->state != HISTORY_LOG_READING)
                        vec_push(&by_age, l->logs.data[i]);
        if (by_age.len)
                qsort(by_age.data, by_age.len, sizeof(*by_age.data), history_log_compare_updates);
        for (size_t i = 0; i < by_age.len; i++) {
                struct history_log *log = by_age.data[i];
                bool is_old = log->updated_ms < now_ms - l->options.max_age_ms;
                bool is_surplus = l->options.max_logs && left > l->options.max_logs && log->has_info &&
                                  !history_log_is_running(log);
                if (!is_old && !is_surplus)
                        continue;
                history_listing_act(l, HISTORY_DELETE, log);
                left--;
                for (size_t k = 0; k < l->logs.len; k++)
                        if (l->logs.data[k] == log) {
                                history_listing_remove(l, k);
                                break;
                        }
        }
        vec_deinit(&by_age);
}
