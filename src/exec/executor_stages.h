/*
 * The stages of an executor's tasks: decodes the driver's bytes for slots.
 *
 * A thread of the loop's pool may first fetch a stage that the driver broadcasts, and fetch and load modules and files.
 * Batches that arrive meanwhile wait. All calls and callbacks are on the loop's thread. The value of a broadcast stays
 * for other executors until the stage is removed.
 */
#pragma once

#include "exec/slot.h"

#include <uv.h>

struct executor_stages;
struct stage_module;

struct executor_stages_options {
        uv_loop_t *loop;
        const struct exec_env *env;
        struct lost_executors *lost; /* executors whose map outputs are not waited for */
        const char *executor_id;     /* identifies local map outputs */
        /*
         * is_prepared: true if files and other prerequisites of tasks are present. prepare: creates them, on a thread
         * of the pool; may block.
         */
        bool (*is_prepared)(void *owner);
        void (*prepare)(void *owner);
        /* Loads the module if needed. Returns 0, or negative with @error. On a thread of the pool; may block. */
        int (*load)(void *owner, const struct stage_module *module, struct fst_error *error);
        /* The stage of @run is ready and its work is set. With work NULL all its tasks fail with @why. */
        void (*ready)(void *owner, struct task_batch *run, const char *why);
        void *owner;
};

/* Never NULL. @options is copied. */
struct executor_stages *executor_stages_new(const struct executor_stages_options *options);

/* Identifies the job of a stage in the driver's journal, as stage_context. */
struct stage_journal {
        uint64_t job, signature;
};

/* The bytes of a stage: those at @data (malloc), or if that is NULL the broadcast value of this id. */
struct stage_bytes {
        void *data;
        size_t len;
        int64_t broadcast;
};

/* Adds an encoded stage and takes its memory. A stage that exists already stays. */
void executor_stages_add(struct executor_stages *stages, int stage_id, int attempt, struct stage_journal journal,
                         const struct stage_bytes *bytes);

/* Calls `ready` for @run, now or later. */
void executor_stages_run(struct executor_stages *stages, struct task_batch *run);

/* Keeps task @task_id from starting. Returns true if its batch waits for a stage here. */
bool executor_stages_kill(struct executor_stages *stages, int64_t task_id);

/* True if a batch waits for its stage. */
bool executor_stages_waits(const struct executor_stages *stages);

/* Removes a stage. Running tasks continue. */
void executor_stages_remove(struct executor_stages *stages, int stage_id, int attempt);

/* Removes all stages: another driver gives other ids. */
void executor_stages_clear(struct executor_stages *stages);

/* Call it after the loop has ended. NULL is allowed. */
void executor_stages_free(struct executor_stages *stages);
