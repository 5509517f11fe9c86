/*
 * The application's accumulators (firesteel/shared.h), on the driver: what has been added by the tasks that count.
 *
 * Exactly once: the scheduler says which success of a partition of an action counts (sched.h: task_accepted); of a map
 * task, which may succeed again after its output was lost, the first success of its partition in its shuffle counts.
 *
 * Threads: all functions from any; merging happens on the scheduler's.
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
 * What one task added, of which the caller knows that it counts, and that it does so for the first time. @updates
 * (NULL: nothing) stay the caller's. 0; or negative with @error when an accumulator is not known or the application's
 * function failed: the job is to fail.
 */
int accumulators_merge(struct accumulators *accumulators, const struct accumulator_updates *updates,
                       struct fst_error *error);

/* The same for a success of map task @partition of shuffle @shuffle_id; a further success of it adds nothing. */
int accumulators_merge_map(struct accumulators *accumulators, int shuffle_id, int partition,
                           const struct accumulator_updates *updates, struct fst_error *error);
