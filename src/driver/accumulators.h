/*
 * The driver's side of accumulators (firesteel/shared.h): holds the values and merges the updates of tasks.
 *
 * Each partition is counted once. For a partition of an action, the scheduler decides which success counts (sched.h:
 * task_accepted). A map task may succeed again after its output was lost, so only the first success of a partition in
 * its shuffle counts.
 *
 * Threads: any. Merging happens on the scheduler's thread.
 */
#pragma once

#include <firesteel/shared.h>

struct accumulators;
struct accumulator_updates;
struct fst_error;

/* Never NULL. */
struct accumulators *accumulators_new(void);

/* NULL is allowed. */
void accumulators_free(struct accumulators *accumulators);

/*
 * Merge one task's @updates (NULL: none), which stay the caller's. The caller makes sure that the task counts and was
 * not merged before. Returns 0, or a negative status with @error if an accumulator is unknown or the application's
 * function failed. The caller then fails the job.
 */
int accumulators_merge(struct accumulators *accumulators, const struct accumulator_updates *updates,
                       struct fst_error *error);

/*
 * The same for a success of map task @partition of shuffle @shuffle_id. Later successes of the same partition add
 * nothing.
 */
int accumulators_merge_map(struct accumulators *accumulators, int shuffle_id, int partition,
                           const struct accumulator_updates *updates, struct fst_error *error);
