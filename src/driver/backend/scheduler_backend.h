/*
 * A scheduler backend: launches tasks on executors for the job runner. Each context has one: local_backend.h runs tasks
 * on threads of this process, cluster_backend.h on executors in other processes.
 *
 * The job runner's thread calls all slots but `wake`. A backend reports from within `wait`, on that thread, with the
 * job_runner_… functions at the end of this file.
 */
#pragma once

#include "driver/barrier_sync.h"
#include "exec/slot.h"

struct executor_info;
struct executor_request;
struct job_runner;
struct scheduler_backend;

/* A batch of tasks that an earlier driver launched, and that an executor runs or holds (driver/resume/holdings.h). */
struct held_batch {
        int executor; /* the scheduler's index */
        int slot;     /* of the executor */
        int64_t first_id;
        uint64_t job, signature; /* stage_context.journal_job */
        int shuffle;             /* that its tasks write; -1: tasks of a result stage */
        int32_t *outputs;        /* of each task; owned */
        int n;
        bool takes_core; /* it runs on a core, or has ended and its outcome has not come */
};

struct scheduler_backend_class {
        const char *name;
        bool is_remote; /* tasks run in other processes and never touch the driver's objects */

        /*
         * Register the application with the cluster manager, before the application's id is needed. *@app_id receives
         * its id, which the caller owns; NULL: the context makes one up. Returns 0, or a negative status with @error.
         * Called once, before `start`, on the thread that creates the context. NULL: the context makes up the id.
         */
        int (*announce)(struct scheduler_backend *backend, char **app_id, struct fst_error *error);

        /*
         * The scheduler's thread is about to start: from now on executors may be reported. Returns 0, or a negative
         * status with @error. Called on the thread that creates the context.
         */
        int (*start)(struct scheduler_backend *backend, struct job_runner *runner, struct fst_error *error);

        /*
         * Run the tasks of @run, one after another, on a core of @executor that the scheduler knows to be free. Owns
         * the run until job_runner_run_done. If the executor is reported lost first, the backend frees the run.
         */
        void (*launch)(struct scheduler_backend *backend, int executor, struct task_batch *run);

        /* job_runner_run_done has taken the run back: its core is free. The outcomes are still in it. */
        void (*run_returned)(struct scheduler_backend *backend, struct task_batch *run);

        /* Kill a launched task. Ignores unknown ones. */
        void (*kill_task)(struct scheduler_backend *backend, int executor, int64_t task_id, bool interrupt,
                          const char *reason);

        /*
         * Describe the locations of map outputs in @inputs (locations, n_locations, here, store, space and client).
         * *@location_of maps an executor's index to its location, or -1. The backend owns that array, which is valid
         * until the next call.
         */
        void (*locate)(struct scheduler_backend *backend, struct shuffle_reader_env *inputs,
                       const int32_t **location_of, int *n_executors);

        /*
         * Find at most @max executors that have stored a partition of a persisted RDD, by the scheduler's index.
         * Returns their number. NULL: there is only one executor.
         */
        int (*cached_on)(struct scheduler_backend *backend, int rdd, int partition, int *executors, int max);

        /* The map output of @task_id is no longer needed. */
        void (*remove_output)(struct scheduler_backend *backend, int executor, int shuffle_id, int map_partition,
                              int64_t task_id);

        /* No more tasks of this stage attempt will be launched. */
        void (*stage_removed)(struct scheduler_backend *backend, struct stage_context *work);

        /*
         * Kill this executor (exclusion with kill), or (@decommission) let it finish its tasks and migrate its blocks
         * first. Another executor may replace it. NULL: not supported.
         */
        void (*kill_executor)(struct scheduler_backend *backend, int executor, bool decommission, const char *reason);

        /* As sched_ops.rack. NULL: racks are not known. */
        const char *(*rack)(struct scheduler_backend *backend, const char *host);

        /*
         * No executors are wanted on this host (exclusion for the whole application), or (@excluded false) again. NULL:
         * executors register there and are refused.
         */
        void (*host_excluded)(struct scheduler_backend *backend, const char *host, bool excluded);

        /*
         * Keep these numbers of executors running, as executor_manager_class.request_executors. May come before
         * `start`. NULL: the executors are fixed.
         */
        bool (*request_executors)(struct scheduler_backend *backend, const struct executor_request *requests, int n);

        /*
         * The application requests @more executors than were requested or are running. Returns false if the cluster
         * could not be asked.
         */
        bool (*request_more)(struct scheduler_backend *backend, int more);

        /* The application kills these executors, by id, and requests as many fewer. Returns how many existed. */
        int (*kill_executors)(struct scheduler_backend *backend, const char *const *ids, int n);

        /*
         * End these executors, by the scheduler's index, or (@decommission) let them migrate their blocks and end. The
         * requested numbers stay. Spares those that run tasks and fills @accepted with the others. Returns their
         * number.
         */
        int (*remove_executors)(struct scheduler_backend *backend, const int32_t *executors, int n, bool decommission,
                                int32_t *accepted);

        /*
         * Ask an executor for its threads. @answered gets the packed ThreadDump (rpc/control.proto), or NULL if it
         * cannot be had, once, on this thread. Returns false if the executor is unknown; @answered is not called then.
         * NULL: there is no other process.
         */
        bool (*ask_threads)(struct scheduler_backend *backend, const char *executor_id,
                            void (*answered)(void *owner, const uint8_t *dump, size_t len), void *owner);

        /*
         * Executors of an earlier driver may still register: the first job waits for them. NULL: there are none.
         */
        bool (*is_adopting)(struct scheduler_backend *backend);

        /*
         * The application has gone on to something new: later executors of an earlier driver are refused, and those that
         * registered drop the cached blocks of these @n RDDs and all broadcast values. NULL with is_adopting.
         */
        void (*end_adoption)(struct scheduler_backend *backend, const int *rdds, int n);

        /*
         * A job has adopted this batch of an earlier driver, or nobody wants its outcome, and if it runs it is killed.
         * And a job with tasks was submitted: the other batches must be settled soon, since no task starts at their
         * executors before. NULL with is_adopting.
         */
        void (*settle_run)(struct scheduler_backend *backend, const struct held_batch *run, bool adopted);
        void (*job_submitted)(struct scheduler_backend *backend);

        /* The slots of this process and their number, for the backend's life. Any thread. NULL: there are none. */
        struct slot *const *(*slots)(struct scheduler_backend *backend, int *n);

        /* Whether the cluster offers a core for each task (job_runner_offer). NULL: executors keep their cores. */
        bool (*lends_cores)(struct scheduler_backend *backend);

        /*
         * Cores of all expected executors together, and the share of them that the first task waits for unless
         * spark.scheduler.minRegisteredResourcesRatio is set. NULL: the first task does not wait.
         */
        int64_t (*expected_cores)(struct scheduler_backend *backend, double *ratio);

        /* Run the loop until woken or @deadline (CLOCK_MONOTONIC, ns; INT64_MAX: none). May return early. */
        void (*wait)(struct scheduler_backend *backend, int64_t deadline);

        /* Make `wait` return, now or when it is called next. Any thread. */
        void (*wake)(struct scheduler_backend *backend);

        /* Whether the thread may end: every launched run has come back or is given up. */
        bool (*idle)(struct scheduler_backend *backend);

        /*
         * The process ends without `free`: release what would stay in the cluster forever. May block for some seconds.
         * NULL: nothing would stay.
         */
        void (*leave)(struct scheduler_backend *backend);

        /*
         * The context and the scheduler's thread have ended: end what still runs. remove_output and stage_removed may
         * be called before, on the same thread.
         */
        void (*free)(struct scheduler_backend *backend);
};

struct scheduler_backend {
        const struct scheduler_backend_class *class;
};

/* ---------------------------------------------------------------------------- reports to the job runner */

void job_runner_run_free(struct job_runner *runner, struct task_batch *run);

/* Report the outcomes of all tasks of a run. Takes the run. */
void job_runner_run_done(struct job_runner *runner, struct task_batch *run);

/* As job_runner_run_done, from another thread. The scheduler's thread handles it soon. */
void job_runner_post_run_done(struct job_runner *runner, struct task_batch *run);

/* This task crashed the executor whose loss is about to be reported: it runs alone next time. Ignores unknown tasks. */
void job_runner_task_suspected(struct job_runner *runner, int64_t task_id);

/*
 * The batch of this task has computed, and its outputs are being stored: its core may take other tasks. Ignores unknown
 * tasks.
 */
void job_runner_release_core(struct job_runner *runner, int64_t task_id);

/* A task that runs on @executor has read @records records in @run_ns. Ignores tasks that do not run there. */
void job_runner_task_progress(struct job_runner *runner, int executor, int64_t task_id, int64_t records,
                              int64_t run_ns);

/* Report a run to the listeners whose executor's loss the scheduler already knows. Takes the run. */
void job_runner_run_lost(struct job_runner *runner, struct task_batch *run, bool caused_by_app, const char *reason);

/*
 * Report a new executor (driver/executor_info.h). Returns its index, or -EEXIST. Any thread before the scheduler's
 * thread has started.
 */
int job_runner_executor_added(struct job_runner *runner, const struct executor_info *executor);

/* Pass on a barrier request of an executor's task: driver/barrier_sync.h. */
void job_runner_barrier_request(struct job_runner *runner, const void *question, size_t len,
                                const struct barrier_requester *asker);

/* An executor and its map outputs are lost. @caused_by_app: counts a failure for its tasks. */
void job_runner_executor_lost(struct job_runner *runner, int executor, bool caused_by_app, const char *reason);

/* The cluster manager lost track of the executors, which are lost: dynamic allocation starts again. */
void job_runner_executors_forgotten(struct job_runner *runner);

/* A host is lost with all map outputs that executors left there. */
void job_runner_host_lost(struct job_runner *runner, const char *host, const char *message);

/*
 * Whether a result of @bytes is wanted. It is not if another attempt was faster, or if the stage's results exceed
 * spark.driver.maxResultSize, which aborts the stage.
 */
bool job_runner_wants_result(struct job_runner *runner, int64_t task_id, int64_t bytes);

/* End the application: its jobs fail with @reason, and new ones are refused. */
void job_runner_abort(struct job_runner *runner, const char *reason);

/* Whether this host is excluded for the whole application: its executors are refused. */
bool job_runner_host_excluded(struct job_runner *runner, const char *host);

/* Where to send the answer to a task that wants to commit. `reply` is called once, on the runner's thread. Copied. */
struct commit_requester {
        void (*reply)(void *owner, bool may);
        void *owner;
};

/*
 * Answers whether this task may commit its output (sched/commit_coordinator.h); a permission, once it is journaled. */
void job_runner_commit_request(struct job_runner *runner, int partition, int64_t task_id,
                               const struct commit_requester *asker);

/* The executor will end once its tasks have ended. @host_too: its host's disks are lost too. */
void job_runner_executor_decommissioned(struct job_runner *runner, int executor, bool host_too);

/*
 * Executor @to has received the output of map task @task_id from @from. Returns false if it is not needed there. As
 * sched_move_output.
 */
bool job_runner_output_moved(struct job_runner *runner, int shuffle, int map_partition, int64_t task_id, int from,
                             int to);

/*
 * @executor has stored the output of map task @task_id outside of executors, at @place (shuffle/remote_shuffle.h). Does
 * nothing if the output is not needed there.
 */
void job_runner_output_stored(struct job_runner *runner, int shuffle, int map_partition, int64_t task_id, int executor,
                              uint32_t place);

/*
 * Makes the store of map outputs that outlive executors, sc->remote_shuffle, if the configuration names one, and goes
 * on with what earlier drivers of the application have left there. Blocks. Before the executors are started. Returns 0,
 * or negative with @error, which names the key.
 */
int job_runner_open_store(struct job_runner *runner, struct fst_error *error);

/*
 * The part of the application's journal (driver/resume/) that a remote shuffle keeps, so that it can go on
 * in another driver: its records of earlier drivers, in order, and the number of this driver, 1, 2, … *@records is
 * NULL, and the result 0, if the application has no journal.
 */
int job_runner_earlier_remote(const struct job_runner *runner, const fst_bytes **records, size_t *n);

/* Journals a record of it, and waits until it is durable if @strict. Any thread but the scheduler's. */
void job_runner_journal_remote(struct job_runner *runner, const void *record, size_t size, bool strict);

/* Returns false if another driver has the application, and with it what its map outputs are in. Any thread. */
bool job_runner_may_remove(const struct job_runner *runner);

/* The number with which an executor writes to the store (shuffle/remote_shuffle.h). And keeps that of one that an
 * earlier driver had. */
int32_t job_runner_writer(const struct job_runner *runner, int executor);
void job_runner_keep_writer(struct job_runner *runner, int executor, int32_t writer);

/* The executors in the driver's journal, as in driver/resume/resume.h. Any thread. */
struct driver_epoch {
        int epoch;                                   /* of this driver; 0: it has no journal */
        const char *journal;                         /* name of the application's journal */
        bool executors_wait;                         /* for the next driver, when this one dies */
        const struct earlier_executor *earlier;      /* executors of the earlier driver, n_earlier of them */
        int n_earlier, next_executor_id;
        int64_t registration_timeout_ms;             /* of those */
};
struct driver_epoch job_runner_epoch(const struct job_runner *runner);
void job_runner_reserve_executor_ids(struct job_runner *runner, int next);

/*
 * The cluster offers the cores of these executors, for one task a core: launches what may run there, from within the
 * call, and takes the other cores back. @executors and @cores have @n entries.
 */
void job_runner_offer(struct job_runner *runner, const int *executors, const int *cores, int n);

/* Tasks that wait for a core. */
int job_runner_waiting_tasks(const struct job_runner *runner);

/* Executors of this application find this driver at @url from now on. Blocks. */
void job_runner_publish_driver(struct job_runner *runner, const char *url);

/*
 * Sets spark.authenticate.secret to the one that an earlier driver has kept; false: there is none. And keeps this
 * driver's for the next one.
 */
bool job_runner_take_secret(struct job_runner *runner);
void job_runner_keep_secret(struct job_runner *runner);

/* An executor of an earlier driver has brought the key of the application's encrypted files. */
void job_runner_keep_io_key(struct job_runner *runner);

/* Ends this process, now or soon, if another driver has the application (resume_check_epoch). */
void job_runner_check_epoch(struct job_runner *runner);

/* An executor of an earlier driver will not register. */
void job_runner_earlier_executor_lost(struct job_runner *runner, const char *id);

/*
 * An executor of an earlier driver has this map output, or cached blocks of this RDD (driver/resume/holdings.h). Returns
 * false if it is not needed.
 */
bool job_runner_hold_output(struct job_runner *runner, int shuffle, int map_partition, int64_t task_id, int executor);
bool job_runner_hold_rdd(struct job_runner *runner, int rdd);

/*
 * An executor of an earlier driver has this batch of tasks (driver/resume/holdings.h), which is copied. Returns false if
 * it is not needed. And it does not run any more, and nobody has adopted it. And no job will adopt those that are left.
 */
bool job_runner_hold_run(struct job_runner *runner, const struct held_batch *run);
void job_runner_held_run_ended(struct job_runner *runner, int64_t first_id);
void job_runner_abandon_runs(struct job_runner *runner);

/* Launch no new tasks on the executor. And launch them again. */
void job_runner_executor_disabled(struct job_runner *runner, int executor);
void job_runner_executor_enabled(struct job_runner *runner, int executor);

/* The executor is being killed: launch no new tasks on it. */
void job_runner_executor_killed(struct job_runner *runner, int executor);

/* For dynamic allocation: as allocation_rdd_block and allocation_rdd_unpersisted (driver/allocation.h). */
void job_runner_rdd_block(struct job_runner *runner, int executor, int rdd, int partition, bool in_memory,
                          bool on_disk);
void job_runner_rdd_unpersisted(struct job_runner *runner, int rdd);
