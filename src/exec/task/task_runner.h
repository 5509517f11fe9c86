/*
 * Running tasks on the calling thread: what a slot's thread and a worker process have in common.
 *
 * The pipeline of the last stage is kept, so that a run of small tasks of one stage allocates nothing.
 */
#pragma once

#include "exec/slot.h"

struct task_runner {
        const struct exec_env *env;
        const struct shuffle_source *shuffle; /* how pipelines read shuffles */
        struct block_store *blocks;           /* for persisted RDDs; NULL: none are kept */
        struct task_run run;
        int64_t current;         /* id of the task that is being run; -1: none. Atomic: others look */
        struct stage_work *work; /* of the pipeline that is kept */
        struct pipeline *pipeline;
};

/* @env lives as long as the runner, and has memory and shuffles. */
void task_runner_init(struct task_runner *runner, const struct exec_env *env);

/* Forget what is kept of the last stage, and end. */
void task_runner_drop(struct task_runner *runner);
void task_runner_deinit(struct task_runner *runner);

/*
 * Run @n tasks of @work, which may use @resources, one after another and fill in what they came to. Each ends at its next safe point once
 * stopped[i], or where @stopped is NULL its own flag, is set (atomic). @info of a task is what crash reports name.
 */
void task_runner_run(struct task_runner *runner, struct stage_work *work, const struct task_resources *resources,
                     struct slot_task *tasks, int n, const int *stopped);
