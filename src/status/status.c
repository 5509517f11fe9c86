/* The application, its executors, exclusion, and the memory of all entities; see status.h. */
#include "status/status.h"

#include "base/mem.h"
#include "status/status_internal.h"

#include <limits.h>
#include <stdio.h>

/* -------------------------------------------------------------------------------------------------- texts */

static bool status_text_is(const void *object, const void *key)
{
        return strcmp(object, key) == 0;
}

const char *status_text(struct status *s, const char *text)
{
        if (!text)
                return NULL;
        uint64_t hash = object_hash_text(text);
        char *known = object_table_find(&s->interned, hash, status_text_is, text);
        if (!known) {
                known = arena_copy(&s->texts, text, strlen(text));
                object_table_put(&s->interned, hash, known);
        }
        return known;
}

void status_copy_map(struct strmap *to, const struct strmap *from)
{
        strmap_deinit(to);
        *to = STRMAP_INIT;
        if (from)
                strmap_merge(to, from);
}

void status_raise_peaks(struct executor_peaks *peaks, const struct executor_peaks *with)
{
        for (size_t i = 0; i < EXECUTOR_PEAKS; i++)
                peaks->values[i] = MAX(peaks->values[i], with->values[i]);
}

/* -------------------------------------------------------------------------------------------- application */

void status_on_log_start(struct status *s, const struct log_start *e)
{
        s->application.spark_version = status_text(s, e->spark_version);
}

void status_on_application_start(struct status *s, const struct application_start *e)
{
        struct status_application *a = &s->application;
        status_see_time(s, e->ms);
        a->id = status_text(s, e->id);
        a->name = status_text(s, e->name);
        a->user = status_text(s, e->user);
        a->attempt_id = status_text(s, e->attempt_id);
        a->start_ms = e->ms;
        a->has_ended = false;
        status_copy_map(&a->driver_logs, e->driver_logs);
        struct status_executor *driver = e->driver_logs ? status_find_executor(s, "driver") : NULL;
        if (!driver)
                return;
        status_copy_map(&driver->logs, e->driver_logs);
        status_copy_map(&driver->attributes, e->driver_attributes);
}

void status_on_application_end(struct status *s, const struct application_end *e)
{
        status_see_time(s, e->ms);
        s->application.end_ms = e->ms;
        s->application.has_ended = true;
        s->application.exit_code = e->exit_code;
        struct status_executor *driver = status_find_executor(s, "driver");
        if (driver && !s->options.is_live) { /* as Spark's history: the driver's part is the whole application */
                driver->duration_ms = e->ms - s->application.start_ms;
                driver->gc_ms = driver->peaks.values[PEAK_TOTAL_GC_MS];
        }
        status_close_stages(s);
}

void status_on_environment_update(struct status *s, const struct environment_update *e)
{
        struct status_application *a = &s->application;
        a->has_environment = true;
        status_copy_map(&a->runtime, e->runtime);
        status_copy_map(&a->spark_properties, e->spark_properties);
        status_copy_map(&a->hadoop_properties, e->hadoop_properties);
        status_copy_map(&a->system_properties, e->system_properties);
        status_copy_map(&a->metrics_properties, e->metrics_properties);
        status_copy_map(&a->classpath, e->classpath_entries);
}

static struct status_profile *status_find_profile(struct status *s, int id)
{
        for (size_t i = 0; i < s->profiles.len; i++)
                if (s->profiles.data[i].id == id)
                        return &s->profiles.data[i];
        return NULL;
}

void status_on_resource_profile_added(struct status *s, const struct resource_profile_added *e)
{
        struct status_profile *p = status_find_profile(s, e->id);
        if (!p) {
                vec_push(&s->profiles, (struct status_profile){.id = e->id});
                p = &s->profiles.data[s->profiles.len - 1];
        }
        p->task_cpus = e->task_cpus;
        p->requests.len = 0;
        for (size_t i = 0; i < e->n_requests; i++) {
                struct profile_request q = e->requests[i];
                q.name = status_text(s, q.name);
                q.discovery_script = status_text(s, q.discovery_script);
                q.vendor = status_text(s, q.vendor);
                vec_push(&p->requests, q);
        }
        if (e->requests)
                return;
        const struct profile_request known[] = {{"cores", e->executor_cores, "", "", false},
                                                {"memory", (double)e->executor_memory_mib, "", "", false},
                                                {"offHeap", (double)e->executor_offheap_mib, "", "", false},
                                                {"cpus", e->task_cpus, "", "", true}};
        for (size_t i = 0; i < ARRAY_SIZE(known); i++)
                vec_push(&p->requests, known[i]);
}

void status_on_process_added(struct status *s, const struct process_added *e)
{
        struct status_process *p = new0(struct status_process);
        p->id = status_text(s, e->id);
        p->host_port = status_text(s, e->host_port);
        p->cores = e->cores;
        p->added_ms = e->ms;
        status_copy_map(&p->logs, e->log_urls);
        vec_push(&s->processes, p);
        status_see_time(s, e->ms);
}

/* ---------------------------------------------------------------------------------------------- executors */

struct status_executor *status_find_executor(const struct status *s, const char *id)
{
        for (size_t i = s->executors.len; i-- > 0;) /* an id may come again: the latest counts */
                if (strcmp(s->executors.data[i]->id, id) == 0)
                        return s->executors.data[i];
        return NULL;
}

struct status_executor *status_get_executor(struct status *s, const char *id, int64_t ms)
{
        struct status_executor *x = status_find_executor(s, id);
        if (x && x->is_active)
                return x;
        x = new0(struct status_executor);
        x->number = (uint32_t)s->executor_names.len;
        x->id = status_text(s, id);
        x->host = x->host_port = "";
        x->is_active = true;
        x->added_ms = ms;
        vec_push(&s->executors, x);
        vec_push(&s->executor_names, (struct executor_ref){.id = x->id, .host = x->host});
        memset(s->cache, 0, sizeof(s->cache));
        return x;
}

struct status_executor *status_executor_of_task(struct status *s, const struct task_info *info)
{
        static const struct executor_ref unknown = {.id = "", .host = ""};
        const struct executor_ref *ref = info->executor ? info->executor : &unknown;
        struct status_executor_cache *cached = &s->cache[(uintptr_t)ref / sizeof(*ref) % STATUS_EXECUTOR_CACHE];
        if (likely(ref == cached->ref))
                return cached->executor;
        struct status_executor *x = status_find_executor(s, ref->id);
        if (!x)
                x = status_get_executor(s, ref->id, info->launch_ms);
        if (!s->executor_names.data[x->number].host[0]) {
                x->host = status_text(s, ref->host);
                s->executor_names.data[x->number].host = x->host;
        }
        *cached = (struct status_executor_cache){ref, x};
        return x;
}

static void status_executor_free(struct status_executor *x)
{
        vec_deinit(&x->excluded_in_stages);
        free(x->node);
        strmap_deinit(&x->logs);
        strmap_deinit(&x->attributes);
        strmap_deinit(&x->resources);
        free(x);
}

void status_on_executor_added(struct status *s, const struct executor_added *e)
{
        struct status_executor *x = status_get_executor(s, e->id, e->ms);
        const struct status_profile *p = status_find_profile(s, e->resource_profile);
        status_see_time(s, e->ms);
        x->is_registered = true;
        x->host = status_text(s, e->host);
        s->executor_names.data[x->number].host = x->host;
        x->cores = e->total_cores;
        x->resource_profile = e->resource_profile;
        const char *cpus = strmap_get(&s->application.spark_properties, "spark.task.cpus");
        int per_task = p && p->task_cpus >= 1 ? (int)p->task_cpus : cpus ? atoi(cpus) : 1;
        x->max_tasks = x->cores / MAX(per_task, 1);
        status_copy_map(&x->logs, e->log_urls);
        status_copy_map(&x->attributes, e->attributes);
        status_copy_map(&x->resources, e->resources);
}

void status_on_block_manager_added(struct status *s, const struct block_manager_added *e)
{
        struct status_executor *x = status_get_executor(s, e->manager.executor_id, e->ms);
        char port[16];
        snprintf(port, sizeof(port), ":%d", e->manager.port);
        _cleanup_free_ char *host_port = mem_printf("%s%s", e->manager.host, port);
        status_see_time(s, e->ms);
        x->host_port = status_text(s, host_port);
        x->is_registered = true;
        if (!x->host[0]) {
                x->host = status_text(s, e->manager.host);
                s->executor_names.data[x->number].host = x->host;
        }
        x->has_memory_info = !e->is_unsplit;
        x->max_on_heap = e->max_on_heap_memory;
        x->max_off_heap = e->max_off_heap_memory;
        x->max_memory = e->max_on_heap_memory + e->max_off_heap_memory;
}

/* Spark ignores the event too: the end of the executor counts. */
void status_on_block_manager_removed(struct status *s, const struct block_manager_removed *e)
{
        status_see_time(s, e->ms);
}

/* Removes the executors that ended first, once there are more than the application may keep. */
static void status_trim_executors(struct status *s)
{
        size_t excess = status_excess(s->n_dead, s->options.retained_dead_executors), to = 0;
        if (!excess)
                return;
        for (; excess > 0; excess--) {
                struct status_executor *first = NULL;
                for (size_t i = 0; i < s->executors.len; i++) {
                        struct status_executor *x = s->executors.data[i];
                        if (x && !x->is_active && (!first || x->removed_ms < first->removed_ms)) {
                                first = x;
                                to = i;
                        }
                }
                status_executor_free(first);
                memmove(&s->executors.data[to], &s->executors.data[to + 1],
                        (s->executors.len - to - 1) * sizeof(s->executors.data[0]));
                s->executors.len--;
                s->n_dead--;
        }
        memset(s->cache, 0, sizeof(s->cache));
}

void status_on_executor_removed(struct status *s, const struct executor_removed *e)
{
        struct status_executor *x = status_find_executor(s, e->id);
        status_see_time(s, e->ms);
        if (!x || !x->is_active)
                return;
        x->is_active = false;
        x->removed_ms = e->ms;
        x->removed_reason = status_text(s, e->reason ? e->reason : "");
        s->n_dead++;
        status_forget_executor_blocks(s, x->number);
        status_trim_executors(s);
}

static void status_exclude(struct status *s, struct status_executor *x, const struct exclusion_changed *e)
{
        if (e->stage_id < 0) {
                s->totals.excluded_executors += !e->lifted;
                s->totals.unexcluded_executors += e->lifted;
                x->excluded = !e->lifted;
                return;
        }
        status_exclude_in_stage(s, x, e->stage_id, e->stage_attempt, !e->lifted);
}

void status_on_exclusion_changed(struct status *s, const struct exclusion_changed *e)
{
        status_see_time(s, e->ms);
        for (size_t i = 0; i < s->executors.len; i++) {
                struct status_executor *x = s->executors.data[i];
                bool is_driver = strcmp(x->id, "driver") == 0;
                if (x->is_active &&
                    (e->is_host ? strcmp(x->host, e->id) == 0 && !is_driver : strcmp(x->id, e->id) == 0))
                        status_exclude(s, x, e);
        }
}

void status_on_executor_metrics_update(struct status *s, const struct executor_metrics_update *e)
{
        struct status_executor *x = status_find_executor(s, e->executor_id);
        if (!x)
                return;
        struct executor_peaks now = {0};
        now.values[PEAK_ON_HEAP_EXECUTION] = e->metrics.execution_memory;
        now.values[PEAK_ON_HEAP_STORAGE] = e->metrics.storage_memory;
        now.values[PEAK_ON_HEAP_UNIFIED] = e->metrics.execution_memory + e->metrics.storage_memory;
        now.values[PEAK_OTHER_RESIDENT] = e->metrics.resident_bytes;
        x->has_peaks = true;
        status_raise_peaks(&x->peaks, &now);
        status_on_node_metrics(s,
                               &(struct node_metrics){.executor_id = e->executor_id, .node = e->node, .heartbeats = 1});
}

void status_on_node_metrics(struct status *s, const struct node_metrics *e)
{
        struct status_executor *x = status_find_executor(s, e->executor_id);
        if (!x || e->node.ms <= 0 || s->options.without_details)
                return;
        if (!x->node)
                x->node = new0(struct node_series);
        node_series_add(x->node, &e->node, e->heartbeats);
}

/* ------------------------------------------------------------------------------------------ start and end */

void status_on_log_event(struct status *s, const struct log_event *e)
{
        switch (e->type) {
#define STATUS_CASE(kind)                                                                                              \
        case EVENT_##kind:                                                                                             \
                status_on_##kind(s, &e->kind);                                                                         \
                break;
                LOG_EVENT_KINDS(STATUS_CASE)
#undef STATUS_CASE
        }
}

struct status *status_new(const struct status_options *options)
{
        struct status *s = new0(struct status);
        if (options)
                s->options = *options;
        struct status_options *o = &s->options;
        o->retained_jobs = o->retained_jobs ? o->retained_jobs : 1000;
        o->retained_stages = o->retained_stages ? o->retained_stages : 1000;
        o->retained_tasks = o->retained_tasks ? o->retained_tasks : 100000;
        o->retained_dead_executors = o->retained_dead_executors ? o->retained_dead_executors : 100;
        s->application.exit_code = -1;
        s->greatest_stage_id = INT_MIN;
        return s;
}

size_t status_task_bytes(const struct status *s)
{
        size_t bytes = 0;
        for (size_t i = 0; i < s->stages.len; i++)
                bytes += s->stages.data[i]->columns.bytes + s->stages.data[i]->texts.bytes +
                         s->stages.data[i]->notes.cap * sizeof(struct status_task_note);
        return bytes;
}

static void status_application_deinit(struct status_application *a)
{
        strmap_deinit(&a->driver_logs);
        strmap_deinit(&a->runtime);
        strmap_deinit(&a->spark_properties);
        strmap_deinit(&a->hadoop_properties);
        strmap_deinit(&a->system_properties);
        strmap_deinit(&a->metrics_properties);
        strmap_deinit(&a->classpath);
}

void status_free(struct status *s)
{
        if (!s)
                return;
        for (size_t i = 0; i < s->jobs.len; i++)
                status_job_free(s->jobs.data[i]);
        for (size_t i = 0; i < s->stages.len; i++)
                status_stage_free(s->stages.data[i]);
        for (size_t i = 0; i < s->executors.len; i++)
                status_executor_free(s->executors.data[i]);
        for (size_t i = 0; i < s->rdds.len; i++)
                status_rdd_free(s->rdds.data[i]);
        for (size_t i = 0; i < s->pools.len; i++)
                vec_deinit(&s->pools.data[i].stages);
        for (size_t i = 0; i < s->profiles.len; i++)
                vec_deinit(&s->profiles.data[i].requests);
        for (size_t i = 0; i < s->processes.len; i++) {
                strmap_deinit(&s->processes.data[i]->logs);
                free(s->processes.data[i]);
        }
        vec_deinit(&s->jobs);
        vec_deinit(&s->running_jobs);
        vec_deinit(&s->stages);
        vec_deinit(&s->executors);
        vec_deinit(&s->executor_names);
        vec_deinit(&s->rdds);
        vec_deinit(&s->pools);
        vec_deinit(&s->profiles);
        vec_deinit(&s->processes);
        status_application_deinit(&s->application);
        object_table_deinit(&s->interned);
        arena_deinit(&s->texts);
        free(s);
}
