/*
 * Deep copies of events into an arena, so that a producer may free its memory after posting.
 *
 * A copy points into the arena and to executor_ref only. Copied maps are read-only: their memory belongs to the arena,
 * so they are neither changed nor deinitialised.
 */
#include "events/events.h"

#include "base/arena.h"

const char *task_end_reason_name(enum task_state state)
{
        static const char *const names[] = {
                [TASK_SUCCEEDED] = "Success",
                [TASK_FAILED] = "ExceptionFailure",
                [TASK_FAILED_FATAL] = "ExceptionFailure",
                [TASK_FETCH_FAILED] = "FetchFailed",
                [TASK_KILLED] = "TaskKilled",
                [TASK_COMMIT_DENIED] = "TaskCommitDenied",
                [TASK_EXECUTOR_LOST] = "ExecutorLostFailure",
                [TASK_PREEMPTED] = "ExecutorLostFailure",
                [TASK_RUNNING] = "UnknownReason",
        };
        return names[state];
}

const char *const executor_peak_names[EXECUTOR_PEAKS] = {
        "JVMHeapMemory",
        "JVMOffHeapMemory",
        "OnHeapExecutionMemory",
        "OffHeapExecutionMemory",
        "OnHeapStorageMemory",
        "OffHeapStorageMemory",
        "OnHeapUnifiedMemory",
        "OffHeapUnifiedMemory",
        "DirectPoolMemory",
        "MappedPoolMemory",
        "ProcessTreeJVMVMemory",
        "ProcessTreeJVMRSSMemory",
        "ProcessTreePythonVMemory",
        "ProcessTreePythonRSSMemory",
        "ProcessTreeOtherVMemory",
        "ProcessTreeOtherRSSMemory",
        "MinorGCCount",
        "MinorGCTime",
        "MajorGCCount",
        "MajorGCTime",
        "TotalGCTime",
        "ConcurrentGCCount",
        "ConcurrentGCTime",
};

static void *event_copy_bytes(struct arena *a, const void *data, size_t size)
{
        return data && size ? memcpy(arena_alloc(a, size), data, size) : NULL;
}

#define copy_array(a, data, n) event_copy_bytes((a), (data), (n) * sizeof(*(data)))

static const char *event_copy_text(struct arena *a, const char *text)
{
        return text ? arena_copy(a, text, strlen(text)) : NULL;
}

static const struct strmap *event_copy_map(struct arena *a, const struct strmap *from)
{
        if (!from)
                return NULL;
        struct strmap *m = event_copy_bytes(a, from, sizeof(*from));
        m->entries = copy_array(a, from->entries, from->len);
        m->slots = copy_array(a, from->slots, from->n_slots);
        m->cap = m->len;
        for (size_t i = 0; i < m->len; i++) {
                m->entries[i].key = (char *)event_copy_text(a, m->entries[i].key);
                m->entries[i].value = (char *)event_copy_text(a, m->entries[i].value);
        }
        return m;
}

static struct block_manager_ref event_copy_manager(struct arena *a, struct block_manager_ref m)
{
        m.executor_id = event_copy_text(a, m.executor_id);
        m.host = event_copy_text(a, m.host);
        return m;
}

static struct block_update event_copy_block(struct arena *a, struct block_update b)
{
        b.manager = event_copy_manager(a, b.manager);
        b.block_id = event_copy_text(a, b.block_id);
        return b;
}

static const struct accumulable *event_copy_accumulables(struct arena *a, const struct accumulable *from, size_t n)
{
        struct accumulable *copies = copy_array(a, from, n);
        for (size_t i = 0; i < n; i++) {
                copies[i].name = event_copy_text(a, copies[i].name);
                copies[i].update = event_copy_text(a, copies[i].update);
                copies[i].value = event_copy_text(a, copies[i].value);
        }
        return copies;
}

static const struct rdd_scope *event_copy_scope(struct arena *a, const struct rdd_scope *from)
{
        const struct rdd_scope *first = NULL, **last = &first;
        for (; from; from = from->parent) {
                struct rdd_scope *s = event_copy_bytes(a, from, sizeof(*from));
                s->id = event_copy_text(a, from->id);
                s->name = event_copy_text(a, from->name);
                *last = s;
                last = &s->parent;
        }
        return first;
}

static struct stage_info event_copy_stage(struct arena *a, struct stage_info s)
{
        s.name = event_copy_text(a, s.name);
        s.details = event_copy_text(a, s.details);
        s.failure_reason = event_copy_text(a, s.failure_reason);
        s.parent_ids = copy_array(a, s.parent_ids, s.n_parents);
        struct rdd_info *rdds = copy_array(a, s.rdds, s.n_rdds);
        for (size_t i = 0; i < s.n_rdds; i++) {
                rdds[i].name = event_copy_text(a, rdds[i].name);
                rdds[i].call_site = event_copy_text(a, rdds[i].call_site);
                rdds[i].scope = event_copy_text(a, rdds[i].scope);
                rdds[i].outer_scope = event_copy_scope(a, rdds[i].outer_scope);
                rdds[i].parent_ids = copy_array(a, rdds[i].parent_ids, rdds[i].n_parents);
        }
        s.rdds = rdds;
        s.accumulables = event_copy_accumulables(a, s.accumulables, s.n_accumulables);
        return s;
}

const struct task_detail *event_copy_task_detail(struct arena *a, const struct task_detail *from)
{
        struct task_detail *d = event_copy_bytes(a, from, sizeof(*from));
        d->class_name = event_copy_text(a, d->class_name);
        d->description = event_copy_text(a, d->description);
        d->full_stack_trace = event_copy_text(a, d->full_stack_trace);
        d->message = event_copy_text(a, d->message);
        d->executor_id = event_copy_text(a, d->executor_id);
        d->block_manager = event_copy_manager(a, d->block_manager);
        struct stack_frame *stack = copy_array(a, d->stack, d->n_stack);
        for (size_t i = 0; i < d->n_stack; i++) {
                stack[i].class_name = event_copy_text(a, stack[i].class_name);
                stack[i].function = event_copy_text(a, stack[i].function);
                stack[i].file = event_copy_text(a, stack[i].file);
        }
        d->stack = stack;
        struct block_update *blocks = copy_array(a, d->updated_blocks, d->n_updated_blocks);
        for (size_t i = 0; i < d->n_updated_blocks; i++)
                blocks[i] = event_copy_block(a, blocks[i]);
        d->updated_blocks = blocks;
        d->reason = event_copy_text(a, d->reason);
        d->accumulables = event_copy_accumulables(a, d->accumulables, d->n_accumulables);
        d->peaks = event_copy_bytes(a, d->peaks, sizeof(*d->peaks));
        d->push_read = event_copy_bytes(a, d->push_read, sizeof(*d->push_read));
        return d;
}

/* An event_copy_KIND for each kind: copies the struct, then everything it points to. */
#define COPY(kind, ...)                                                                                                \
        const struct kind *event_copy_##kind(struct arena *a, const struct kind *from)                                 \
        {                                                                                                              \
                struct kind *e = event_copy_bytes(a, from, sizeof(*from));                                             \
                __VA_ARGS__;                                                                                           \
                return e;                                                                                              \
        }

COPY(application_start, e->name = event_copy_text(a, e->name), e->id = event_copy_text(a, e->id),
     e->user = event_copy_text(a, e->user), e->attempt_id = event_copy_text(a, e->attempt_id),
     e->driver_logs = event_copy_map(a, e->driver_logs), e->driver_attributes = event_copy_map(a, e->driver_attributes))
COPY(application_end, )
COPY(environment_update, e->runtime = event_copy_map(a, e->runtime),
     e->spark_properties = event_copy_map(a, e->spark_properties),
     e->hadoop_properties = event_copy_map(a, e->hadoop_properties),
     e->system_properties = event_copy_map(a, e->system_properties),
     e->metrics_properties = event_copy_map(a, e->metrics_properties),
     e->classpath_entries = event_copy_map(a, e->classpath_entries))
COPY(block_manager_added, e->manager = event_copy_manager(a, e->manager))
COPY(block_manager_removed, e->manager = event_copy_manager(a, e->manager))
COPY(executor_added, e->id = event_copy_text(a, e->id), e->host = event_copy_text(a, e->host),
     e->log_urls = event_copy_map(a, e->log_urls), e->attributes = event_copy_map(a, e->attributes),
     e->resources = event_copy_map(a, e->resources))
COPY(executor_removed, e->id = event_copy_text(a, e->id), e->reason = event_copy_text(a, e->reason))
COPY(executor_metrics_update, e->executor_id = event_copy_text(a, e->executor_id))
COPY(job_end, e->failure = event_copy_text(a, e->failure))
COPY(stage_submitted, e->stage = event_copy_stage(a, e->stage), e->properties = event_copy_map(a, e->properties))
COPY(stage_completed, e->stage = event_copy_stage(a, e->stage))
COPY(task_getting_result, )
COPY(unpersist_rdd, )
COPY(exclusion_changed, e->id = event_copy_text(a, e->id))
COPY(speculative_submitted, )
COPY(unschedulable_changed, )
COPY(block_updated, e->block = event_copy_block(a, e->block))

const struct job_start *event_copy_job_start(struct arena *a, const struct job_start *from)
{
        struct job_start *e = event_copy_bytes(a, from, sizeof(*from));
        struct stage_info *stages = copy_array(a, e->stages, e->n_stages);
        for (size_t i = 0; i < e->n_stages; i++)
                stages[i] = event_copy_stage(a, stages[i]);
        e->stages = stages;
        e->properties = event_copy_map(a, e->properties);
        return e;
}

const struct resource_profile_added *event_copy_resource_profile_added(struct arena *a,
                                                                       const struct resource_profile_added *from)
{
        struct resource_profile_added *e = event_copy_bytes(a, from, sizeof(*from));
        struct profile_request *requests = copy_array(a, e->requests, e->n_requests);
        for (size_t i = 0; i < e->n_requests; i++) {
                requests[i].name = event_copy_text(a, requests[i].name);
                requests[i].discovery_script = event_copy_text(a, requests[i].discovery_script);
                requests[i].vendor = event_copy_text(a, requests[i].vendor);
        }
        e->requests = requests;
        return e;
}
