/*
 * Dynamic allocation in the driver (spark.dynamicAllocation.*): forwards the scheduler's events to
 * sched/allocation/executor_allocation.h and its requests to the scheduler backend, which starts and stops executors.
 *
 * Threads: the scheduler's thread, except allocation_new and allocation_start, which run before that thread starts.
 * Without dynamic allocation there is no struct allocation: every function accepts NULL and does nothing.
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
struct scheduler_counts;

/*
 * Sets *@allocation to NULL if dynamic allocation is not configured, or if the backend's executors are fixed (a local
 * master). Returns 0, or -EINVAL with Spark's sentence in @error for an invalid configuration. Borrows @backend.
 */
int allocation_new(struct fst_context *sc, struct scheduler_backend *backend, struct allocation **allocation,
                   struct fst_error *error);
void allocation_free(struct allocation *a);

/* Request the initial executors. */
void allocation_start(struct allocation *a);

/* The cluster manager lost track of the application's executors, which were reported as removed: the next tick requests
 * the initial number. */
void allocation_reset(struct allocation *a);

/* When to call allocation_tick; INT64_MAX: after the next event. */
int64_t allocation_deadline(const struct allocation *a);

/* Request more or fewer executors and release idle ones. The caller offers free cores to tasks first. */
void allocation_tick(struct allocation *a, int64_t now);

/* Sets the numbers of Spark's ExecutorAllocationManager (driver_metrics.h). */
void allocation_count(const struct allocation *a, struct scheduler_counts *out);

/* --------------------------------------------------------------------------------------------- events */

void allocation_job_started(struct allocation *a, const struct job *job);
void allocation_job_ended(struct allocation *a, const struct job *job);
void allocation_stage_submitted(struct allocation *a, const struct sched *sched, const struct task_set *set);
void allocation_stage_completed(struct allocation *a, const struct stage *stage);
void allocation_unschedulable(struct allocation *a, const struct task_set *set, bool yes);
void allocation_speculative(struct allocation *a, const struct task_set *set, int index);

/* All tasks of @run were launched, or have ended with their outcomes. */
void allocation_launched(struct allocation *a, const struct task_batch *run);
void allocation_ended(struct allocation *a, const struct task_batch *run);

void allocation_executor_added(struct allocation *a, int executor, int profile);
void allocation_executor_removed(struct allocation *a, int executor, const char *reason);

/* The executor is being decommissioned, or killed, for another reason than dynamic allocation. */
void allocation_executor_leaves(struct allocation *a, int executor, bool decommissioned);

/* The executor has a block of a persisted RDD in memory or on disk, or (neither) has lost it. */
void allocation_rdd_block(struct allocation *a, int executor, int rdd, int partition, bool in_memory, bool on_disk);
void allocation_rdd_unpersisted(struct allocation *a, int rdd);

/* The shuffle's map outputs were removed, or one was moved to @executor. */
void allocation_shuffle_removed(struct allocation *a, int shuffle);
void allocation_shuffle_moved(struct allocation *a, int executor, int shuffle);
