/*
 * The job runner: the driver's scheduler thread. It owns the pure scheduler (sched/sched.h), feeds it with jobs and
 * with the outcomes of tasks, and has a backend (driver/backend/scheduler_backend.h) carry out what it decides.
 *
 * Everything inside happens on its own thread; other threads hand it messages and wait.
 */
#pragma once

#include "driver/context.h"
#include "exec/actions/action.h"

struct job_runner;
struct scheduler_backend;

/* Start the backend, which is taken in any case, and the thread. */
int job_runner_new(struct fst_context *sc, struct scheduler_backend *backend, struct job_runner **runner,
                   struct fst_error *error);

/* Cancel what runs and refuse what is submitted from now on; does not wait. Any thread. */
void job_runner_stop(struct job_runner *runner);

/* Stop, and end all threads; nobody may be waiting for a job any more. NULL is allowed. */
void job_runner_free(struct job_runner *runner);

struct job_request {
        fst_rdd *rdd;
        const int *partitions; /* NULL: all of them */
        int n;
        struct action *action;
        const char *call_site; /* "count at a.c:12" */
        int *job;              /* where to note the id of the job; atomic. NULL: nowhere */
};

/* Run a job and wait for its end: 0, or negative with @error. Any thread but the runner's and the slots'. */
int job_runner_run(struct job_runner *runner, const struct job_request *request, struct fst_error *error);

/*
 * Submit a job, with local properties @properties, and do not wait: @ended is called on the runner's thread when it is
 * over, with 0, or negative and @error, whose message it may take. It may submit another job, but not wait. @request
 * and what it points to live until then. Never called if the runner ends before. Any thread but the slots'.
 */
struct strmap;
void job_runner_submit(struct job_runner *runner, const struct job_request *request, const struct strmap *properties,
                       void (*ended)(void *owner, int status, struct fst_error *error), void *owner);

/* Cancel the job that a request notes in @job, if it has begun; that lives as long as the runner. Any thread. */
void job_runner_cancel_submitted(struct job_runner *runner, const int *job);

/* Cancel a job, or the jobs that need a stage, by id. Any thread. */
void job_runner_cancel_job(struct job_runner *runner, int job);
void job_runner_cancel_stage(struct job_runner *runner, int stage);

/*
 * Have @call made on the runner's thread, and wait for it: with the backend, and whether there is dynamic allocation.
 * Any thread but the runner's and the slots', inside of context_enter.
 */
void job_runner_call(struct job_runner *runner,
                     void (*call)(void *owner, struct scheduler_backend *backend, bool allocates), void *owner);

/*
 * Nobody will read these shuffles any more: their map outputs go, but for those that a job's stage is writing. Waits
 * until the scheduler has forgotten them; executors remove them later. As job_runner_call.
 */
void job_runner_remove_shuffles(struct job_runner *runner, const int *shuffles, int n);

/* Cancel a group's jobs, or all with NULL. Any thread. */
void job_runner_cancel(struct job_runner *runner, const char *group);

/* Cancel the jobs with a tag. Any thread. */
void job_runner_cancel_tag(struct job_runner *runner, const char *tag);
