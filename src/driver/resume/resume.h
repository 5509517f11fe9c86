/*
 * Lets another driver go on with the application: keeps what this one has done in a journal (journal/), and gives main,
 * which runs again, the results that earlier drivers have journaled.
 *
 *      resume_open         before the context has an id: takes an epoch, reads earlier ones
 *      resume_start        once it has one: begins the journal
 *      resume_job_…        for each job, by the job runner
 *      resume_output_…     for each save, by its action
 *      resume_end          removes the journal of an application that has succeeded, or lets it stay to the process' end
 *
 * All functions accept NULL: spark.firesteel.resume.enabled is false. Then they do nothing.
 */
#pragma once

#include "driver/resume/history.h"

#include <pthread.h>

struct accumulator_updates;
struct accumulators;
struct driver_epoch;
struct fst_conf;
struct fst_context;
struct fst_error;
struct job;
struct job_request;
struct output_committer;
struct scheduler_backend;
struct resume;
struct earlier_output;
struct job_runner;
struct task_batch;

/* Sets sc->resume if the key is set, and with it the start time and, where no manager assigns one, the id. */
int resume_open(struct fst_context *sc, struct fst_error *error);
int resume_start(struct fst_context *sc, struct fst_error *error);

/*
 * Before the end of an application whose actions have the status @status: warns if main has not come to all jobs of earlier drivers.
 * Returns -ESTALE then, with a line in the log, if spark.firesteel.resume.strict is set; else @status.
 */
int resume_check_end(struct resume *r, int status);

/*
 * The application ends: writes the rest, or removes the journal of an application that has succeeded. A local one stays
 * until the process ends if main may go on (ended_journals.h): the caller then frees @r.
 */
void resume_end(struct resume *r, bool succeeded, bool main_goes_on);
void resume_free(struct resume *r);

/* What a cluster manager needs to keep the application for its next driver. */
struct resume_identity {
        const char *earlier_id; /* the id of the application under its earlier drivers, or NULL */
        const char *token;      /* that only drivers of the application know */
        int epoch;              /* the number of this driver, from 1 */
        int next_executor;      /* earlier drivers may have started executors with lower ids */
};

/* Known from resume_open on; borrowed. Returns false if nothing is journaled. */
bool resume_identity(const struct resume *r, struct resume_identity *identity);

/*
 * Whether the configuration lets executors wait for the next driver when theirs dies. Returns 0, or negative with
 * @error for an invalid value.
 */
int resume_executors_wait(const struct fst_conf *conf, bool *wait, struct fst_error *error);

/* An earlier driver ran the application. */
bool resume_is_resumed(const struct resume *r);

/* The number of this driver among those of the application: 1, 2, … */
int resume_epoch(const struct resume *r);

/* The first task id that no earlier driver has used. */
int64_t resume_first_task_id(const struct resume *r);

/*
 * The number that an executor has among those of all drivers, by the scheduler's index (shuffle/remote_shuffle.h). And
 * keeps the number of an executor that an earlier driver had: before its outputs are asked for.
 */
int32_t resume_writer(const struct resume *r, int executor);
void resume_keep_writer(struct resume *r, int executor, int32_t writer);

/*
 * The scheduler's number of a writer: its index, or for an executor that only earlier drivers had a number that no index
 * is. -1 for a number that is not a writer's. And the writer of such a number.
 */
int resume_executor_of_writer(const struct resume *r, int32_t writer);
int32_t resume_writer_of_executor(const struct resume *r, int executor);

/* The application has created a broadcast variable. */
void resume_broadcast(struct resume *r, int64_t id, const void *data, size_t size);

/* ---------------------------------------------------------------------------------------------------------- jobs */

/* A job's part of its waiter. */
struct resume_job {
        struct resume_job_record record;
        struct past_job *past;         /* what an earlier driver left, or NULL */
        uint8_t *done;                 /* by output: results that are still valid; owned. NULL: none */
        struct earlier_output *stored; /* map outputs that are still there; owned */
        int n_stored;
        pthread_t thread; /* that submits it */
        bool open;        /* it has a number */
};

/* Computes the signature. On the thread that submits the job. */
void resume_job_prepare(struct resume *r, const struct job_request *request, struct resume_job *job);

/*
 * Finds out whether an earlier driver had the job, and sets job->done and job->stored. Returns 0, or -ESTALE with
 * @error if it differs and spark.firesteel.resume.strict is set. On the runner's thread, as the functions below.
 */
int resume_job_submit(struct resume *r, const struct job_request *request, struct resume_job *job,
                      struct fst_error *error);

/* Merges the results that the scheduler kept. Returns 0, or negative with @error: the job must fail. */
int resume_job_started(struct resume *r, struct resume_job *job, const struct job *started,
                       const struct job_request *request, struct accumulators *accumulators, struct fst_error *error);

/* Journals the tasks of @run with accepted[i] set. @job NULL: the job has ended. */
void resume_tasks_succeeded(struct resume *r, struct resume_job *job, const struct task_batch *run,
                            const bool *accepted);

/* Tasks up to @task_id are being launched. */
void resume_launched(struct resume *r, int64_t task_id);

/* All outputs of the job are computed again. */
void resume_job_reset(struct resume *r, struct resume_job *job);
void resume_job_ended(struct resume *r, struct resume_job *job, bool succeeded);

/* Waits until everything before is durable. Any thread but the runner's. */
void resume_sync(struct resume *r);

/* Returns false if another driver has the application: then nobody may commit. */
bool resume_may_commit(struct resume *r);

/* Ends this process if another driver has the application: at once, or, if the journal is on HDFS or in an object
 * store, as soon as the journal's thread has looked there. Never waits for a server. */
void resume_check_epoch(struct resume *r);

/*
 * Journals that a task may commit its output: it must get that answer only after the record is durable. Returns false
 * if there is no journal, and nothing to wait for. On the runner's thread.
 */
bool resume_put_commit(struct resume *r, const struct resume_job *job, int output, int64_t task_id, bool updates);

/* Asks for the records so far to be written. Returns the position that job_runner_journaled gets, or 0: they are. */
uint64_t resume_request_write(struct resume *r);

/* ---------------------------------------------------------------------------------------------------- map outputs */

/* The directory in which earlier drivers have left map outputs, NULL: none. And journals the directory of this one. */
const char *resume_earlier_store(const struct resume *r);
void resume_store(struct resume *r, const char *directory);

/* A shuffle that nothing needs any more was removed. On the runner's thread. */
void resume_shuffle_removed(struct resume *r, int shuffle);

/* The records that earlier drivers' remote shuffle has journaled, *@n of them, until resume_free. And journals one of
 * this driver. Any thread. */
const fst_bytes *resume_earlier_remote(const struct resume *r, size_t *n);
void resume_put_remote(struct resume *r, const void *record, size_t size);

/* The output of a map partition that outlives executors does not count any more. On the runner's thread. */
void resume_map_lost(struct resume *r, int shuffle, int partition, int64_t task_id);

/* ------------------------------------------------------------------------------------------------------ executors */

/* For executors and their managers (driver/backend/scheduler_backend.h). Borrowed from @r, for its life. */
struct driver_epoch resume_driver_epoch(const struct resume *r);

/*
 * After resume_job_submit: what executors of earlier drivers hold for the job counts, or, if no earlier driver had the
 * job, nothing counts any more that no job has asked for: the backend drops it.
 */
void resume_use_holdings(struct resume *r, const struct job_request *request, const struct resume_job *job,
                         struct scheduler_backend *backend);

/* The number of the job that its stages tell executors, for stage_context; 0 if the next driver would not know the job. */
uint64_t resume_job_number(const struct resume_job *job, uint64_t *signature);

/*
 * The job was submitted to the scheduler, as @started, NULL: it has failed. It adopts the batches of tasks of earlier
 * drivers that it needs, and abandons its others. Before any task is launched.
 */
void resume_job_launched(struct resume *r, const struct resume_job *job, const struct job *started,
                         struct job_runner *runner);

/* No job adopts the batches that are left. */
void resume_abandon_runs(struct resume *r, struct job_runner *runner);

/* An executor with this index of the scheduler's is lost. */
void resume_drop_holdings(struct resume *r, int executor);

/* The key of encrypted files is that of the earlier driver, so that its map outputs in a store can be read. */
void resume_keep_io_key(struct resume *r);

/*
 * Executors with ids below @next may exist from now on, so that the next driver gives no new executor such an id: waits
 * until that is durable. Before each is started; by a manager that gives ids itself. On the runner's thread, or before
 * it runs.
 */
void resume_reserve_executor_ids(struct resume *r, int next);

/* Journals an executor that has registered, and one that was lost. On the runner's thread. */
void resume_executor_registered(struct resume *r, const struct earlier_executor *x);
void resume_executor_lost(struct resume *r, const char *id);

/* -------------------------------------------------------------------------------------------------------- outputs */

/* A save. Zero-initialised. */
struct resume_output {
        uint64_t number;
        bool numbered;                  /* from the earlier attempt */
        enum resume_output_state state; /* of the earlier attempt, or BEGUN */
        bool resumed;                   /* an earlier driver began it, and its results are used */
        uint8_t *committed;             /* by partition: its result exists; owned */
};

/*
 * Before the save of @rdd: makes @committer continue the output that an earlier driver began, or removes what cannot be
 * continued. Returns 0, or negative with @error if the output must not be touched.
 */
int resume_output_begin(struct resume *r, const struct job_request *request, struct output_committer *committer,
                        struct resume_output *output, struct fst_error *error);

/* The committer is about to make its directories. @made: none of them exists, so all that will be there is its own. */
void resume_output_making(struct resume *r, const struct output_committer *committer, bool made,
                          struct resume_output *output);

/* Before and after the job's commit, and after an abort. Returns false if another driver has the application. */
bool resume_output_state(struct resume *r, struct resume_output *output, enum resume_output_state state);
void resume_output_deinit(struct resume_output *output);
