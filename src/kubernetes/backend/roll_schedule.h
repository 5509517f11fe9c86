/*
 * Replaces the worst executor at an interval: Spark's ExecutorRollPlugin, if spark.plugins names it, with
 * spark.kubernetes.executor.rollInterval, .rollPolicy and .minTasksPerExecutorBeforeRolling. executor_rolling.h chooses
 * the executor, which is decommissioned and replaced.
 *
 * Differs from Spark: there is no garbage collection, and heap is the peak memory of tasks. To policies on garbage
 * collection all executors are equal.
 */
#pragma once

#include "kubernetes/executors/executor_rolling.h"

#include <uv.h>

struct app_status;
struct executor_status;
struct fst_conf;
struct fst_error;
struct roll_schedule;

struct roll_schedule_options {
        uv_loop_t *loop;
        const struct fst_conf *conf; /* borrowed for the call */
        struct app_status *status;   /* borrowed */
        void (*decommission)(void *owner, const char *executor_id, const char *reason);
        void *owner;
};

/* Returns what roll_choose needs to know of an executor. The driver is one, too; its id is -1. */
struct roll_summary roll_summary_of(const struct executor_status *x);

/* Sets *@out to NULL if rolling is off. Returns 0, or -EINVAL with @error for an unknown policy. */
int roll_schedule_begin(const struct roll_schedule_options *options, struct roll_schedule **out,
                        struct fst_error *error);

/* The loop must run once more. NULL is allowed. */
void roll_schedule_end(struct roll_schedule *schedule);
