/*
 * Runs tasks on the calling thread: shared by a slot's thread and a task process.
 *
 * The pipeline of the last stage is kept, so that a batch of small tasks of one stage allocates nothing.
 */
#pragma once

#include "exec/slot.h"

struct task_runner {
        const struct exec_env *env;
        const struct shuffle_source *shuffle; /* source of shuffle data for pipelines */
        struct block_store *blocks;           /* persisted RDDs; NULL: none */
        struct task_run run;
        int64_t current;            /* id of the running task; -1: none. Atomic: other threads read it */
        int64_t began_ns;           /* when that task began (CLOCK_MONOTONIC). Atomic */
        struct stage_context *work; /* stage of the kept pipeline */
        struct pipeline *pipeline;
};

/* @env must have memory and shuffles, and live as long as the runner. */
void task_runner_init(struct task_runner *runner, const struct exec_env *env);

/* Free the state of the last stage: task_runner_drop when it is removed, task_runner_deinit at the end. */
void task_runner_drop(struct task_runner *runner);
void task_runner_deinit(struct task_runner *runner);

/*
 * Runs @n tasks of @work, which may use @resources, one after another and fills in their outcomes. A task ends at its
 * next safe point when stopped[i] is set. If @stopped is NULL, when its own flag is (both atomic). Crash reports name
 * @info of the task.
 */
void task_runner_run(struct task_runner *runner, struct stage_context *work, const struct task_resources *resources,
                     struct slot_task *tasks, int n, const int *stopped);

/* As slot_progress. Any thread. */
bool task_runner_progress(const struct task_runner *runner, struct slot_progress *progress);
