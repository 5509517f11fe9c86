/*
 * The task reaper: watches killed tasks until they end (spark.task.reaper.*).
 *
 * A task ends at its next safe point, but a function that loops without one never reaches it. Every pollingInterval the
 * reaper logs the task and its function. After killTimeout it ends the task process of an isolated task, otherwise, as
 * Spark does, the whole executor (exit status 50). It also ends the executor if the end of an isolated task is not
 * reported within another killTimeout.
 *
 * It reads no clock and starts nothing: times are passed in, and its owner implements the operations. One thread.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct fst_conf;
struct fst_error;
struct task_reaper;

/* Spark's exit status of an executor after an uncaught exception. */
#define TASK_REAPER_EXIT_STATUS 50

struct task_reaper_ops {
        /*
         * Appends the activity of task @task_id in @slot to @text, of @size bytes: its function and, with @stack
         * (spark.task.reaper.threadDump), its stack.
         */
        void (*describe)(void *owner, int slot, int64_t task_id, bool stack, char *text, unsigned size);
        /*
         * Called at the timeout. Returns true if ending the task process is enough, false if the reaper must end the
         * executor.
         */
        bool (*kill_worker)(void *owner, int slot, int64_t task_id);
        void (*end_executor)(void *owner, const char *reason);
};

/*
 * Reads the settings from @conf; *@reaper is NULL with spark.task.reaper.enabled=false. Returns -EINVAL for an interval
 * of 0.
 */
int task_reaper_new(const struct fst_conf *conf, const struct task_reaper_ops *ops, void *owner,
                    struct task_reaper **reaper, struct fst_error *error);

/* All functions accept a NULL reaper and then have no effect. */
void task_reaper_free(struct task_reaper *reaper);

/* Task @task_id in @slot was killed. Repeated calls have no effect. */
void task_reaper_killed(struct task_reaper *reaper, int slot, int64_t task_id, int64_t now_ns);

/* The task has ended. Also accepts tasks that were not killed. */
void task_reaper_ended(struct task_reaper *reaper, int64_t task_id);

/* Returns the time of the next task_reaper_tick in ns; INT64_MAX: none. */
int64_t task_reaper_deadline(const struct task_reaper *reaper);
void task_reaper_tick(struct task_reaper *reaper, int64_t now_ns);
