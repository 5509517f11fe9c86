/*
 * A task set: the tasks of one stage attempt ("stage 1.0"), which of them are pending, running, done, failed.
 *
 * Read by the driver, written by the task scheduler. A zombie launches nothing any more; it stays until its
 * running tasks have ended.
 */
#pragma once

#include "sched/sched.h"
#include "sched/stage.h"

struct task_set {
        struct stage *stage;
        int stage_id;
        int attempt;      /* of the stage */
        int n;            /* tasks */
        int32_t *outputs; /* index → output (sched.h, task_launch); NULL: the same */
        char id[24];      /* "1.0" */
        const char *pool; /* borrowed from the pool */
        int cpus;         /* cores that each run takes */
        int n_running;    /* attempts launched and not ended */
        int n_succeeded;
        int n_failed;     /* attempts that failed, for progress */
        bool zombie;
        int64_t submitted;
        void *user;       /* the driver's; NULL at first */
};

static inline int task_set_output(const struct task_set *set, int index)
{
        return set->outputs ? set->outputs[index] : index;
}

/* The partition of stage->lineage that task @index computes. */
static inline int task_set_partition(const struct task_set *set, int index)
{
        int output = task_set_output(set, index);

        return stage_is_result(set->stage) ? job_partition(set->stage->job, output) : output;
}
