/*
 * A slot: one core of an executor, which runs tasks one after another: on a thread, or in a worker process that a
 * thread waits for (exec/isolation/isolation.h says which; whoever gives runs need not know).
 *
 * It is given runs: up to SLOT_RUN tasks of one stage attempt. When a run is through, its outcomes are reported
 * together. The pipeline of the last stage is kept, so a run of small tasks of one stage allocates nothing.
 */
#pragma once

#include "base/buf.h"
#include "exec/actions/action.h"
#include "exec/actions/stage_context.h"
#include "rdd/pipeline/task_resources.h"
#include "rdd/pipeline/task_run.h"

#include <stdint.h>

enum { SLOT_RUN = 256 };

enum task_outcome_state {
        OUTCOME_SUCCESS,
        OUTCOME_FAILED,
        OUTCOME_KILLED,        /* stopped before or while it ran */
        OUTCOME_FETCH_FAILED,  /* a map output could not be read */
        OUTCOME_COMMIT_DENIED, /* another attempt has committed */
        OUTCOME_LOST,          /* its executor is gone: said by the driver alone */
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
        int fetch_executor;                    /* likewise: the scheduler's index; -1 if not known */
        struct shuffle_output *shuffle_output; /* success of a map task: one reference */
        struct task_result result;             /* success of a result task */
        struct buf
                encoded; /* instead of `result` when `is_encoded`: it comes from a worker. Owned by who takes the run */
        bool is_encoded;
        uint64_t result_waits; /* bytes of a large result that is still where the task ran; 0: none is */
        struct task_counters counters;
        struct accumulator_updates *accumulated; /* success: what it added; NULL: nothing. Owned by who takes the run */
};

struct task_batch {
        struct task_batch *next;
        struct stage_work *work; /* one reference */
        int executor;            /* the scheduler's index; the driver's business */
        int slot;
        bool lost_by_app;   /* with OUTCOME_LOST: its tasks are to blame */
        bool crash_suspect; /* may crash: runs in a worker process if there can be one, whatever kind the slot is of */
        uint8_t locality;   /* enum task_locality; the driver's business */
        bool speculative;   /* likewise */
        int n;
        struct task_resources resources; /* that the tasks may use; owned by whoever has the run */
        void *user;
        struct slot_task tasks[SLOT_RUN];
};

struct slot;

/* Called on the slot's thread when a run is through; takes the run over. */
typedef void (*slot_done_fn)(void *owner, struct task_batch *run);

/* Start a slot's thread. Negative with @error when there can be no thread. */
int slot_new(int index, const struct exec_env *env, slot_done_fn done, void *owner, struct slot **slot,
             struct fst_error *error);

/* Give a run to an idle slot. */
void slot_submit(struct slot *slot, struct task_batch *run);

/*
 * Tell a task that was given to this slot to end, at its next safe point; with @interrupt its worker process is ended
 * if it does not soon (a thread has no such end). Nothing if the task is not here. Any thread.
 */
void slot_kill(struct slot *slot, int64_t task_id, bool interrupt);

/* The same, but the task's outcome is a failure with @message, unless it ends by itself before. Any thread. */
void slot_fail(struct slot *slot, int64_t task_id, const char *message);

/* Whether its tasks run in a process of their own now: a worker may be ended without harm to others. Any thread. */
bool slot_is_isolated(struct slot *slot);

/* What the slot does at the moment. Any thread. */
struct slot_activity {
        int64_t task_id;    /* -1: idle */
        int worker_pid;     /* 0: a thread of this process */
        char function[160]; /* of the user's that is being called; "": none, or not known */
        int64_t memory;     /* bytes that the task holds: of execution memory, or its worker's whole process */
        int thread;         /* its thread's id, for stack dumps */
};
void slot_activity(struct slot *slot, struct slot_activity *activity);

/* End the thread, after the run that it was given, if there is one. NULL is allowed. */
void slot_free(struct slot *slot);
