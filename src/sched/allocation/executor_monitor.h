/*
 * What the executors of an application are busy with, and since when they are not: which of them a dynamic allocation
 * (sched/allocation/executor_allocation.h) may give back.
 *
 *      struct executor_monitor *m = executor_monitor_new(&config, &ops, owner);
 *      executor_monitor_added(m, 7, 0, now);
 *      executor_monitor_task_started(m, 7, now);
 *      executor_monitor_task_ended(m, 7, stage, true, now);
 *      const int32_t *idle = executor_monitor_timed_out(m, now, &n);
 *
 * An executor on which no task runs is idle. It times out after config->idle; after config->cached if it keeps blocks
 * of persisted RDDs; after config->shuffle if it keeps map outputs and shuffles are tracked. Of several times that
 * hold, the longest counts. Map outputs that a running job may read keep it for ever.
 *
 * It is pure, as sched.h: the time is given, in nanoseconds of any monotonic clock, and nothing is called back but
 * its operations. Executors are named by their index in the scheduler, which is never used again. One thread.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct executor_monitor;

/* Times are nanoseconds, 0 or more; one that reaches past the end of time means never. */
struct executor_monitor_config {
        int64_t idle;            /* spark.dynamicAllocation.executorIdleTimeout */
        int64_t cached;          /* spark.dynamicAllocation.cachedExecutorIdleTimeout */
        int64_t shuffle;         /* spark.dynamicAllocation.shuffleTracking.timeout */
        bool shuffle_tracking;   /* ….shuffleTracking.enabled, and there is no shuffle service */
        bool service_keeps_rdds; /* spark.shuffle.service.enabled and spark.shuffle.service.fetch.rdd.enabled */
};

/* The profile of an executor of which tasks or blocks were heard before it was added. */
enum { EXECUTOR_PROFILE_UNKNOWN = -1 };

/* What it asks its owner. Every slot may be NULL. */
struct executor_monitor_ops {
        /*
         * Whether the scheduler still has this executor: a task start that comes after its executor's end is not to
         * bring it back. NULL: it always has.
         */
        bool (*is_active)(void *owner, int32_t executor);

        /* What the log calls an executor; borrowed until the next call. NULL: its number. */
        const char *(*id)(void *owner, int32_t executor);
};

/* @config is copied, @ops and @owner are borrowed. Never NULL. */
struct executor_monitor *executor_monitor_new(const struct executor_monitor_config *config,
                                              const struct executor_monitor_ops *ops, void *owner);
void executor_monitor_free(struct executor_monitor *m);

/* Forget the executors, but not the jobs and their shuffles: the cluster manager lost track of the application. */
void executor_monitor_reset(struct executor_monitor *m);

/* ------------------------------------------------------------------------------------------ what happened */

/* It registered, with a resource profile (0: the default one). Saying it twice changes no count. */
void executor_monitor_added(struct executor_monitor *m, int32_t executor, int profile, int64_t now);

/* How an executor went, by what was known of it and by the reason. */
struct executor_removals {
        int64_t gracefully_decommissioned, decommission_unfinished, driver_killed, exited_unexpectedly;
};

/*
 * It is gone. @reason (NULL: not known) is the message of its loss: "Finished decommissioning", or one that begins
 * with "Executor decommission: ", is a decommission that was carried through. False: it was not known.
 */
bool executor_monitor_removed(struct executor_monitor *m, int32_t executor, const char *reason);

/*
 * The allocation asked for the end of these executors (or saw it asked for): they are no candidates any more. Unknown
 * ones are ignored.
 */
void executor_monitor_killed(struct executor_monitor *m, const int32_t *executors, int n);
void executor_monitor_decommissioned(struct executor_monitor *m, const int32_t *executors, int n);

/* A task, or a run of them that holds one core, began or ended there. */
void executor_monitor_task_started(struct executor_monitor *m, int32_t executor, int64_t now);
void executor_monitor_task_ended(struct executor_monitor *m, int32_t executor, int stage, bool succeeded, int64_t now);

/* Partition @partition of a persisted RDD lies there in memory, on disk, in both, or (neither) no more. */
void executor_monitor_rdd_block(struct executor_monitor *m, int32_t executor, int rdd, int partition, bool in_memory,
                                bool on_disk);
void executor_monitor_rdd_unpersisted(struct executor_monitor *m, int rdd);

/* Map outputs of a shuffle came there otherwise than by a task: a decommissioned executor sent them. */
void executor_monitor_shuffle_block(struct executor_monitor *m, int32_t executor, int shuffle);
void executor_monitor_shuffle_removed(struct executor_monitor *m, int shuffle);

/* A stage of a job that writes a shuffle; stages that write none are not named. */
struct shuffle_stage {
        int stage, shuffle;
};

/* A job begins: @stages are all that it may need, those included that will be skipped. */
void executor_monitor_job_started(struct executor_monitor *m, int job, const struct shuffle_stage *stages, int n);
void executor_monitor_job_ended(struct executor_monitor *m, int job);

/* --------------------------------------------------------------------------------------------------- looks */

struct idle_executor {
        int32_t executor;
        int profile;
};

/*
 * The executors whose time is over, by index; neither those that run tasks, nor those that were asked to go. Borrowed
 * until the next call.
 */
const struct idle_executor *executor_monitor_timed_out(struct executor_monitor *m, int64_t now, int *n);

/*
 * When executor_monitor_timed_out will next have another answer if nothing happens; INT64_MIN: at once, INT64_MAX:
 * never.
 */
int64_t executor_monitor_deadline(const struct executor_monitor *m);

/* When an executor times out as things stand; INT64_MAX: not (it is busy, unknown, or kept for a job). */
int64_t executor_monitor_timeout(const struct executor_monitor *m, int32_t executor);

/* Whether no task runs there and no job needs its map outputs. */
bool executor_monitor_is_idle(const struct executor_monitor *m, int32_t executor);

enum executor_leaving { EXECUTOR_STAYS, EXECUTOR_KILLED, EXECUTOR_DECOMMISSIONED };

/* Which of executor_monitor_killed and …_decommissioned was said of it last; EXECUTOR_STAYS for unknown ones. */
enum executor_leaving executor_monitor_leaving(const struct executor_monitor *m, int32_t executor);

/* What the log calls an executor. @number is for one without an id; borrowed until the next call. */
const char *executor_monitor_id(const struct executor_monitor *m, int32_t executor, char number[static 12]);

/* The profile of an executor; EXECUTOR_PROFILE_UNKNOWN also for one that is not known. */
int executor_monitor_profile(const struct executor_monitor *m, int32_t executor);

/* How many there are of a profile, and in all, those included that were asked to go. */
struct executor_count {
        int all, killed, decommissioned;
};

struct executor_count executor_monitor_count(const struct executor_monitor *m, int profile);
struct executor_count executor_monitor_total(const struct executor_monitor *m);
struct executor_removals executor_monitor_removals(const struct executor_monitor *m);
