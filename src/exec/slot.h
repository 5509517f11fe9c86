/*
 * A slot: one core of an executor. It runs tasks one after another, on a thread, or in a task process for which the
 * thread waits (see exec/isolation/isolation.h).
 *
 * It receives batches of up to MAX_TASK_BATCH tasks of one stage attempt. The outcomes of a batch are reported
 * together. The slot keeps the pipeline of the last stage, so a batch of small tasks of one stage allocates nothing. It
 * frees it after half a second without tasks.
 */
#pragma once

#include "base/buf.h"
#include "exec/actions/action.h"
#include "exec/actions/stage_context.h"
#include "rdd/pipeline/task_resources.h"
#include "rdd/pipeline/task_run.h"
#include "sched/task_state.h"

#include <stdint.h>

enum { MAX_TASK_BATCH = 256 };

struct slot_task {
        /* set by the submitter of the batch */
        struct fst_task_info info;
        int32_t index, output;
        int killed; /* atomic: any thread sets it to end the task, before it runs or at its next safe point */
        /* set by the slot */
        enum task_state state;
        int status;                  /* error of a failure */
        int64_t start_ms, finish_ms; /* ms since 1970 */
        int64_t run_ns;
        char *message;                /* NULL after success; owned by the batch's owner */
        int fetch_shuffle, fetch_map; /* TASK_FETCH_FAILED */
        int fetch_executor;           /* TASK_FETCH_FAILED: as in task_run.h; in the driver the scheduler's number */
        struct shuffle_output *shuffle_output; /* success of a map task: one reference */
        uint32_t place; /* of its output outside of executors (shuffle/remote_shuffle.h); 0: it is at the executor */
        struct task_result result; /* success of a result task */
        struct buf encoded; /* replaces `result` if `is_encoded`: the result of a task process. Owned by the batch's
                               owner */
        bool is_encoded;
        uint64_t result_waits; /* bytes of a large result that is still at the executor; 0: none */
        struct task_counters counters;
        struct accumulator_updates *accumulated; /* success: its updates; NULL: none. Owned by the batch's owner */
};

struct task_batch {
        struct task_batch *next;
        struct stage_context *work; /* one reference */
        int executor;               /* the scheduler's index; used by the driver only */
        int slot;
        bool computed;      /* has computed, and gave its core back while its outputs are stored */
        bool crash_suspect; /* may crash: runs in a task process if possible, even if the slot is a thread */
        uint8_t locality;   /* enum task_locality; used by the driver only */
        bool speculative;   /* used by the driver only */
        bool held;          /* an earlier driver launched it (exec/resume/held_runs.h); used by the driver only */
        bool abandoned;     /* no driver wants its outcome; used by executors only */
        uint32_t driver;    /* the number of the driver that launched or adopted it; used by executors only */
        int n;
        struct task_resources resources; /* for the tasks; owned by the batch's owner */
        void *user;
        struct slot_task tasks[MAX_TASK_BATCH];
};

struct slot;

/* Called on the slot's thread when a batch is complete. Takes ownership of it. */
typedef void (*slot_done_fn)(void *owner, struct task_batch *run);

/* Starts a slot's thread. Returns negative with @error if it cannot be started. */
int slot_new(int index, const struct exec_env *env, slot_done_fn done, void *owner, struct slot **slot,
             struct fst_error *error);

/* Passes a batch to an idle slot. */
void slot_submit(struct slot *slot, struct task_batch *run);

/*
 * Kills a task of this slot at its next safe point. With @interrupt its task process is killed soon after. A thread
 * cannot be. No effect if the task is not here. Any thread.
 */
void slot_kill(struct slot *slot, int64_t task_id, bool interrupt);

/* Does the same, but the outcome is a failure with @message, unless the task ends before. Any thread. */
void slot_fail(struct slot *slot, int64_t task_id, const char *message);

/* True if a task process runs the tasks now, which can be killed without harm to others. Any thread. */
bool slot_is_isolated(struct slot *slot);

/* The slot's current activity. Any thread. */
struct slot_activity {
        int64_t task_id;    /* -1: idle */
        int process_pid;    /* 0: a thread of this process */
        char function[160]; /* the user's function that runs; "": none or unknown */
        int64_t memory;     /* bytes of the task's execution memory, or of its whole task process */
        int thread;         /* thread id, for stack dumps */
};
void slot_activity(struct slot *slot, struct slot_activity *activity);

/* How far the slot's current task has come, for the driver's search for slow tasks. */
struct slot_progress {
        int64_t task_id;
        int64_t records; /* read so far, from input and shuffles */
        int64_t run_ns;  /* since it began */
};

/* Returns false if the slot runs no task. Any thread. */
bool slot_progress(struct slot *slot, struct slot_progress *progress);

/* Ends the thread after its current batch. NULL is allowed. */
void slot_free(struct slot *slot);
