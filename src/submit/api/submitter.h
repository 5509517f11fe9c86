/*
 * What is behind firesteel/submit.h: a submitter, its threads, and the handles of submissions.
 *
 *      the caller's threads    parse, prepare, and whatever only reads a handle; callbacks, inside of dispatch
 *      workers                 jobs: prepare and submit, ask a master, kill; they block for as long as these take
 *      the loop's thread       child processes and their launcher connections (submit_child.c), and the commands of
 *                              cluster managers that work on a loop; it never blocks
 *
 * One lock, the submitter's, guards its queues and what the handles say of their state; nothing is called with it held
 * but what is in submitter.c. A handle is freed with its last reference: the caller's, and one for each job and child.
 */
#pragma once

#include "base/error.h"
#include "base/vec.h"
#include "submit/options/arguments.h"
#include "submit/launcher_server.h"
#include "submit/prepare/submission.h"

#include <firesteel/submit.h>

#include <pthread.h>

struct child_run;
struct driver_plan;
struct kube_config;
struct kube_place;
struct kube_run;

enum { SUBMITTER_WORKERS = 4 };

enum submit_job { JOB_START, JOB_POLL, JOB_REFRESH, JOB_KILL };
enum submit_command {
        COMMAND_SPAWN, /* of child processes */
        COMMAND_STOP,
        COMMAND_KILL,
        COMMAND_LAUNCH, /* of drivers in Kubernetes */
        COMMAND_OPERATE,
        COMMAND_END,
        COMMAND_LOOK,
        COMMAND_FORGET,
};

/* A worker, and what a submission_class keeps for it from job to job. */
struct submit_worker {
        const int *stopped; /* atomic: jobs end early with -ECANCELED once it is not 0 */
        void *client;       /* NULL: nothing yet */
        void (*free_client)(void *client);
};

/*
 * How drivers in the cluster of one manager are submitted, followed and killed: cluster_manager_class.submission. Slots
 * say what happens to app->state by submission_set_state and its like.
 */
struct submission_class {
        /*
         * Submit app->prepared, which was prepared in cluster mode, and have it followed. A worker's thread; may block,
         * or leave the rest to the loop's thread. Sets app->class, with the lock, once the slots below may be called.
         * 0; or negative with @error: the submission has failed.
         */
        int (*submit)(fst_submission *app, struct submit_worker *worker, struct fst_error *error);

        /* The same for app->args with --kill or --status. */
        int (*operate)(fst_submission *app, struct submit_worker *worker, struct fst_error *error);

        /* A job other than JOB_START, which this class has queued. A worker's thread. NULL: it queues none. */
        void (*job)(fst_submission *app, enum submit_job kind, struct submit_worker *worker);

        /* A command from COMMAND_LAUNCH on, which this class has queued. The loop's thread. NULL: it queues none. */
        void (*command)(fst_submission *app, enum submit_command kind);

        /* With the lock, any thread: have the driver killed. */
        void (*end)(fst_submission *app);

        /* With the lock, any thread: have its state read anew. 0, or -ESRCH: it has none yet. */
        int (*refresh)(fst_submission *app);

        /* With the lock, any thread: nobody will look at the handle, whose driver goes on. NULL: nothing to do. */
        void (*forget)(fst_submission *app);

        /* The submitter is being closed: close all handles on its loop. The loop's thread. NULL: it has none. */
        void (*close)(fst_submitter *s);

        /* The last reference is gone: free what this class keeps in the handle. Any thread. NULL: nothing. */
        void (*release)(fst_submission *app);
};

struct queued_job {
        fst_submission *app;
        enum submit_job kind;
        int64_t due_ms; /* of the monotonic clock */
};

struct queued_command {
        fst_submission *app;
        enum submit_command kind;
};

struct queued_event {
        fst_submission *app;
        int event;
};

struct fst_submitter {
        pthread_mutex_t lock;
        pthread_cond_t work;    /* for workers: a job, or the end */
        pthread_cond_t changed; /* a state, or a callback has returned */
        VEC(struct queued_job) jobs;
        VEC(struct queued_command) commands;
        VEC(struct queued_event) events;
        VEC(fst_submission *) apps;
        int ready;               /* an eventfd: readable while there are events */
        int stopping;            /* atomic too: rest clients look at it */
        fst_submission *calling; /* whose callback runs */
        pthread_t caller;
        bool dispatching;
        char *program;

        pthread_t workers[SUBMITTER_WORKERS], loop_thread;
        int n_workers;
        uv_loop_t loop;
        uv_async_t wake;

        /* The loop thread's. */
        struct launcher_server *launcher;
        struct kube_place *places; /* API servers */
        size_t launching;          /* drivers that are being created */
        bool closing;              /* written with the lock */
};

struct env_change {
        char *name, *value; /* NULL: remove it */
};

struct fst_submission {
        fst_submitter *submitter;
        int refs; /* the lock's */

        /* Said before it starts; constant afterwards. */
        VEC(char *) words;
        int parsed; /* 0, or what parsing answered */
        VEC(struct env_change) env;
        int out_fd, err_fd; /* 0: this process's own */
        int watch_ms;       /* -1: what the configuration says */
        fst_submit_callback callback;
        void *context;

        pthread_mutex_t preparing; /* of what follows */
        struct submit_arguments args;
        struct submission prepared;
        bool is_complete, is_prepared;
        int complete_result, prepare_result;

        /* The lock's. */
        bool freed, started, is_child, connected, cancelled;
        const struct submission_class *class; /* of a driver in a cluster; NULL before it was handed over */
        int state, exit_status, pid;
        char *id, *error, *answer, *json;
        struct buf warnings;
        char *master;          /* that has taken it, NULL before: what was prepared stays as it is from then on */
        int unknown_times;     /* that it was not known there */
        int64_t away_since_ms; /* since when no master answers, or none leads; 0: one does */

        char **environment;    /* of the child, taken when it was started; constant afterwards */
        struct child_run *run; /* the loop thread's */

        /* In Kubernetes. Written by a worker, the loop thread's from then on. */
        struct driver_plan *plan;
        struct kube_config *server; /* of --kill and --status */
        int64_t grace_s, report_ms, away_ms;
        struct kube_run *kube;
};

int64_t submitter_now_ms(void);

/* With the lock held. */
void submission_ref(fst_submission *app);
void submission_unref(fst_submission *app);
void submitter_queue_job(fst_submission *app, enum submit_job kind, int64_t due_ms);
void submitter_queue_command(fst_submission *app, enum submit_command kind);
void submission_set_state(fst_submission *app, int state);
void submission_set_id(fst_submission *app, const char *id);
void submission_set_error(fst_submission *app, const char *error);

/* Fails it for good: the sentence, then FAILED. Takes the lock; releases @error's message. */
void submission_fail(fst_submission *app, struct fst_error *error);

/* Read files and environment, check. 0, or negative with @error; the first result stays. With `preparing` held. */
int submission_complete(fst_submission *app, struct fst_error *error);
int submission_prepare_all(fst_submission *app, struct fst_error *error);

/* Prepare for cluster mode; again for the legacy gateway, if @force_legacy. A worker's thread. Negative with @error. */
int submission_prepare_for_cluster(fst_submission *app, bool force_legacy, struct fst_error *error);

/* How often a driver's state is read (0: never), and how long its master may be away. -EINVAL with @error. */
int submission_intervals(fst_submission *app, int64_t *report_ms, int64_t *away_ms, struct fst_error *error);

/* submit_jobs.c: a job, on a worker's thread. */
void submit_job_run(fst_submission *app, enum submit_job kind, struct submit_worker *worker);

/* submit_child.c: on the loop's thread. */
extern const struct launcher_client_ops submit_child_ops;
void submit_child_command(fst_submission *app, enum submit_command kind);
void submit_child_forget(fst_submission *app);
