/*
 * Shared by the job runner's files: job_runner.c (thread, messages, waiters), scheduler_ops.c (the scheduler's
 * requests), task_status.c (task results and executor losses).
 */
#pragma once

#include "base/string_list.h"
#include "driver/job_runner.h"

#include "driver/barrier_sync.h"
#include "driver/messages/stage_inputs.h"
#include "driver/starvation_timer.h"
#include "driver/messages/task_batches.h"
#include "driver/backend/scheduler_backend.h"
#include "sched/map_outputs.h"
#include "driver/resume/commit_replies.h"
#include "driver/resume/resume.h"
#include "sched/tasks/registered_resources.h"
#include "sched/sched.h"

#include <pthread.h>

/* A job and its waiting thread, on whose stack it lives until `ended`; or the callback for its end. */
struct job_waiter {
        const struct job_request *request;
        struct strmap properties;
        pthread_cond_t done;
        bool ended;
        enum job_result result;
        char *message;
        int status; /* of the failure */
        int job_id;
        bool announces_end;        /* the event of the job's end waits until its updates are delivered */
        struct job_runner *runner; /* while accumulators deliver the job's updates */
        struct resume_job resume;  /* unused if sc->resume is NULL */
        int resume_status;         /* the results of an earlier driver cannot be merged: the job must fail */
        void (*then)(void *owner, int status, struct fst_error *error); /* NULL: a thread waits */
        void *owner;
};

enum runner_message_kind {
        MESSAGE_SUBMIT,
        MESSAGE_RUN_DONE,
        MESSAGE_CANCEL,
        MESSAGE_CANCEL_JOB,
        MESSAGE_CANCEL_STAGE,
        MESSAGE_STOP,
        MESSAGE_QUIT,
        MESSAGE_BARRIER,
        MESSAGE_CALL,
        MESSAGE_DELIVERED,
        MESSAGE_JOURNALED
};

/* A call for the runner's thread, and the thread that waits for it. */
struct call_wait {
        void (*call)(void *owner, struct scheduler_backend *backend, bool allocates);
        void *owner;
        pthread_cond_t done;
        bool ended;
};

struct runner_message {
        struct runner_message *next;
        enum runner_message_kind kind;
        struct job_waiter *job; /* to submit; or whose updates were delivered */
        struct call_wait *call;
        struct task_batch *run;
        char *group, *tag;
        bool for_good;                  /* later jobs of the group are refused */
        int id;                         /* of the job or stage to cancel, or */
        const int *job_id_slot;         /* where the job's id is stored */
        struct barrier_requester asker; /* MESSAGE_BARRIER, with `request` */
        struct buf request;
        uint64_t position; /* MESSAGE_JOURNALED: of the journal */
};

struct job_runner {
        struct fst_context *sc;
        struct sched *sched;
        struct scheduler_backend *backend;
        struct task_batches batches;
        struct commit_coordinator *commits;
        struct commit_replies commit_replies; /* empty without a journal */
        struct barrier_sync *barriers;
        struct registered_resources registered; /* whether the first task may start */
        int64_t cores;                          /* of all registered executors */
        struct task_event_poster *events;
        struct allocation *allocation; /* NULL: no dynamic allocation */
        struct starvation starvation;
        struct string_list cancelled_groups; /* whose later jobs are refused, oldest first */
        int max_cancelled_groups;
        const struct held_batch *adopting; /* the batch of an earlier driver that is being adopted, or NULL */
        VEC(struct job_waiter *) held; /* until the executors of an earlier driver are back */

        pthread_t thread;
        pthread_mutex_t lock;
        struct runner_message *first, **last; /* guarded by lock */
        bool stopping;                        /* new jobs are refused */
        bool removes_shuffles;                /* in job_runner_remove_shuffles */
        char *abort_reason;                   /* why the application must end; NULL: it need not */
        bool quitting;                        /* the thread ends once no task runs */
};

/* Post a message to the runner's thread. Takes everything that the message owns. Any thread. */
void job_runner_post(struct job_runner *r, struct runner_message message);

/*
 * A job has ended: once accumulators have delivered its updates, wake its waiting thread, which takes the action back,
 * or call `then`. On the runner's thread.
 */
void job_runner_end_wait(struct job_runner *r, struct job_waiter *wait);

/* The scheduler's requests. The owner is the runner (scheduler_ops.c). */
extern const struct sched_ops scheduler_ops;
