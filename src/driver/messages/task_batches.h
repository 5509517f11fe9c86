/*
 * Batches of tasks of a driver: memory that is used again. A full batch takes 86 KB, so a batch has room for its tasks
 * only, rounded up to a power of two: 40,000 running batches of one task take 18 MB. On the scheduler's thread.
 */
#pragma once

#include "exec/slot.h"

struct task_set;
struct task_launch;

#define TASK_BATCH_SIZES 9 /* 1, 2, 4, … MAX_TASK_BATCH tasks */

/* Zero-initialised. */
struct task_batches {
        struct task_batch *spare[TASK_BATCH_SIZES];
};

void task_batches_deinit(struct task_batches *batches);

/* A batch for the @n tasks of @launches, from 1 to MAX_TASK_BATCH, with what the scheduler says about them. Its `work`,
 * `executor` and `user` are not set. Never NULL. */
struct task_batch *task_batches_take(struct task_batches *batches, const struct task_set *set,
                                     const struct task_launch *launches, int n);

/* Takes back a batch, and releases its stage and what its tasks own. */
void task_batches_return(struct task_batches *batches, struct task_batch *run);
