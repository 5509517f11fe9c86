/* Tracks which executors are idle and since when: dynamic allocation (sched/allocation/executor_allocation.h) may
 * remove them.
 *
 *      struct executor_monitor *m = executor_monitor_new(&config);
 *      executor_monitor_added(m, 7, "7", 0, now);
 *      executor_monitor_task_started(m, 7, now);
 *      executor_monitor_task_ended(m, 7, stage, true, now);
 *      const int32_t *idle = executor_monitor_timed_out(m, now, &n);
 *
 * An executor that runs no task is idle. It times out after config->idle; after config->cached if it has blocks of
 * persisted RDDs; after config->shuffle if it has map outputs and shuffles are tracked. The longest applicable
 * timeout counts. Map outputs that a running job may read keep it forever.
 *
 * It is pure, as sched.h: callers pass the time, in nanoseconds of a monotonic clock, and it calls only its
 * operations. Executors are named by their index in the scheduler, which is never reused. One thread.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct executor_monitor;

/* Times are nanoseconds, 0 or more. A deadline that overflows means never. */
struct executor_monitor_config {
        int64_t idle;            /* spark.dynamicAllocation.executorIdleTimeout */
        int64_t cached;          /* spark.dynamicAllocation.cachedExecutorIdleTimeout */
        int64_t shuffle;         /* spark.dynamicAllocation.shuffleTracking.timeout */
        bool shuffle_tracking;   /* ….shuffleTracking.enabled, and there is no shuffle service */
        bool service_keeps_rdds; /* spark.shuffle.service.enabled and spark.shuffle.service.fetch.rdd.enabled */
};

/* The profile of an executor whose tasks or blocks were reported before it was added. */
enum { EXECUTOR_PROFILE_UNKNOWN = -1 };

/* @config is copied. Never NULL. */
struct executor_monitor *executor_monitor_new(const struct executor_monitor_config *config);
void executor_monitor_free(struct executor_monitor *m);

/* Forgets the executors, but not jobs and shuffles: the cluster manager lost track of the application. */
void executor_monitor_reset(struct executor_monitor *m);

/* ------------------------------------------------------------------------------------------ what happened */

/* The executor registered, with a resource profile (0: the default one). @id names it in the log; copied, NULL: its
 * index. A repeated call changes no count.
 */
void executor_monitor_added(struct executor_monitor *m, int32_t executor, const char *id, int profile, int64_t now);

/* Counts of removed executors, by reason. */
struct executor_removals {
        int64_t gracefully_decommissioned, decommission_unfinished, driver_killed, exited_unexpectedly;
};

/* The executor was removed. @reason (NULL: unknown) is the message of its loss: "Finished decommissioning", or one
 * that begins with "Executor decommission: ", is a completed decommission. Later events of the executor are ignored.
 * Returns false for an unknown executor.
 */
bool executor_monitor_removed(struct executor_monitor *m, int32_t executor, const char *reason);

/* These executors are being removed, by the allocation or by others, so they are not candidates. Ignores unknown
 * ones.
 */
void executor_monitor_killed(struct executor_monitor *m, const int32_t *executors, int n);
void executor_monitor_decommissioned(struct executor_monitor *m, const int32_t *executors, int n);

/* A task, or a run of tasks that holds one core, began or ended there. */
void executor_monitor_task_started(struct executor_monitor *m, int32_t executor, int64_t now);
void executor_monitor_task_ended(struct executor_monitor *m, int32_t executor, int stage, bool succeeded, int64_t now);

/* Partition @partition of a persisted RDD is there in memory, on disk, in both, or (neither) no longer. */
void executor_monitor_rdd_block(struct executor_monitor *m, int32_t executor, int rdd, int partition, bool in_memory,
                                bool on_disk);
void executor_monitor_rdd_unpersisted(struct executor_monitor *m, int rdd);

/* Map outputs of a shuffle arrived there from a decommissioned executor instead of a task. */
void executor_monitor_shuffle_block(struct executor_monitor *m, int32_t executor, int shuffle);
void executor_monitor_shuffle_removed(struct executor_monitor *m, int shuffle);

/* A stage of a job that writes a shuffle. Other stages are omitted. */
struct shuffle_stage {
        int stage, shuffle;
};

/* A job begins: @stages are all that it may need, including those that will be skipped. */
void executor_monitor_job_started(struct executor_monitor *m, int job, const struct shuffle_stage *stages, int n);
void executor_monitor_job_ended(struct executor_monitor *m, int job);

/* --------------------------------------------------------------------------------------------------- looks */

struct idle_executor {
        int32_t executor;
        int profile;
};

/* The executors that have timed out, by index, without those that run tasks or are being removed. Borrowed until the
 * next call.
 */
const struct idle_executor *executor_monitor_timed_out(struct executor_monitor *m, int64_t now, int *n);

/* When the result of executor_monitor_timed_out changes next without other events; INT64_MIN: now, INT64_MAX: never.
 */
int64_t executor_monitor_deadline(const struct executor_monitor *m);

/* For tests: when the executor times out; INT64_MAX: never (it is busy, unknown, or kept for a job). */
int64_t executor_monitor_timeout(const struct executor_monitor *m, int32_t executor);

/* Returns true if no task runs there and no job needs its map outputs. */
bool executor_monitor_is_idle(const struct executor_monitor *m, int32_t executor);

enum executor_leaving { EXECUTOR_STAYS, EXECUTOR_KILLED, EXECUTOR_DECOMMISSIONED };

/* For tests: the last of executor_monitor_killed and …_decommissioned for it; EXECUTOR_STAYS for unknown ones. */
enum executor_leaving executor_monitor_leaving(const struct executor_monitor *m, int32_t executor);

/* The executor's name in the log. @number is for one without an id. Borrowed until the next call. */
const char *executor_monitor_id(const struct executor_monitor *m, int32_t executor, char number[static 12]);

/* For tests: the profile of an executor; EXECUTOR_PROFILE_UNKNOWN also for an unknown executor. */
int executor_monitor_profile(const struct executor_monitor *m, int32_t executor);

/* Number of executors of a profile, and in all, including those being removed. */
struct executor_count {
        int all, killed, decommissioned;
};

struct executor_count executor_monitor_count(const struct executor_monitor *m, int profile);
struct executor_count executor_monitor_total(const struct executor_monitor *m);
struct executor_removals executor_monitor_removals(const struct executor_monitor *m);
