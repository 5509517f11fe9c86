/*
 * A scheduler backend: where the executors are that the job runner launches tasks on, and how they are told. One is
 * made for each context: local_backend.h runs tasks on threads of this process, cluster_backend.h on executors that
 * are processes of their own.
 *
 * All slots but `wake` are called on the job runner's thread. A backend reports, on that thread too, from within
 * `wait`, with the job_runner_… functions at the end of this page.
 */
#pragma once

#include "driver/barrier_sync.h"
#include "exec/slot.h"

struct executor_info;
struct executor_request;
struct job_runner;
struct scheduler_backend;

struct scheduler_backend_class {
        const char *name;
        bool is_remote; /* tasks run in other processes: they never touch the driver's objects */

        /*
         * Introduce the application to whoever gives it its id, before anything that needs the id is there: *@app_id
         * becomes the caller's, NULL says that the context is to make one up. 0, or negative with @error. Once, before
         * `start`, on the thread that makes the context. NULL: as if it gave NULL.
         */
        int (*announce)(struct scheduler_backend *backend, char **app_id, struct fst_error *error);

        /*
         * The scheduler's thread is about to loop: executors may be reported from now on. 0, or negative with @error.
         * Called before that thread is started, on the thread that makes the context.
         */
        int (*start)(struct scheduler_backend *backend, struct job_runner *runner, struct fst_error *error);

        /*
         * Run @run's tasks, one after another on one core of @executor, of which the scheduler knows that it is free.
         * Takes the run; it comes back by job_runner_run_done, unless its executor is
         * reported lost: then the backend frees it.
         */
        void (*launch)(struct scheduler_backend *backend, int executor, struct task_batch *run);

        /* A run is back, by job_runner_run_done: its core is free. Its outcomes are still there. */
        void (*run_returned)(struct scheduler_backend *backend, struct task_batch *run);

        /* End a task that was launched; unknown ones are ignored. */
        void (*kill_task)(struct scheduler_backend *backend, int executor, int64_t task_id, bool interrupt,
                          const char *reason);

        /*
         * Say in @inputs where map outputs lie: fill locations, n_locations, here, store, space and client, so that
         * *@location_of (an array by executor index that the backend owns, valid until the next call) gives the
         * location of each executor, -1 for none.
         */
        void (*locate)(struct scheduler_backend *backend, struct shuffle_reader_env *inputs,
                       const int32_t **location_of, int *n_executors);

        /*
         * On which executors a partition of a persisted RDD is kept: at most @max of the scheduler's numbers; returns
         * how many. NULL: there is only one executor.
         */
        int (*cached_on)(struct scheduler_backend *backend, int rdd, int partition, int *executors, int max);

        /* A map output, @task_id's, is not needed any more. */
        void (*remove_output)(struct scheduler_backend *backend, int executor, int shuffle_id, int map_partition,
                              int64_t task_id);

        /* No task of this stage attempt will be launched any more. */
        void (*stage_removed)(struct scheduler_backend *backend, struct stage_context *work);

        /*
         * The scheduler wishes that this executor were gone (exclusion with kill): at once, or (@decommission) when its
         * tasks have ended and others have what it has. Another may come for it. NULL: it cannot be.
         */
        void (*kill_executor)(struct scheduler_backend *backend, int executor, bool decommission, const char *reason);

        /*
         * Keep up these numbers of executors, in place of all that was requested before: as
         * executor_manager_class.request_executors. May come before `start`. NULL: executors cannot come and go.
         */
        bool (*request_executors)(struct scheduler_backend *backend, const struct executor_request *requests, int n);

        /* The application wants so many more than were requested or are there: false if nobody could be asked. */
        bool (*request_more)(struct scheduler_backend *backend, int more);

        /* The application wants these executors, named by their ids, gone, and as many fewer: how many there were. */
        int (*kill_executors)(struct scheduler_backend *backend, const char *const *ids, int n);

        /*
         * End these of the scheduler's executors, or (@decommission) let them move away what they have and end, without
         * changing what was requested; those that run tasks are spared. Fills @accepted with the others; returns how
         * many.
         */
        int (*remove_executors)(struct scheduler_backend *backend, const int32_t *executors, int n, bool decommission,
                                int32_t *accepted);

        /*
         * Cores that the executors will have together once all of them are there, and which part of them the first task
         * waits for unless spark.scheduler.minRegisteredResourcesRatio says so. NULL: it waits for nothing.
         */
        int64_t (*expected_cores)(struct scheduler_backend *backend, double *ratio);

        /* Do what there is to do, until woken or @deadline (CLOCK_MONOTONIC ns; INT64_MAX: none). May return early. */
        void (*wait)(struct scheduler_backend *backend, int64_t deadline);

        /* Let `wait` return, now or when it is called next. Any thread. */
        void (*wake)(struct scheduler_backend *backend);

        /* Whether the thread may end: every launched run has come back, or is not waited for any longer. */
        bool (*idle)(struct scheduler_backend *backend);

        /*
         * The process is about to end without `free`: see to it that nothing of the application stays elsewhere for
         * ever. May block for some seconds. NULL: nothing would.
         */
        void (*leave)(struct scheduler_backend *backend);

        /*
         * The context ends, and the scheduler's thread has ended: what still runs is ended. Before it, on the same
         * thread, remove_output and stage_removed may still be called.
         */
        void (*free)(struct scheduler_backend *backend);
};

struct scheduler_backend {
        const struct scheduler_backend_class *class;
};

/* ---------------------------------------------------------------------------- what a backend tells the job runner */

/* A run for `launch`, or to be filled by the backend; given back by job_runner_run_done. */
struct task_batch *job_runner_run_new(struct job_runner *runner);
void job_runner_run_free(struct job_runner *runner, struct task_batch *run);

/* The outcomes of a run, all of its tasks'. Takes the run. */
void job_runner_run_done(struct job_runner *runner, struct task_batch *run);

/* From another thread: the same, done by the scheduler's thread soon. */
void job_runner_post_run_done(struct job_runner *runner, struct task_batch *run);

/*
 * This task is what crashed the executor that is about to be told as lost: it runs alone next time. Unknown tasks are
 * ignored.
 */
void job_runner_task_suspected(struct job_runner *runner, int64_t task_id);

/* A run's executor is gone, which the scheduler knows already: for the listeners. Takes the run. */
void job_runner_run_lost(struct job_runner *runner, struct task_batch *run, bool caused_by_app, const char *reason);

/* An executor (driver/executor_info.h) that can take tasks: its index, or -EEXIST. Any thread before the scheduler's
 * has started. */
int job_runner_executor_added(struct job_runner *runner, const struct executor_info *executor);

/* The question of a barrier stage's task, which came from its executor: driver/barrier_sync.h. */
void job_runner_barrier_request(struct job_runner *runner, const void *question, size_t len,
                                const struct barrier_requester *asker);

/* An executor and its map outputs are gone. @caused_by_app: its tasks are charged a failure. */
void job_runner_executor_lost(struct job_runner *runner, int executor, bool caused_by_app, const char *reason);

/* A host is gone with all map outputs that executors left there. */
void job_runner_host_lost(struct job_runner *runner, const char *host, const char *message);

/*
 * A result of @bytes has been announced: whether it is wanted. Not when another attempt was quicker, or when the
 * results of its stage are more than spark.driver.maxResultSize, whose stage is aborted then.
 */
bool job_runner_wants_result(struct job_runner *runner, int64_t task_id, int64_t bytes);

/* The application cannot go on: its jobs fail with @reason, and no further ones are taken. */
void job_runner_abort(struct job_runner *runner, const char *reason);

/* Whether nothing of the application may run on this host now: its executors are to be refused. */
bool job_runner_host_excluded(struct job_runner *runner, const char *host);

/* Whether this task may commit its output (sched/commit_coordinator.h). */
bool job_runner_may_commit(struct job_runner *runner, int stage_id, int stage_attempt, int partition, int64_t task_id);

/* It will end when its tasks have, and not come back. @host_too: nor what is on its disks. */
void job_runner_executor_decommissioned(struct job_runner *runner, int executor, bool host_too);

/*
 * Executor @to has the output of map task @task_id, which @from has given it: false if nobody needs it there. As
 * sched_move_output.
 */
bool job_runner_output_moved(struct job_runner *runner, int shuffle, int map_partition, int64_t task_id, int from,
                             int to);

/* No new tasks for it. */
void job_runner_executor_disabled(struct job_runner *runner, int executor);

/* It is to be killed: no new tasks for it. */
void job_runner_executor_killed(struct job_runner *runner, int executor);

/* For dynamic allocation: as allocation_rdd_block and allocation_rdd_unpersisted (driver/allocation.h). */
void job_runner_rdd_block(struct job_runner *runner, int executor, int rdd, int partition, bool in_memory,
                          bool on_disk);
void job_runner_rdd_unpersisted(struct job_runner *runner, int rdd);
