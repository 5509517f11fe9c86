/*
 * Dynamic allocation in a driver (spark.dynamicAllocation.*): what happens in its scheduler is told to
 * sched/allocation/executor_allocation.h, and what that decides is asked of the scheduler backend, which has executors
 * started and ended.
 *
 * All of it is on the scheduler's thread, but for allocation_new and allocation_start, which come before that thread is
 * started. Where dynamic allocation is off there is no struct allocation: NULL is allowed everywhere, and does nothing.
 */
#pragma once

#include "exec/slot.h"
#include "sched/allocation/executor_allocation.h"
#include "sched/job.h"
#include "sched/tasks/task_set.h"

struct allocation;
struct fst_context;
struct fst_error;
struct scheduler_backend;

/*
 * *@allocation is NULL where dynamic allocation is off: not configured, or the backend's executors cannot come and go
 * (a local master). -EINVAL with @error for a configuration that cannot be, in Spark's words. @backend is borrowed.
 */
int allocation_new(struct fst_context *sc, struct scheduler_backend *backend, struct allocation **allocation,
                   struct fst_error *error);
void allocation_free(struct allocation *a);

/* Request the executors to begin with. */
void allocation_start(struct allocation *a);

/* When allocation_tick has something to do; INT64_MAX: not before something happens. */
int64_t allocation_deadline(const struct allocation *a);

/* Request more or fewer executors, give idle ones back: to be called after cores were given work. */
void allocation_tick(struct allocation *a, int64_t now);

/* --------------------------------------------------------------------------------------------- what happened */

void allocation_job_started(struct allocation *a, const struct job *job);
void allocation_job_ended(struct allocation *a, const struct job *job);
void allocation_stage_submitted(struct allocation *a, const struct sched *sched, const struct task_set *set);
void allocation_stage_completed(struct allocation *a, const struct stage *stage);
void allocation_unschedulable(struct allocation *a, const struct task_set *set, bool yes);
void allocation_speculative(struct allocation *a, const struct task_set *set, int index);

/* All tasks of @run were launched; or have ended, with their outcomes. */
void allocation_launched(struct allocation *a, const struct task_batch *run);
void allocation_ended(struct allocation *a, const struct task_batch *run);

void allocation_executor_added(struct allocation *a, int executor);
void allocation_executor_removed(struct allocation *a, int executor, const char *reason);

/* Others want this executor gone: it is told to decommission itself, or is killed. */
void allocation_executor_leaves(struct allocation *a, int executor, bool decommissioned);

/* A block of a persisted RDD lies there, in memory or on disk, or (neither) no more. */
void allocation_rdd_block(struct allocation *a, int executor, int rdd, int partition, bool in_memory, bool on_disk);
void allocation_rdd_unpersisted(struct allocation *a, int rdd);

/* A map output of this shuffle was moved to this executor. */
void allocation_shuffle_removed(struct allocation *a, int shuffle);
void allocation_shuffle_moved(struct allocation *a, int executor, int shuffle);

/* For gauges, Spark's of ExecutorAllocationManager. Zeros where dynamic allocation is off. */
struct allocation_numbers {
        int64_t to_add, target, need; /* numberExecutorsToAdd, numberTargetExecutors, numberMaxNeededExecutors */
        int64_t all, pending_removal,
                decommissioning; /* numberAllExecutors, …PendingToRemove, …DecommissioningExecutors */
        struct executor_removals removals;
};
struct allocation_numbers allocation_numbers(const struct allocation *a);
