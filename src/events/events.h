/*
 * The events of an application as plain structs: the schedulers post them to the listener bus, which passes them to
 * listeners (event log, application status, web UI).
 *
 * Names and meanings are those of Spark's SparkListener events. Times are milliseconds since 1970, 0 for "not yet".
 * Durations are named with their unit. Events borrow all pointers: the bus copies them during the posting call, and a
 * listener may use them during its callback. The exception is executor_ref, which task events point to and which must
 * live until the bus is freed.
 *
 * Task starts and ends are by far the most frequent events. They are flat, so that copying a batch is one memcpy.
 * Fields for failed tasks and tasks of cached RDDs are in task_end.detail.
 */
#pragma once

#include "base/strmap.h"
#include "sched/task_state.h"
#include "sched/tasks/task_locality.h"

#include <firesteel/rdd.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* An executor as events name it: "driver" and its host in local mode. Lives until the bus is freed. */
struct executor_ref {
        const char *id;
        const char *host;
        const char *address; /* "host:port"; not in events */
        int port;
};

enum task_kind { TASK_RESULT, TASK_SHUFFLE_MAP };

/* Spark's name of the reason for which an attempt ended: "Success", "ExceptionFailure", … */
const char *task_end_reason_name(enum task_state state);

/* The part common to start and end of an attempt. */
struct task_info {
        int64_t id; /* unique in the application */
        int64_t launch_ms;
        const struct executor_ref *executor;
        int32_t stage_id, stage_attempt;
        int32_t index;   /* in its task set */
        int32_t attempt; /* of this index, from 0 */
        int32_t partition;
        uint8_t locality; /* enum task_locality */
        bool speculative;
};

struct task_start {
        struct task_info info;
};

/* The metrics of one attempt. All zero for a task that never ran. */
struct task_metrics {
        int64_t executor_deserialize_ms;
        int64_t executor_deserialize_cpu_ns;
        int64_t executor_run_ms;
        int64_t executor_cpu_ns;
        int64_t result_size; /* bytes */
        int64_t result_serialization_ms;
        int64_t jvm_gc_ms;             /* only in logs of Spark */
        int64_t peak_execution_memory; /* bytes */
        int64_t memory_bytes_spilled;
        int64_t disk_bytes_spilled;
        int64_t input_bytes, input_records;
        int64_t output_bytes, output_records;
        struct {
                int64_t remote_blocks, local_blocks;
                int64_t fetch_wait_ms;
                int64_t remote_bytes, remote_bytes_to_disk, local_bytes;
                int64_t records;
                int64_t remote_requests_ms;
        } shuffle_read;
        struct {
                int64_t bytes, records;
                int64_t write_ns;
        } shuffle_write;
};

/* The merged shuffle blocks that a task of Spark read. Firesteel has no push-based shuffle. */
struct push_read_metrics {
        int64_t corrupt_chunks, fallbacks;
        int64_t remote_blocks, local_blocks, remote_chunks, local_chunks;
        int64_t remote_bytes, local_bytes, remote_requests_ms;
};

/* The peaks of an executor's metrics, in Spark's order: bytes, counts and milliseconds. */
enum {
        PEAK_ON_HEAP_EXECUTION = 2,
        PEAK_ON_HEAP_STORAGE = 4,
        PEAK_ON_HEAP_UNIFIED = 6,
        PEAK_OTHER_RESIDENT = 15, /* "ProcessTreeOtherRSSMemory" */
        PEAK_MINOR_GCS = 16,
        PEAK_TOTAL_GC_MS = 20,
        EXECUTOR_PEAKS = 23,
};
struct executor_peaks {
        int64_t values[EXECUTOR_PEAKS];
};
extern const char *const executor_peak_names[EXECUTOR_PEAKS];

/* An accumulator of the application, after a task or a stage. Texts as Spark shows them. */
struct accumulable {
        int64_t id;
        const char *name;   /* NULL: unnamed */
        const char *update; /* NULL: of a stage */
        const char *value;
};

/*
 * The port of a block manager that listens nowhere: the driver of a local master without pages. Spark's history server
 * refuses a log with port 0.
 */
#define BLOCK_MANAGER_NO_PORT 1

/* A block manager as events name it. */
struct block_manager_ref {
        const char *executor_id;
        const char *host;
        int port; /* or BLOCK_MANAGER_NO_PORT */
};

/* The location of a stored block. */
struct block_update {
        struct block_manager_ref manager; /* not used in task_detail */
        const char *block_id;             /* "rdd_3_0", "broadcast_0_piece0" */
        enum fst_storage_level level;     /* the requested level; FST_STORAGE_NONE: the block was removed */
        int64_t memory_size, disk_size;   /* bytes */
};

struct stack_frame {
        const char *class_name; /* module or source file */
        const char *function;
        const char *file; /* may be NULL */
        int line;         /* -1: unknown */
};

/* The uncommon part of a task's end: the cause of a failure, the blocks stored. Unused fields are zero. */
struct task_detail {
        const char *class_name;       /* EXCEPTION_FAILURE: "firesteel.UserError", "firesteel.Crash" */
        const char *description;      /* EXCEPTION_FAILURE: the message, one line or more */
        const char *full_stack_trace; /* EXCEPTION_FAILURE: NULL: class name and description */
        const struct stack_frame *stack;
        size_t n_stack;
        const char *message;                    /* TASK_KILLED, FETCH_FAILED, EXECUTOR_LOST */
        struct block_manager_ref block_manager; /* FETCH_FAILED; host NULL: unknown */
        int shuffle_id;
        int64_t map_id;
        int map_index, reduce_id;
        const char *executor_id;                   /* EXECUTOR_LOST */
        int job_id;                                /* COMMIT_DENIED */
        const struct block_update *updated_blocks; /* with spark.taskMetrics.trackUpdatedBlockStatuses only */
        size_t n_updated_blocks;

        /* The rest comes from logs of Spark only. */
        const char *reason;                     /* a reason that no state stands for: "Resubmitted"; or NULL */
        int commit_partition, commit_attempt;   /* COMMIT_DENIED */
        const struct accumulable *accumulables; /* those of the application */
        size_t n_accumulables;
        const struct executor_peaks *peaks;        /* NULL: all zero */
        const struct push_read_metrics *push_read; /* NULL: all zero */
};

/* Whether an attempt has metrics: executors report none for attempts that they lost. */
enum metrics_presence { METRICS_BY_STATE, METRICS_PRESENT, METRICS_ABSENT };

struct task_end {
        struct task_info info;
        int64_t getting_result_ms; /* when the driver began to fetch a large result; 0: the status had the result */
        int64_t finish_ms;
        uint8_t kind;     /* enum task_kind */
        uint8_t state;    /* enum task_state. TASK_KILLED marks the task killed, all others but TASK_SUCCEEDED failed */
        uint8_t presence; /* enum metrics_presence */
        struct task_metrics metrics;
        const struct task_detail *detail; /* NULL for most */
};

static inline bool task_end_has_metrics(const struct task_end *e)
{
        if (e->presence != METRICS_BY_STATE)
                return e->presence == METRICS_PRESENT;
        return e->state <= TASK_FAILED_FATAL || e->state == TASK_KILLED;
}

enum rdd_determinism { RDD_DETERMINATE, RDD_UNORDERED, RDD_INDETERMINATE };

/* An operation within which others run; only in logs of Spark. */
struct rdd_scope {
        const char *id, *name;
        const struct rdd_scope *parent; /* NULL: none */
};

struct rdd_info {
        int id;
        const char *name;      /* "MapPartitionsRDD" or the user's */
        const char *call_site; /* "reduce_by_key at wordcount.c:14" */
        const char *scope;     /* the operation, which groups nodes in the DAG page; NULL: none */
        int scope_id;
        const struct rdd_scope *outer_scope; /* NULL: none */
        const int *parent_ids;
        size_t n_parents;
        enum fst_storage_level level;
        bool barrier;
        enum rdd_determinism determinism;
        int partitions;
        int cached_partitions;
        int64_t memory_size, disk_size;
};

struct stage_info {
        int id, attempt;
        const char *name; /* the call site */
        int tasks;
        const struct rdd_info *rdds; /* RDDs computed in this stage, the last one first */
        size_t n_rdds;
        const int *parent_ids;
        size_t n_parents;
        const char *details; /* a longer call site, may have several lines; NULL: as name */
        int64_t submission_ms, completion_ms;
        const char *failure_reason; /* NULL: none */
        int resource_profile;
        bool push_enabled; /* shuffle push, of Spark */
        int n_mergers;
        const struct accumulable *accumulables; /* those of the application */
        size_t n_accumulables;
};

struct application_start {
        const char *name, *id;
        int64_t ms;
        const char *user;
        const char *attempt_id;                               /* NULL: none */
        const struct strmap *driver_logs, *driver_attributes; /* NULL: none */
};

struct application_end {
        int64_t ms;
        int exit_code; /* -1: unknown */
};

/* Maps may be NULL (empty). The event log redacts. Listeners see the plain values. */
struct environment_update {
        const struct strmap *runtime; /* Spark's "JVM Information" */
        const struct strmap *spark_properties;
        const struct strmap *hadoop_properties;
        const struct strmap *system_properties;
        const struct strmap *metrics_properties;
        const struct strmap *classpath_entries; /* path → how it was added */
};

struct profile_request {
        const char *name; /* "cores", "memory", "cpus", "gpu", … */
        double amount;
        const char *discovery_script, *vendor; /* "": none; of executors */
        bool of_task;
};

struct resource_profile_added {
        int id; /* 0: the default profile */
        int executor_cores;
        int64_t executor_memory_mib, executor_offheap_mib;
        double task_cpus;
        const struct profile_request *requests; /* all of them, if the event comes from a log; NULL: those above */
        size_t n_requests;
};

struct block_manager_added {
        struct block_manager_ref manager;
        int64_t ms;
        int64_t max_on_heap_memory, max_off_heap_memory; /* bytes */
        bool is_unsplit;                                 /* an old log: max_on_heap_memory is the sum of both */
};

struct block_manager_removed {
        struct block_manager_ref manager;
        int64_t ms;
};

struct executor_added {
        const char *id, *host;
        int64_t ms;
        int total_cores;
        const struct strmap *log_urls, *attributes; /* NULL: none */
        int resource_profile;
        const struct strmap *resources; /* name → addresses, separated by commas; NULL: none */
};

struct executor_removed {
        const char *id;
        int64_t ms;
        const char *reason;
};

/* The memory that an executor uses, in bytes. */
struct executor_metrics {
        int64_t execution_memory, storage_memory;
        int64_t resident_bytes; /* of its process */
};

/* Counters of a node since it started, and of an executor's process; see exec/guard/node_sample.h. */
struct node_counters {
        int64_t ms;                      /* when they were read, since 1970; 0: not there */
        int64_t cpu_busy_ms, cpu_all_ms; /* of all processors */
        int64_t process_cpu_ms;
        int64_t memory_total, memory_available;                  /* bytes */
        int64_t disk_read, disk_written, net_received, net_sent; /* bytes */
};

/*
 * An executor's heartbeat. The event log has its node_metrics, and the peaks of each stage with
 * logStageExecutorMetrics.
 */
struct executor_metrics_update {
        const char *executor_id;
        struct executor_metrics metrics;
        struct node_counters node;
};

struct job_start {
        int id;
        int64_t ms;
        const struct stage_info *stages; /* all stages that the job needs, including skipped ones */
        size_t n_stages;
        const struct strmap *properties; /* "spark.jobGroup.id", …; NULL: none */
};

struct job_end {
        int id;
        int64_t ms;
        const char *failure; /* NULL: it succeeded */
};

struct stage_submitted {
        struct stage_info stage;
        const struct strmap *properties; /* NULL: none */
};

struct stage_completed {
        struct stage_info stage; /* failure_reason is set if it failed */
};

struct task_getting_result {
        struct task_info info;
        int64_t getting_result_ms;
};

struct block_updated {
        struct block_update block;
};

struct unpersist_rdd {
        int rdd_id;
};

/* Too many tasks failed on an executor or host, which gets no more tasks, or gets tasks again. */
struct exclusion_changed {
        int64_t ms;
        bool is_host;
        const char *id;                  /* the executor's id, or the host's name */
        int failures;                    /* failed tasks on the executor, or excluded executors on the host */
        int32_t stage_id, stage_attempt; /* the only affected stage; -1: the whole application */
        bool lifted;
};

/* A slow task gets a second attempt. Spark's event logs do not have it. */
struct speculative_submitted {
        int32_t stage_id, stage_attempt, index, partition;
};

/* No executor may run some task of a stage, or one may again. Event logs do not have it. */
struct unschedulable_changed {
        int32_t stage_id, stage_attempt;
        bool unschedulable;
};

/* Every kind but the two of tasks, which are posted in batches. */
#define EVENT_KINDS(X)                                                                                                 \
        X(application_start)                                                                                           \
        X(application_end)                                                                                             \
        X(environment_update)                                                                                          \
        X(resource_profile_added)                                                                                      \
        X(block_manager_added)                                                                                         \
        X(block_manager_removed)                                                                                       \
        X(executor_added)                                                                                              \
        X(executor_removed)                                                                                            \
        X(executor_metrics_update)                                                                                     \
        X(job_start)                                                                                                   \
        X(job_end)                                                                                                     \
        X(stage_submitted)                                                                                             \
        X(stage_completed)                                                                                             \
        X(task_getting_result)                                                                                         \
        X(unpersist_rdd)                                                                                               \
        X(exclusion_changed)                                                                                           \
        X(speculative_submitted)                                                                                       \
        X(unschedulable_changed)                                                                                       \
        X(block_updated)

/* Deep copies in the arena, except executor_ref. Maps in them are read-only. */
struct arena;
#define EVENT_COPY(kind) const struct kind *event_copy_##kind(struct arena *a, const struct kind *from);
EVENT_KINDS(EVENT_COPY)
#undef EVENT_COPY
const struct task_detail *event_copy_task_detail(struct arena *a, const struct task_detail *from);
