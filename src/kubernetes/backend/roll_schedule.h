/*
 * Executors that are replaced now and then, the worst one each time: Spark's ExecutorRollPlugin, if spark.plugins names
 * it, with spark.kubernetes.executor.rollInterval, .rollPolicy and .minTasksPerExecutorBeforeRolling. Which one is the
 * worst says executor_roll.h; the executor is decommissioned, and another one comes for it.
 *
 * Garbage is not collected here, and the heap is what tasks have used at most: policies that look at the former find
 * all executors alike.
 */
#pragma once

#include <uv.h>

struct app_status;
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

/* *@out NULL: nothing is to be rolled. 0, or -EINVAL with @error for a policy that there is not. */
int roll_schedule_begin(const struct roll_schedule_options *options, struct roll_schedule **out,
                        struct fst_error *error);

/* The loop has to turn. NULL is allowed. */
void roll_schedule_end(struct roll_schedule *schedule);
