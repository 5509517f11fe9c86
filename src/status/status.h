/*
 * The status of an application: events go in, what pages and /api/v1 show comes out. The rules are those of Spark's
 * AppStatusListener.
 *
 * Pure: no threads, no clock, no I/O. The driver feeds it from the listener bus, a history server from an event log
 * (events/event_reader.h). Its owner holds a lock while it feeds a batch of events and while it reads; readers copy
 * what they need.
 *
 * The structs below may be read, never changed. Pointers are valid until the next event. Times are milliseconds since
 * 1970; 0 or less: not yet, or unknown.
 */
#pragma once

#include "base/arena.h"
#include "base/hash_table.h"
#include "base/vec.h"
#include "events/event_reader.h"
#include "status/node_series.h"
#include "status/columns/task_columns.h"

enum status_job_state { STATUS_JOB_RUNNING, STATUS_JOB_SUCCEEDED, STATUS_JOB_FAILED };
enum status_stage_state {
        STATUS_STAGE_PENDING,
        STATUS_STAGE_ACTIVE,
        STATUS_STAGE_COMPLETE,
        STATUS_STAGE_FAILED,
        STATUS_STAGE_SKIPPED
};

/* How many tasks were killed for one reason. */
struct status_killed {
        const char *reason;
        int64_t n;
};
typedef VEC(struct status_killed) status_killed_list;

/* The indices of a stage whose tasks succeeded at least once. */
struct status_indices {
        uint64_t *bits;
        size_t n_words;
        int64_t n; /* set bits */
};

/* A stage as one job sees it. */
struct status_job_stage {
        int id;
        bool completed, skipped;
        struct status_indices indices;
};

struct status_job {
        int id;
        enum status_job_state state;
        const char *name, *description, *group; /* the last two may be NULL */
        VEC(const char *) tags;
        const char *failure; /* NULL: none */
        int64_t submission_ms, completion_ms;
        VEC(struct status_job_stage) stages; /* in the order of the event */
        int64_t tasks;                       /* an upper bound: with those of skipped stages */
        int64_t active_tasks, completed_tasks, failed_tasks, killed_tasks, skipped_tasks;
        int64_t completed_indices;
        int active_stages, completed_stages, skipped_stages, failed_stages;
        status_killed_list killed;
        bool is_removed; /* private */
};

struct status_rdd_info {
        int id, n_parents;
        int *parent_ids;
        const char *name, *call_site, *scope;
        int scope_id;
        const struct rdd_scope *outer_scope;
        enum fst_storage_level level;
        enum rdd_determinism determinism;
        bool barrier;
        int partitions;
};

/* The part of an executor in one stage attempt. */
struct status_executor_stage {
        uint32_t executor; /* its number */
        int64_t task_ms, succeeded_tasks, failed_tasks, killed_tasks, active_tasks;
        int64_t input_bytes, input_records, output_bytes, output_records;
        int64_t shuffle_read_bytes, shuffle_read_records, shuffle_write_bytes, shuffle_write_records;
        int64_t memory_bytes_spilled, disk_bytes_spilled;
        bool excluded;
        const struct executor_peaks *peaks; /* NULL: none */
};

/* Details that few tasks have. */
struct status_task_note {
        size_t row;
        const char *error; /* NULL: none */
        const struct accumulable *accumulables;
        size_t n_accumulables;
};

/* A job that lists a stage, and the place of the stage in its list. */
struct status_stage_job {
        struct status_job *job;
        size_t place;
};

struct status_speculation {
        int64_t tasks, active, completed, failed, killed;
};

struct status_stage {
        int id, attempt;
        enum status_stage_state state;
        const char *name, *details, *description, *failure, *pool; /* description and failure may be NULL */
        int tasks;
        int64_t active_tasks, completed_tasks, failed_tasks, killed_tasks;
        int64_t submission_ms, first_launch_ms, completion_ms;
        int resource_profile, n_mergers;
        bool push_enabled;
        VEC(struct status_rdd_info) rdds;
        VEC(int) parents;
        VEC(struct status_stage_job) jobs; /* those that list it and are retained */
        struct status_indices indices;
        status_killed_list killed;
        struct task_metrics metrics; /* sums over all ended tasks, removed ones too */
        struct push_read_metrics push_metrics;
        int64_t longest_ms; /* of one attempt of a task, from launch to finish */
        struct executor_peaks peaks;
        bool has_peaks;
        VEC(struct status_executor_stage) executors; /* in the order of their first task */
        VEC(struct accumulable) accumulables;
        struct status_speculation speculation;
        int64_t submitted_speculative;      /* live only: attempts that were asked for */
        int64_t locality[LOCALITY_ANY + 1]; /* started tasks at each level */
        struct task_columns columns;
        VEC(struct status_task_note) notes; /* by row */
        int64_t lost_ends;                  /* tasks whose end was lost, known once the application has ended */

        /* Private. */
        struct arena texts;   /* errors and accumulables of tasks, peaks */
        VEC(uint32_t) places; /* by the number of an executor: 1 + its place in executors; 0: none */
};

struct status_executor {
        uint32_t number; /* in the order of appearance; never reused */
        const char *id, *host, *host_port;
        bool is_registered; /* false: only tasks name it, its event was lost */
        bool is_active, excluded, has_memory_info, has_peaks;
        int cores, max_tasks, resource_profile;
        int64_t added_ms, removed_ms;
        const char *removed_reason; /* NULL: none */
        int64_t rdd_blocks, memory_used, disk_used, max_memory;
        int64_t max_on_heap, max_off_heap, used_on_heap, used_off_heap;
        int64_t active_tasks, completed_tasks, failed_tasks, total_tasks;
        int64_t duration_ms, gc_ms, input_bytes, shuffle_read_bytes, shuffle_write_bytes;
        int64_t peak_task_memory; /* the peak execution memory of one task */
        struct executor_peaks peaks;
        VEC(int) excluded_in_stages; /* ids */
        struct strmap logs, attributes, resources;
        struct node_series *node; /* NULL: no heartbeat had the counters of its node, and no event of the log */
};

struct status_partition {
        uint32_t index;
        const char *block;
        const char *level; /* Spark's description of where it is: "Memory Deserialized 1x Replicated" */
        int64_t memory_used, disk_used;
        VEC(uint32_t) executors; /* numbers */
};

/* The part of an RDD that one executor holds. */
struct status_distribution {
        uint32_t executor;
        int64_t memory_used, disk_used, on_heap_used, off_heap_used;
};

struct status_rdd {
        int id;
        const char *name;
        const char *level; /* the description of the requested one */
        int partitions;
        int64_t memory_used, disk_used;
        VEC(struct status_partition) cached;
        VEC(struct status_distribution) distributions;
        VEC(uint32_t) places; /* private: by partition, 1 + its place in cached; 0: not cached */
};

struct status_pool {
        const char *name;
        VEC(struct status_stage *) stages; /* active ones */
};

struct status_profile {
        int id;
        double task_cpus;
        VEC(struct profile_request) requests;
};

struct status_process {
        const char *id, *host_port;
        int cores;
        int64_t added_ms;
        struct strmap logs;
};

struct status_application {
        const char *id, *name, *user, *attempt_id, *spark_version; /* NULL: not yet; attempt_id: none */
        int64_t start_ms, end_ms;
        bool has_ended;
        int exit_code; /* -1: unknown */
        struct strmap driver_logs;
        struct strmap runtime, spark_properties, hadoop_properties, system_properties, metrics_properties, classpath;
        bool has_environment;
};

/* Counts since the start, with what was removed. */
struct status_totals {
        int64_t completed_tasks, failed_tasks, killed_tasks, skipped_tasks;
        int64_t succeeded_jobs, failed_jobs, completed_stages, failed_stages, skipped_stages;
        int64_t excluded_executors, unexcluded_executors; /* by the whole application; how often */
        int64_t job_ms;                                   /* the duration of the job that succeeded last */
        int64_t lost_ends;    /* tasks of ended stages that had no end when the application ended: events were lost */
        int64_t unknown_ends; /* tasks that ended without a start, or whose stage is unknown */
};

/* 0 stands for Spark's default. */
struct status_options {
        size_t retained_jobs, retained_stages; /* 1,000 */
        size_t retained_tasks;                 /* of a stage attempt; 100,000 */
        size_t retained_dead_executors;        /* 100 */
        bool is_live;                          /* running tasks are not removed */
        bool without_details; /* keep only sums: no single tasks, and no parts of executors in stages */
};

enum { STATUS_EXECUTOR_CACHE = 64 };

struct status {
        struct status_options options;
        struct status_application application;
        VEC(struct status_job *) jobs;           /* in the order of submission */
        VEC(struct status_stage *) stages;       /* in the order of appearance */
        VEC(struct status_executor *) executors; /* in the order of appearance; dead ones too */
        VEC(struct status_rdd *) rdds;           /* in the order of appearance */
        VEC(struct status_pool) pools;
        VEC(struct status_profile) profiles;
        VEC(struct status_process *) processes;
        struct status_totals totals;
        int64_t last_event_ms; /* the latest time in an event */

        VEC(struct executor_ref) executor_names; /* id and host by the number of an executor, removed ones too */

        /* Private. */
        struct arena texts;
        struct object_table interned;
        VEC(struct status_job *) running_jobs; /* in the order of submission */
        size_t n_pending_stages;
        int greatest_stage_id; /* of all stages so far */
        struct status_stage *last_stage;
        struct status_executor_cache {
                const struct executor_ref *ref; /* NULL: free */
                struct status_executor *executor;
        } cache[STATUS_EXECUTOR_CACHE]; /* by the address of the executor_ref of a task */
        size_t n_dead;
};

/* @options NULL: the defaults. */
struct status *status_new(const struct status_options *options);
void status_free(struct status *s); /* NULL is allowed */

#define STATUS_ON(kind) void status_on_##kind(struct status *s, const struct kind *e);
EVENT_KINDS(STATUS_ON)
STATUS_ON(task_start)
STATUS_ON(task_end)
STATUS_ON(log_start)
STATUS_ON(stage_executor_metrics)
STATUS_ON(process_added)
STATUS_ON(node_metrics)
#undef STATUS_ON

/* The same as the events of the batch one after the other, but old tasks are removed after the whole batch. */
void status_on_task_start_batch(struct status *s, const struct task_event_batch *b);
void status_on_task_end_batch(struct status *s, const struct task_event_batch *b);

/* Passes an event of a log to its function above. */
void status_on_log_event(struct status *s, const struct log_event *e);

/* Return NULL if it is unknown or was removed. */
struct status_job *status_find_job(const struct status *s, int id);
struct status_stage *status_find_stage(const struct status *s, int id, int attempt);
struct status_executor *status_find_executor(const struct status *s, const char *id);
struct status_rdd *status_find_rdd(const struct status *s, int id);

/* True if the stage waits or runs. */
static inline bool status_stage_is_live(const struct status_stage *stage)
{
        return stage->state <= STATUS_STAGE_ACTIVE;
}

/* A task as pages show it. Borrowed texts. */
struct status_task {
        int64_t id, launch_ms, duration_ms, getting_result_ms; /* duration -1: it runs */
        int64_t scheduler_delay_ms, getting_result_time_ms;
        int index, attempt, partition;
        const char *executor_id, *host;
        enum task_locality locality;
        enum task_row_status status;
        bool speculative, has_metrics;
        struct task_metrics metrics;
        struct push_read_metrics push_metrics;
        const struct status_task_note *note; /* NULL: no error and no accumulables */
};
void status_get_task(const struct status *s, const struct status_stage *stage, size_t row, struct status_task *out);

/* Returns the text that Spark shows for the failure of a task, or NULL if it succeeded. The caller owns it. */
char *status_task_error(const struct task_end *e);

/* Returns Spark's description of a level: "Disk Memory Deserialized 1x Replicated". Static. */
const char *status_level_text(enum fst_storage_level level);

/* The memory that tasks take, in bytes. */
size_t status_task_bytes(const struct status *s);
