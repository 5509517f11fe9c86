/*
 * Monitors an executor's slots on a timer of its main thread: memory limits (exec/guard/memory_limit.h), and killed
 * tasks that do not end (exec/task/task_reaper.h).
 */
#pragma once

#include <stdint.h>

struct exec_env;
struct fst_conf;
struct fst_error;
struct slot;
struct slot_monitor;

struct slot_monitor_options {
        const struct fst_conf *conf; /* read once, at creation */
        struct slot *const *slots;   /* borrowed, as is @env */
        int n;                       /* 0: only the memory of the process, a driver without tasks */
        const struct exec_env *env;
        int64_t memory_limit; /* limit of resident bytes; 0: only that of control groups */
        int processes;        /* as memory_limit_options */
        const char
                *memory_remedy; /* end of the message about a failed task; borrowed. NULL: the text for an executor */
        /* Called by the reaper: exit with TASK_REAPER_EXIT_STATUS. */
        void (*end_executor)(void *owner, const char *reason);
        /* Called when the control group is full: exit at once with EXECUTOR_EXIT_OUT_OF_MEMORY. */
        void (*end_for_memory)(void *owner, const char *reason);
        void *owner;
};

/* Returns negative with @error for an invalid configuration. One thread for all functions. */
int slot_monitor_new(const struct slot_monitor_options *options, struct slot_monitor **watch, struct fst_error *error);
void slot_monitor_free(struct slot_monitor *watch);

/*
 * slot_monitor_killed: slot_kill was called for task @task_id of slot @slot. slot_monitor_ended: a task has ended,
 * killed or not.
 */
void slot_monitor_killed(struct slot_monitor *watch, int slot, int64_t task_id, int64_t now_ns);
void slot_monitor_ended(struct slot_monitor *watch, int64_t task_id);

/* Checks everything that is due and returns the time of the next call. */
int64_t slot_monitor_tick(struct slot_monitor *watch, int64_t now_ns);
