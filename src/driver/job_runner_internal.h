/*
 * The job runner inside, for the files that it is made of: job_runner.c (its thread, messages, who waits),
 * scheduler_orders.c (what the scheduler asks for), task_outcomes.c (what the scheduler is told).
 */
#pragma once

#include "driver/job_runner.h"

#include "driver/barrier_sync.h"
#include "driver/starvation_timer.h"
#include "driver/backend/scheduler_backend.h"
#include "sched/tasks/registered_resources.h"
#include "sched/sched.h"

#include <pthread.h>

/* A job, and the thread that waits for it, on whose stack it lives until `ended`; or who is called then. */
struct job_waiter {
        const struct job_request *request;
        struct strmap properties;
        pthread_cond_t done;
        bool ended;
        enum job_result result;
        char *message;
        int status; /* of the failure that ended it */
        int job_id;
        void (*then)(void *owner, int status, struct fst_error *error); /* NULL: a thread waits */
        void *owner;
};

enum message_kind {
        MESSAGE_SUBMIT,
        MESSAGE_RUN_DONE,
        MESSAGE_CANCEL,
        MESSAGE_CANCEL_JOB,
        MESSAGE_CANCEL_STAGE,
        MESSAGE_STOP,
        MESSAGE_QUIT,
        MESSAGE_GANG,
        MESSAGE_CALL
};

/* Something for the runner's thread to do, and the thread that waits for it. */
struct call_wait {
        void (*call)(void *owner, struct scheduler_backend *backend, bool allocates);
        void *owner;
        pthread_cond_t done;
        bool ended;
};

struct message {
        struct message *next;
        enum message_kind kind;
        struct job_waiter *job;
        struct call_wait *call;
        struct task_batch *run;
        char *group, *tag;
        int id;                  /* of a job or a stage to be cancelled; or */
        const int *noted;        /* where that of a job is noted by now */
        struct gang_asker asker; /* MESSAGE_GANG, with its question */
        struct buf question;
};

struct job_runner {
        struct fst_context *sc;
        struct sched *sched;
        struct scheduler_backend *backend;
        struct task_batch *spare; /* runs to be used again */
        struct commit_coordinator *commits;
        struct gangs *gangs;
        int n_resources;                        /* custom ones that each task asks for */
        struct registered_resources registered; /* whether there are enough for the first task */
        int64_t cores;                          /* that have registered */
        struct task_events *events;
        struct allocation *allocation; /* NULL: the number of executors does not follow the work */
        struct starvation starvation;

        pthread_t thread;
        pthread_mutex_t lock;
        struct message *first, **last; /* under lock */
        bool stopping;                 /* jobs are refused */
        char *abort_reason;            /* why the application cannot go on; NULL: it can */
        bool quitting;                 /* the thread ends when no task runs */
};

/* Have the runner's thread take a message; it takes over what the message owns. Any thread. */
void job_runner_post(struct job_runner *r, struct message message);

/* A job is over: whoever waits for it goes on, and takes its action with it; or is called. On the runner's thread. */
void job_runner_end_wait(struct job_runner *r, struct job_waiter *wait);

/* What the scheduler asks for; the owner is the runner (scheduler_orders.c). */
extern const struct sched_ops scheduler_orders;
