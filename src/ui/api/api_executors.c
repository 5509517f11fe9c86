/* Executors, their threads, and other processes of the application; see api.h. */
#include "ui/api/api_internal.h"

#include <inttypes.h>
#include <stdio.h>

static void api_put_resources(struct json_out *j, const struct strmap *resources)
{
        json_begin_in(j, "resources");
        for (struct strmap_entry *e = NULL; (e = strmap_next(resources, e));) {
                json_begin_in(j, e->key);
                json_text(j, "name", e->key);
                json_list(j, "addresses");
                for (const char *at = e->value; *at;) {
                        size_t n = strcspn(at, ",");
                        _cleanup_free_ char *address = mem_strndup(at, n);
                        json_text(j, NULL, address);
                        at += n + (at[n] == ',');
                }
                json_list_end(j);
                json_end(j);
        }
        json_end(j);
}

static void api_put_stage_ids(struct json_out *j, const char *name, const struct status_executor *x)
{
        json_list(j, name);
        for (size_t i = 0; i < x->excluded_in_stages.len; i++)
                json_int(j, NULL, x->excluded_in_stages.data[i]);
        json_list_end(j);
}

static void api_put_executor_counts(struct api_call *c, const struct status_executor *x)
{
        const struct status_application *a = &c->s->application;
        struct json_out *j = &c->json;
        bool is_driver = strcmp(x->id, "driver") == 0 && a->start_ms > 0; /* its part is the whole application */
        json_text(j, "id", x->id);
        json_text(j, "hostPort", *x->host_port ? x->host_port : x->host);
        json_bool(j, "isActive", x->is_active);
        json_int(j, "rddBlocks", x->rdd_blocks);
        json_int(j, "memoryUsed", x->memory_used);
        json_int(j, "diskUsed", x->disk_used);
        json_int(j, "totalCores", x->cores);
        json_int(j, "maxTasks", x->max_tasks);
        json_int(j, "activeTasks", x->active_tasks);
        json_int(j, "failedTasks", x->failed_tasks);
        json_int(j, "completedTasks", x->completed_tasks);
        json_int(j, "totalTasks", x->total_tasks);
        json_int(j, "totalDuration", is_driver ? (a->has_ended ? a->end_ms : c->now_ms) - a->start_ms : x->duration_ms);
        json_int(j, "totalGCTime", is_driver ? x->peaks.values[PEAK_TOTAL_GC_MS] : x->gc_ms);
        json_int(j, "totalInputBytes", x->input_bytes);
        json_int(j, "totalShuffleRead", x->shuffle_read_bytes);
        json_int(j, "totalShuffleWrite", x->shuffle_write_bytes);
}

static void api_put_executor(struct api_call *c, const struct status_executor *x)
{
        struct json_out *j = &c->json;
        json_begin(j);
        api_put_executor_counts(c, x);
        json_bool(j, "isBlacklisted", x->excluded);
        json_int(j, "maxMemory", x->max_memory);
        api_put_date(j, "addTime", x->added_ms);
        if (!x->is_active)
                api_put_date(j, "removeTime", x->removed_ms);
        if (x->removed_reason)
                json_text(j, "removeReason", x->removed_reason);
        api_put_map(j, "executorLogs", &x->logs);
        if (x->has_memory_info) {
                json_begin_in(j, "memoryMetrics");
                json_int(j, "usedOnHeapStorageMemory", x->used_on_heap);
                json_int(j, "usedOffHeapStorageMemory", x->used_off_heap);
                json_int(j, "totalOnHeapStorageMemory", x->max_on_heap);
                json_int(j, "totalOffHeapStorageMemory", x->max_off_heap);
                json_end(j);
        }
        api_put_stage_ids(j, "blacklistedInStages", x);
        if (x->has_peaks)
                api_put_peaks(j, "peakMemoryMetrics", &x->peaks);
        api_put_map(j, "attributes", &x->attributes);
        api_put_resources(j, &x->resources);
        json_int(j, "resourceProfileId", x->resource_profile);
        json_bool(j, "isExcluded", x->excluded);
        api_put_stage_ids(j, "excludedInStages", x);
        json_end(j);
}

static int api_executor_compare(const void *a, const void *b)
{
        const struct status_executor *const *x = a, *const *y = b;
        return strcmp((*x)->id, (*y)->id);
}

/* Spark lists active executors by descending ids, as texts, and all of them by ascending ones. */
static void api_serve_executor_list(struct api_call *c, bool all)
{
        size_t n = 0;
        const struct status_executor **list = new_array(const struct status_executor *, c->s->executors.len);
        for (size_t i = 0; i < c->s->executors.len; i++) {
                const struct status_executor *x = c->s->executors.data[i];
                if (x->is_registered && (all || x->is_active))
                        list[n++] = x;
        }
        qsort(list, n, sizeof(*list), api_executor_compare);
        json_list(&c->json, NULL);
        for (size_t i = 0; i < n; i++)
                api_put_executor(c, list[all ? i : n - 1 - i]);
        json_list_end(&c->json);
        free(list);
}

/* --------------------------------------------------------------------------------------------------- threads */

static void api_put_thread(struct json_out *j, const struct app_thread *t)
{
        char name[128];
        json_begin(j);
        json_int(j, "threadId", t->id);
        if (t->task_id >= 0)
                snprintf(name, sizeof(name), "%s (TID %" PRId64 ")", t->name, t->task_id);
        json_text(j, "threadName", t->task_id >= 0 ? name : t->name);
        json_text(j, "threadState", t->state);
        json_begin_in(j, "stackTrace");
        json_list(j, "elems");
        for (size_t i = 0; i < t->n_stack; i++)
                json_text(j, NULL, t->stack[i]);
        if (!t->n_stack && *t->wait)
                json_text(j, NULL, t->wait);
        json_list_end(j);
        json_end(j);
        json_text(j, "blockedByLock", "");
        json_list(j, "holdingLocks");
        json_list_end(j);
        json_list(j, "synchronizers");
        json_list_end(j);
        json_list(j, "monitors");
        json_list_end(j);
        json_bool(j, "suspended", false);
        json_bool(j, "inNative", true);
        json_bool(j, "isDaemon", false);
        json_int(j, "priority", 5);
        json_end(j);
}

/* Takes a dump, without the lock of the view: it may take seconds. Returns false if there is none. */
static bool api_ask_threads(struct api_call *c, const char *executor, struct app_threads *out)
{
        if (!c->view->class->threads)
                return false;
        app_view_end(c->view);
        bool is_known = c->view->class->threads(c->view, executor, out);
        app_view_read(c->view);
        if (!is_known)
                app_threads_deinit(out);
        return is_known;
}

/* /executors/ID/threads */
static void api_serve_threads(struct api_call *c, const char *id)
{
        if (strcmp(id, "driver") != 0 && id[strspn(id, "0123456789")])
                return api_fail(c, 400, "Invalid executorId: neither 'driver' nor number.");
        if (!c->view->is_live)
                return api_fail(c, 503, "Thread dumps not available through the history server.");
        const struct status_executor *x = status_find_executor(c->s, id);
        if (!x || !x->is_registered)
                return api_fail(c, 404, "Executor does not exist.");
        if (!x->is_active)
                return api_fail(c, 400, "Executor is not active.");
        struct app_threads threads = {0};
        if (!api_ask_threads(c, id, &threads))
                return api_fail(c, 404, "No thread dump is available.");
        json_list(&c->json, NULL);
        for (size_t i = 0; i < threads.list.len; i++)
                api_put_thread(&c->json, &threads.list.data[i]);
        json_list_end(&c->json);
        app_threads_deinit(&threads);
}

/* /threads?taskId=&executorId=: the thread of a running task. */
void api_serve_task_threads(struct api_call *c, const char *rest)
{
        const char *task = form_get(c->q->query, "taskId"), *executor = form_get(c->q->query, "executorId");
        struct app_threads threads = {0};
        const struct app_thread *found = NULL;
        int64_t id;
        if (*rest)
                return api_fail_path(c);
        if (!c->view->is_live)
                return api_fail(c, 503, "Thread dumps not available through the history server.");
        if (executor && form_get_int(c->q->query, "taskId", &id) == 1 && id >= 0)
                api_ask_threads(c, executor, &threads);
        for (size_t i = 0; i < threads.list.len && !found; i++)
                if (threads.list.data[i].task_id == id)
                        found = &threads.list.data[i];
        if (found)
                api_put_thread(&c->json, found);
        else
                api_fail(c, 404, "Task '%s' is not running on Executor '%s' right now", task ? task : "0",
                         executor ? executor : "null");
        app_threads_deinit(&threads);
}

/* --------------------------------------------------------------------------------------------------- resources */

void api_serve_executors(struct api_call *c, const char *rest)
{
        if (!*rest)
                return api_serve_executor_list(c, false);
        size_t n = strcspn(rest + 1, "/");
        if (strcmp(rest + 1 + n, "/threads") != 0)
                return api_fail_path(c);
        _cleanup_free_ char *id = mem_strndup(rest + 1, n);
        api_serve_threads(c, id);
}

void api_serve_all_executors(struct api_call *c, const char *rest)
{
        if (*rest)
                api_fail_path(c);
        else
                api_serve_executor_list(c, true);
}

void api_serve_processes(struct api_call *c, const char *rest)
{
        struct json_out *j = &c->json;
        if (*rest)
                return api_fail_path(c);
        json_list(j, NULL);
        for (size_t i = 0; i < c->s->processes.len; i++) {
                const struct status_process *p = c->s->processes.data[i];
                json_begin(j);
                json_text(j, "id", p->id);
                json_text(j, "hostPort", p->host_port ? p->host_port : "");
                json_bool(j, "isActive", true);
                json_int(j, "totalCores", p->cores);
                api_put_date(j, "addTime", p->added_ms);
                api_put_map(j, "processLogs", &p->logs);
                json_end(j);
        }
        json_list_end(j);
}
