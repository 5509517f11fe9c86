/*
 * The task reaper: watches tasks that were told to end until they do (spark.task.reaper.*).
 *
 * A task ends at its next safe point; a function that loops without one never does. Every pollingInterval the
 * reaper says which task is still there and in which function; after killTimeout it ends what holds the task: the
 * worker process of an isolated task, else, as Spark does, the whole executor (exit status 50).
 *
 * It reads no clock and starts nothing: times are passed in, deeds are operations of its owner. One thread.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct fst_conf;
struct fst_error;
struct task_reaper;

/* Spark's status of an executor that ended itself for what it cannot handle. */
#define TASK_REAPER_EXIT_STATUS 50

struct task_reaper_ops {
        /*
         * Append what task @task_id of @slot does to @text, of @size bytes: the function that it is in and, with
         * @stack (spark.task.reaper.threadDump), its stack.
         */
        void (*describe)(void *owner, int slot, int64_t task_id, bool stack, char *text, unsigned size);
        /* The time is over. True if only a worker process was ended; false: the caller ends the executor now. */
        bool (*kill_worker)(void *owner, int slot, int64_t task_id);
        void (*end_executor)(void *owner, const char *reason);
};

/* As @conf says; *@reaper is NULL with spark.task.reaper.enabled=false. -EINVAL for an interval of 0. */
int task_reaper_new(const struct fst_conf *conf, const struct task_reaper_ops *ops, void *owner,
                    struct task_reaper **reaper, struct fst_error *error);

/* Every function takes a NULL reaper, and does nothing. */
void task_reaper_free(struct task_reaper *reaper);

/* Task @task_id, in @slot, was told to end. A second time is nothing new. */
void task_reaper_killed(struct task_reaper *reaper, int slot, int64_t task_id, int64_t now_ns);

/* It has ended. Tasks that nobody kills may be told as well. */
void task_reaper_ended(struct task_reaper *reaper, int64_t task_id);

/* When task_reaper_tick is due next, in ns; INT64_MAX: never. */
int64_t task_reaper_deadline(const struct task_reaper *reaper);
void task_reaper_tick(struct task_reaper *reaper, int64_t now_ns);
