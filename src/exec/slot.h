/*
 * A slot: one core of an executor, a thread that runs tasks one after another.
 *
 * It is given runs: up to SLOT_RUN tasks of one stage attempt. When a run is through, its outcomes are reported
 * together. The pipeline of the last stage is kept, so a run of small tasks of one stage allocates nothing.
 */
#pragma once

#include "exec/action.h"
#include "exec/stage_work.h"
#include "rdd/task_run.h"

#include <stdint.h>

enum { SLOT_RUN = 256 };

enum task_outcome_state {
        OUTCOME_SUCCESS,
        OUTCOME_FAILED,
        OUTCOME_KILLED,        /* stopped before or while it ran */
        OUTCOME_FETCH_FAILED,  /* a map output could not be read */
        OUTCOME_COMMIT_DENIED, /* another attempt has committed */
};

struct slot_task {
        /* set by who gives the run */
        struct fst_task_info info;
        int32_t index, output;
        int killed; /* atomic: set by any thread to stop the task, at its next safe point or before it runs */
        /* set by the slot */
        enum task_outcome_state state;
        int status;                  /* of a failure */
        int64_t start_ms, finish_ms; /* since 1970 */
        int64_t run_ns;
        char *message;                         /* not for success; owned by whoever takes the run */
        int fetch_shuffle, fetch_map;          /* OUTCOME_FETCH_FAILED */
        struct shuffle_output *shuffle_output; /* success of a map task: one reference */
        struct task_result result;             /* success of a result task */
        struct task_counters counters;
};

struct slot_run {
        struct slot_run *next;
        struct stage_work *work; /* one reference */
        int slot;
        int n;
        void *user;
        struct slot_task tasks[SLOT_RUN];
};

struct slot;

/* Called on the slot's thread when a run is through; takes the run over. */
typedef void (*slot_done_fn)(void *owner, struct slot_run *run);

/* Start a slot's thread. Negative with @error when there can be no thread. */
int slot_new(int index, const struct exec_env *env, slot_done_fn done, void *owner, struct slot **slot,
             struct fst_error *error);

/* Whether the calling thread is a slot's: there, waiting for a job could wait for itself. */
bool slot_is_this_thread(void);

/* Give a run to an idle slot. */
void slot_give(struct slot *slot, struct slot_run *run);

/* End the thread, after the run that it was given, if there is one. NULL is allowed. */
void slot_free(struct slot *slot);
