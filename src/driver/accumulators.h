/*
 * The driver's side of accumulators (firesteel/shared.h): holds the values and merges the updates of tasks.
 *
 * Each partition is counted once. For a partition of an action, the scheduler decides which success counts (sched.h:
 * task_accepted). A map task may succeed again after its output was lost, so only the first success of a partition in
 * its shuffle counts.
 *
 * The updates of an accumulator of byte strings go to a function of the application, which may wait for another
 * process. A thread of their own, the deliverer, calls it for one task after another, and the end of a job waits for
 * its updates. So neither the scheduler nor other jobs wait.
 *
 * Threads: any. Merging happens on the scheduler's thread.
 */
#pragma once

#include <firesteel/shared.h>

struct accumulators;
struct accumulator_updates;
struct fst_error;

/* Never NULL. @max_undelivered: bytes that may wait for the application's functions; 0: any number. */
struct accumulators *accumulators_new(int64_t max_undelivered);

/* From now on byte strings are copied when they are merged, because the journal takes them later. */
void accumulators_keep_updates(struct accumulators *accumulators);

/* NULL is allowed. */
void accumulators_free(struct accumulators *accumulators);

/* Returns true if the application has an accumulator. Any thread. */
bool accumulators_exist(struct accumulators *accumulators);

/*
 * Merge one task's @updates (NULL: none), which stay the caller's; byte strings move to the deliverer's queue, unless
 * accumulators_keep_updates was called. @job is
 * the job for which the task ran, or -1. The caller makes sure that the task counts and was not merged before. Returns
 * 0, or a negative status with @error if an accumulator is unknown, the application's function failed, or too many
 * bytes would be undelivered (-EFBIG). The caller then fails the job.
 */
int accumulators_merge(struct accumulators *accumulators, int job, struct accumulator_updates *updates,
                       struct fst_error *error);

/*
 * The same for a success of map task @partition of shuffle @shuffle_id. Later successes of the same partition add
 * nothing.
 */
int accumulators_merge_map(struct accumulators *accumulators, int job, int shuffle_id, int partition,
                           struct accumulator_updates *updates, struct fst_error *error);

/* Returns true if byte strings of @job are queued, or if the application's function refused one. */
bool accumulators_are_undelivered(struct accumulators *accumulators, int job);

/*
 * Returns false if the application has all byte strings of @job. Otherwise the deliverer calls @delivered once it has
 * those that are queued now; @failure, which @delivered owns, says why the function refused one, NULL if it took all.
 */
bool accumulators_await(struct accumulators *accumulators, int job, void (*delivered)(void *owner, char *failure),
                        void *owner);

/* Drops what is queued, ends the deliverer after its present call, and calls what waits for it. */
void accumulators_stop(struct accumulators *accumulators);
