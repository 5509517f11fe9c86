/*
 * The implementation of firesteel/submit.h: a submitter, its threads, and the handles of submissions.
 *
 *      the caller's threads    parse, prepare and read handles. Callbacks run inside of dispatch.
 *      workers                 run jobs: prepare and submit, poll a master, kill. They may block.
 *      the loop's thread       runs child processes, their launcher connections (submit_child.c), and the commands of
 *                              cluster managers that work on a loop. It never blocks.
 *
 * One lock, the submitter's, guards its queues and the state in the handles. While it is held, only functions of
 * submitter.c are called. The last reference frees a handle: the caller holds one, and so does each job and each child.
 */
#pragma once

#include "base/error.h"
#include "base/vec.h"
#include "submit/options/arguments.h"
#include "submit/api/job_queue.h"
#include "submit/launcher_server.h"
#include "submit/prepare/submission.h"

#include <firesteel/submit.h>

#include <pthread.h>

struct child_run;
struct driver_plan;
struct kube_config;
struct kube_place;
struct kube_run;
struct yarn_run;

enum { SUBMITTER_WORKERS = 4 };

enum submit_command {
        COMMAND_SPAWN, /* child processes */
        COMMAND_STOP,
        COMMAND_KILL,
        COMMAND_LAUNCH, /* drivers in Kubernetes */
        COMMAND_OPERATE,
        COMMAND_END,
        COMMAND_LOOK,
        COMMAND_FORGET,
};

/* A worker thread, and the client that a submission_class keeps in it between jobs. */
struct submit_worker {
        const int *stopped; /* atomic; nonzero makes jobs end early with -ECANCELED */
        void *client;       /* NULL until a submission_class sets it */
        void (*free_client)(void *client);
};

/*
 * How the drivers of one cluster manager are submitted, followed and killed: cluster_manager_class.submission. The
 * slots report changes of app->state through submission_set_state and similar functions.
 */
struct submission_class {
        /*
         * Submits app->prepared, which was prepared in cluster mode, and starts to follow it. Runs on a worker's
         * thread. May block, or leave the rest to the loop's thread. Sets app->class, under the lock, once the slots
         * below may be called. Returns 0, or negative with @error if the submission failed.
         */
        int (*submit)(fst_submission *app, struct submit_worker *worker, struct fst_error *error);

        /* The same for app->args with --kill or --status. NULL: the library does not support it. */
        int (*operate)(fst_submission *app, struct submit_worker *worker, struct fst_error *error);

        /*
         * Runs a job other than JOB_START that this class queued, on a worker's thread. NULL if the class queues none.
         */
        void (*job)(fst_submission *app, enum submit_job kind, struct submit_worker *worker);

        /*
         * Runs a command from COMMAND_LAUNCH on that this class queued, on the loop's thread. NULL if the class queues
         * none.
         */
        void (*command)(fst_submission *app, enum submit_command kind);

        /* Kills the driver. Called with the lock held, on any thread. */
        void (*end)(fst_submission *app);

        /*
         * Reads the driver's state again. Called with the lock held, on any thread. Returns 0, or -ESRCH if there is no
         * state yet.
         */
        int (*refresh)(fst_submission *app);

        /*
         * Stops following a driver that continues: its handle was freed. Called with the lock held, on any thread. May
         * be NULL.
         */
        void (*forget)(fst_submission *app);

        /*
         * Closes all libuv handles of this class because the submitter closes. Runs on the loop's thread. May be NULL.
         */
        void (*close)(fst_submitter *s);

        /* Frees this class's part of the handle, after the last reference. Runs on any thread. May be NULL. */
        void (*release)(fst_submission *app);
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
        pthread_cond_t work;    /* wakes workers: a new job, or the end */
        pthread_cond_t changed; /* a state changed, or a callback returned */
        struct job_queue jobs;
        VEC(struct queued_command) commands;
        VEC(struct queued_event) events;
        VEC(fst_submission *) apps;
        int ready;               /* an eventfd, readable while there are events */
        int stopping;            /* atomic too, because REST clients read it */
        fst_submission *calling; /* the handle whose callback runs */
        pthread_t caller;
        bool dispatching;
        char *program;

        pthread_t workers[SUBMITTER_WORKERS], loop_thread;
        int n_workers;
        uv_loop_t loop;
        uv_async_t wake;

        /* Owned by the loop's thread. */
        struct launcher_server *launcher;
        struct kube_place *places; /* API servers */
        size_t launching;          /* drivers being created */
        bool closing;              /* written under the lock */
};

struct env_change {
        char *name, *value; /* NULL: remove it */
};

struct fst_submission {
        fst_submitter *submitter;
        int refs; /* guarded by the lock */

        /* Set before the start, constant afterwards. */
        VEC(char *) words;
        int parsed; /* 0, or the result of parsing */
        VEC(struct env_change) env;
        int out_fd, err_fd; /* 0: this process's own */
        int watch_ms;       /* -1: use the configuration */
        fst_submit_callback callback;
        void *context;

        pthread_mutex_t preparing; /* guards the following members */
        struct submit_arguments args;
        struct submission prepared;
        bool is_complete, is_prepared;
        int complete_result, prepare_result;

        /* Guarded by the lock. */
        bool freed, started, is_child, connected, cancelled;
        const struct submission_class *class; /* of a cluster-mode driver; NULL before the handover */
        int state, exit_status, pid;
        char *id, *error, *answer, *json;
        struct buf warnings;
        char *master;          /* the master that accepted it, else NULL; `prepared` is constant afterwards */
        int unknown_times;     /* consecutive polls in which no master knew the driver */
        int64_t away_since_ms; /* since when no leading master replies; 0: one does */

        char **environment;    /* of the child, copied at the start, constant afterwards */
        struct child_run *run; /* owned by the loop's thread */

        /* Kubernetes only. A worker writes these first, then the loop's thread owns them. */
        struct driver_plan *plan;
        struct kube_config *server; /* for --kill and --status */
        int64_t grace_s, report_ms, away_ms;
        struct kube_run *kube;

        struct yarn_run *yarn; /* YARN only, constant once the class is set */
};

/* Called with the lock held. */
void submission_ref(fst_submission *app);
void submission_unref(fst_submission *app);
void submitter_queue_job(fst_submission *app, enum submit_job kind, int64_t due_ms);
void submitter_queue_command(fst_submission *app, enum submit_command kind);
void submission_set_state(fst_submission *app, int state);
void submission_set_id(fst_submission *app, const char *id);
void submission_set_error(fst_submission *app, const char *error);

/* Stores the message, then sets the state FAILED. Takes the lock and releases @error's message. */
void submission_fail(fst_submission *app, struct fst_error *error);

/*
 * Reads files and the environment, and validates. Returns 0, or negative with @error. Later calls return the first
 * result. Called with `preparing` held.
 */
int submission_complete(fst_submission *app, struct fst_error *error);
int submission_prepare_all(fst_submission *app, struct fst_error *error);

/*
 * Prepares for cluster mode, or again for the legacy gateway with @force_legacy. Runs on a worker's thread. Returns
 * negative with @error on failure.
 */
int submission_prepare_for_cluster(fst_submission *app, bool force_legacy, struct fst_error *error);

/*
 * Reads how often to poll a driver's state (0: never) and how long its master may be unavailable. Returns -EINVAL with
 * @error.
 */
int submission_intervals(fst_submission *app, int64_t *report_ms, int64_t *away_ms, struct fst_error *error);

/* submit_jobs.c: runs a job on a worker's thread. */
void submit_job_run(fst_submission *app, enum submit_job kind, struct submit_worker *worker);

/* submit_child.c: called on the loop's thread. */
extern const struct launcher_client_ops submit_child_ops;
void submit_child_command(fst_submission *app, enum submit_command kind);
void submit_child_forget(fst_submission *app);
