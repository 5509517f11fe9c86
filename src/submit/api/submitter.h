/*
 * What is behind firesteel/submit.h: a submitter, its threads, and the handles of submissions.
 *
 *      the caller's threads    parse, prepare, and whatever only reads a handle; callbacks, inside of dispatch
 *      workers                 jobs: prepare and submit, ask a master, kill; they block for as long as these take
 *      the loop's thread       child processes and their launcher connections (submit_child.c), and what is sent to
 *                              API servers of Kubernetes (submit_kubernetes.c); it never blocks
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
struct cluster_client;
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
        bool freed, started, is_child, in_kubernetes, connected, cancelled;
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

/* submit_cluster.c: a job, on a worker's thread; @client is the worker's. */
void submit_job_run(fst_submission *app, enum submit_job kind, struct cluster_client *client);

/* submit_child.c: on the loop's thread. */
extern const struct launcher_client_ops submit_child_ops;
void submit_child_command(fst_submission *app, enum submit_command kind);
void submit_child_forget(fst_submission *app);

/* submit_kubernetes.c, on a worker's thread: everything that blocks, then the rest is the loop's thread's. */
int submit_kubernetes_launch(fst_submission *app, int64_t report_ms, int64_t away_ms, struct fst_error *error);
int submit_kubernetes_operate(fst_submission *app, struct fst_error *error);

/* … and on the loop's thread. */
void submit_kubernetes_command(fst_submission *app, enum submit_command kind);
void submit_kubernetes_close(fst_submitter *s);
void submit_kubernetes_release(fst_submission *app);
