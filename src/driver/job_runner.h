/*
 * The job runner: the driver's scheduler thread. It owns the pure scheduler (sched/sched.h), feeds it jobs and task
 * outcomes, and carries out its decisions through a backend (driver/backend/scheduler_backend.h).
 *
 * Threads: the scheduler lives on the runner's own thread. Other threads post messages and wait.
 */
#pragma once

#include "driver/context.h"
#include "exec/actions/action.h"

struct job_runner;
struct scheduler_backend;

/* Start the backend and the thread. Owns @backend, even on failure. */
int job_runner_new(struct fst_context *sc, struct scheduler_backend *backend, struct job_runner **runner,
                   struct fst_error *error);

/* Cancel running jobs and refuse new ones. Does not wait. Any thread. */
void job_runner_stop(struct job_runner *runner);

/* Stop, and join all threads. No thread may still wait for a job. NULL is allowed. */
void job_runner_free(struct job_runner *runner);

struct job_request {
        fst_rdd *rdd;
        const int *partitions; /* NULL: all of them */
        int n;
        struct action *action;
        const char *call_site; /* "count at a.c:12" */
        const char *scope;     /* "count"; NULL: none */
        int *job;              /* receives the job's id; atomic. NULL: not wanted */
};

/*
 * Run a job and wait until it ends. Returns 0, or a negative status with @error. Any thread but the runner's and the
 * slots'.
 */
int job_runner_run(struct job_runner *runner, const struct job_request *request, struct fst_error *error);

/*
 * Submit a job with local @properties, without waiting. @ended runs on the runner's thread when the job ends, with 0,
 * or a negative status and @error, whose message it may take. @ended may submit another job, but must not wait. It is
 * never called if the runner ends first. @request and everything it points to live until then. Any thread but the
 * slots'.
 */
struct strmap;
void job_runner_submit(struct job_runner *runner, const struct job_request *request, const struct strmap *properties,
                       void (*ended)(void *owner, int status, struct fst_error *error), void *owner);

/* Cancel the job whose id a request stored in @job, if it has begun. @job lives as long as the runner. Any thread. */
void job_runner_cancel_submitted(struct job_runner *runner, const int *job);

/* Cancel a job, or all jobs that need a stage, by id. Any thread. */
void job_runner_cancel_job(struct job_runner *runner, int job);
void job_runner_cancel_stage(struct job_runner *runner, int stage);

/*
 * Run @call on the runner's thread and wait for it. @allocates: dynamic allocation is on. Any thread but the runner's
 * and the slots', inside of context_enter.
 */
void job_runner_call(struct job_runner *runner,
                     void (*call)(void *owner, struct scheduler_backend *backend, bool allocates), void *owner);

/*
 * Remove the map outputs of these shuffles, which no running job needs: with Celeborn, its map tasks would fail.
 * Waits until the scheduler has dropped them. Executors remove them later. Threads: as job_runner_call.
 */
void job_runner_remove_shuffles(struct job_runner *runner, const int *shuffles, int n);

/*
 * Append the threads of an executor ("driver": of this process) to @out as a packed ThreadDump (rpc/control.proto).
 * Returns false if the executor is unknown or does not answer within some seconds. Threads: as job_runner_call.
 */
bool job_runner_dump_threads(struct job_runner *runner, const char *executor, struct buf *out);

/* Cancel the jobs of a group (NULL: all jobs). Any thread. */
void job_runner_cancel(struct job_runner *runner, const char *group);

/* Cancel the jobs of @group, and refuse later ones. */
void job_runner_cancel_for_good(struct job_runner *runner, const char *group);

/* Cancel the jobs with a tag. Any thread. */
void job_runner_cancel_tag(struct job_runner *runner, const char *tag);

/* The journal is durable up to @position: tasks that wait for it may commit. Any thread. */
void job_runner_journaled(struct job_runner *runner, uint64_t position);
