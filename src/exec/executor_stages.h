/*
 * The stages that an executor runs tasks of: from the bytes that the driver sent to work that slots can do.
 *
 * A stage's modules may have to be fetched and loaded first, and files, which a thread of the loop's pool does; runs
 * that come meanwhile wait. All calls and callbacks are on the loop's thread.
 */
#pragma once

#include "exec/slot.h"

#include <uv.h>

struct executor_stages;
struct stage_module;

struct executor_stages_options {
        uv_loop_t *loop;
        const struct exec_env *env;
        struct lost_executors *lost; /* who is not waited for */
        const char *executor_id;     /* which of the locations of map outputs is here */
        /* Whether all else is there that tasks want; and what makes it, on a thread of the pool. It may block. */
        bool (*is_prepared)(void *owner);
        void (*prepare)(void *owner);
        /*
         * Make sure that the module is loaded: 0, or negative with @error. On a thread of the pool; may block.
         */
        int (*load)(void *owner, const struct stage_module *module, struct fst_error *error);
        /* A run whose stage is ready, with its work; or, with work NULL, whose tasks all fail with @why. */
        void (*ready)(void *owner, struct task_batch *run, const char *why);
        void *owner;
};

/* Never NULL. @options is copied. */
struct executor_stages *executor_stages_new(const struct executor_stages_options *options);

/* The bytes of a stage, which are taken (malloc). A stage that is there already stays. */
void executor_stages_add(struct executor_stages *stages, int stage_id, int attempt, void *data, size_t len);

/* `ready` is called for @run, now or later. */
void executor_stages_run(struct executor_stages *stages, struct task_batch *run);

/* Task @task_id is not to begin, if its run waits for a stage here: whether it does. */
bool executor_stages_kill(struct executor_stages *stages, int64_t task_id);

/* Whether a run waits for its stage. */
bool executor_stages_waits(const struct executor_stages *stages);

/* Forget a stage; what runs goes on. */
void executor_stages_remove(struct executor_stages *stages, int stage_id, int attempt);

/* The loop has run to its end. NULL is allowed. */
void executor_stages_free(struct executor_stages *stages);
