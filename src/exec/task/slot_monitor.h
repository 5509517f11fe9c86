/*
 * What an executor's main thread does for its slots on a timer: hold them to the memory that there is
 * (exec/guard/memory_limit.h), and look after tasks that do not end when they are told to (exec/task/task_reaper.h).
 */
#pragma once

#include <stdint.h>

struct exec_env;
struct fst_conf;
struct fst_error;
struct slot;
struct slot_watch;

struct slot_watch_options {
        const struct fst_conf *conf; /* read once */
        struct slot *const *slots;   /* borrowed, as @env */
        int n;
        const struct exec_env *env;
        int64_t memory_limit;      /* bytes that this process may have resident; 0: only what control groups allow */
        int processes;             /* as memory_limit_options */
        const char *memory_remedy; /* ends the message about a task that is ended; borrowed. NULL: an executor's */
        /* The reaper's last word: end with TASK_REAPER_EXIT_STATUS. */
        void (*end_executor)(void *owner, const char *reason);
        /* The control group is full: end at once with EXECUTOR_EXIT_OUT_OF_MEMORY. */
        void (*end_for_memory)(void *owner, const char *reason);
        void *owner;
};

/* Negative with @error for what the configuration cannot mean. One thread for all functions. */
int slot_watch_new(const struct slot_watch_options *options, struct slot_watch **watch, struct fst_error *error);
void slot_watch_free(struct slot_watch *watch);

/* Task @task_id of slot @slot was told to end (slot_kill); a task has ended, told to or not. */
void slot_watch_killed(struct slot_watch *watch, int slot, int64_t task_id, int64_t now_ns);
void slot_watch_ended(struct slot_watch *watch, int64_t task_id);

/* Look, and do what is due; returns when to look again. */
int64_t slot_watch_tick(struct slot_watch *watch, int64_t now_ns);
