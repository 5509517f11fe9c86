/* The scheduler's interface for the driver: jobs go in, runs of tasks come out.
 *
 *      struct sched *s = sched_new(&config, &ops, owner);
 *      int e = sched_add_executor(s, "driver", "localhost", 2, now);
 *      int job = sched_submit_job(s, &spec, now);
 *      sched_revive(s, now);                   → ops.launch(owner, e, set, run, n) for each free core
 *      sched_update_status(s, statuses, n, now);      ← the results of those tasks
 *      sched_revive(s, now);                   → …, at last ops.job_ended
 *
 * It is pure (docs/pure-cores.md): each function takes an event and the time, changes state and calls the operations
 * given to sched_new. It opens nothing, reads no clock and starts no thread. All calls come from one thread. An
 * operation may call functions that take a const struct sched or are marked "query", and no others. Two layers lie
 * behind this header: dag.h (jobs and stages) and task_scheduler.h (executors, task sets, pools).
 *
 * Times are nanoseconds of a monotonic clock. Ids count from 0 as Spark's do: jobs, stages and tasks in the
 * application, attempts in their stage or task.
 */
#pragma once

#include "base/strmap.h"
#include "rdd/lineage.h"
#include "sched/sched_config.h"
#include "sched/task_state.h"
#include "sched/tasks/task_locality.h"

#include <stdint.h>

struct sched;
struct job;
struct stage;
struct task_set;
struct task_attempt_info;
struct map_outputs;
struct fst_error;

/* A preferred location of a partition. */
struct task_location {
        int executor;     /* index of the executor that holds it; -1: any executor of the host */
        const char *host; /* used if there is no executor; NULL is not a location */
};

/* A run's share of one custom resource while it holds its core. */
struct task_resource {
        const char *name; /* "gpu" */
        int n;
        const char *const *addresses;
        int64_t amount; /* of each address, in parts of RESOURCE_ONE */
};

/* One task of a run: its own fields, and those that all tasks of the run share. */
struct task_launch {
        int64_t task_id;    /* Spark's TID: dense, from 0 */
        int32_t index;      /* in its task set: the 3 of "task 3.0 in stage 1.0" */
        int32_t partition;  /* of stage->lineage */
        int32_t output;     /* result stage: position in job->partitions; map stage: the partition */
        int32_t attempt;    /* the 0 of "task 3.0" */
        uint8_t locality;   /* enum task_locality; the same for the whole run */
        bool speculative;   /* another attempt is running slowly; always a run of one */
        bool crash_suspect; /* an earlier attempt may have crashed its executor: run it in isolation; always a run of
                               one */
        const struct task_resource *resources; /* of the run; NULL: none */
        int n_resources;
};

/* The map output of a TASK_FETCH_FAILED. */
struct task_fetch {
        int shuffle_id;
        int map_partition; /* -1: the shuffle as a whole */
        int executor;      /* that served it; -1: unknown */
};

/* The end of one attempt. */
struct task_status {
        int64_t task_id;
        enum task_state state;
        int64_t run_ns;                 /* its duration; used to estimate the length of runs */
        int64_t records;                /* records read; 0: unknown */
        uint64_t output;                /* success in a map stage: the driver's handle of the map output, not 0 */
        const char *message;            /* of a failure; borrowed for the call */
        const struct task_fetch *fetch; /* TASK_FETCH_FAILED; borrowed for the call */
        void *user;                     /* the driver's; passed to task_accepted */
};

enum job_result { JOB_SUCCEEDED, JOB_FAILED, JOB_CANCELLED };

/* An executor or host that gets no new tasks because too many failed there. */
struct exclusion {
        struct task_set *set; /* for this set only; NULL: for the whole application */
        int executor;         /* -1: a host */
        const char *host;
        int failures; /* failed tasks on the executor; excluded executors on the host */
        bool lifted;  /* the timeout is over: usable again */
};

/* Operations of the scheduler's owner. Comments name those that may be NULL. They are called from within the sched_…
 * function that caused them. Arrays and strings are borrowed for the call. Order: job_started, then for each stage
 * attempt stage_submitted, launch…, stage_completed; then job_ended; at last task_set_removed, stage_removed and
 * job_removed, once each, when nothing refers to the object any more (tasks of an ended job may still run).
 */
struct sched_ops {
        /* @job->stages holds every stage that it may need, including those that will be skipped. */
        void (*job_started)(void *owner, struct job *job);

        /* A stage attempt begins. Nothing of its task set @set has been launched. */
        void (*stage_submitted)(void *owner, struct stage *stage, struct task_set *set);

        /* Runs @n tasks of @set (1 ≤ n ≤ SCHED_MAX_RUN, task ids consecutive), one after another on one core of
         * @executor. The core is taken until each of them has got a status.
         */
        void (*launch)(void *owner, int executor, struct task_set *set, const struct task_launch *run, int n);

        /* Ends a task that is running or waiting in its run. Its status is still due. @interrupt: also interrupt
         * tasks that do not check for cancellation (spark.job.interruptOnCancel).
         */
        void (*kill_task)(void *owner, int executor, int64_t task_id, bool interrupt, const char *reason);

        /* An attempt was lost with its executor. @status is made by the scheduler: TASK_EXECUTOR_LOST or
         * TASK_PREEMPTED. Later ones are ignored.
         */
        void (*task_lost)(void *owner, const struct task_attempt_info *info, const struct task_status *status);

        /* The first success of an output that a job wants, before the scheduler counts it: called from
         * sched_update_status, exactly once for each output. Results are stored and accumulators are added here. May
         * be NULL.
         */
        void (*task_accepted)(void *owner, const struct task_attempt_info *info, const struct task_status *status);

        /* @failure is NULL when the stage attempt succeeded. */
        void (*stage_completed)(void *owner, struct stage *stage, const char *failure);

        /* @message is NULL for JOB_SUCCEEDED, otherwise a sentence: "Job aborted due to stage failure: …". */
        void (*job_ended)(void *owner, struct job *job, enum job_result result, const char *message);

        /* A map output was removed (lost, replaced, or its shuffle unregistered): release the handle. */
        void (*map_output_removed)(void *owner, int shuffle_id, int map_partition, int executor, uint64_t handle);

        void (*task_set_removed)(void *owner, struct task_set *set);
        void (*stage_removed)(void *owner, struct stage *stage);
        void (*job_removed)(void *owner, struct job *job);

        /* The operations from here on may be NULL. */

        /* Preferred locations of @partition of @rdd itself (not of its parents): cached blocks first, else the
         * input's hosts. Fills up to @max of @out and returns their number. Called for each task of a new task set,
         * along narrow dependencies until one call returns locations. Strings are borrowed until the next call. NULL:
         * no preference.
         */
        int (*preferred)(void *owner, const struct lineage *rdd, int partition, struct task_location *out, int max);

        /* Returns false if no partition of @rdd has preferred locations, so that `preferred` is not called. NULL:
         * true.
         */
        bool (*may_prefer)(void *owner, const struct lineage *rdd);

        /* The rack of a host, NULL: unknown. Called once for each host; copied. */
        const char *(*rack)(void *owner, const char *host);

        /* A slow task gets a speculative attempt as soon as a core is free. */
        void (*speculative_submitted)(void *owner, struct task_set *set, int index);

        /* All tasks of a barrier stage attempt are about to be launched, task i on executors[i]: n launches follow at
         * once.
         */
        void (*barrier_launching)(void *owner, struct task_set *set, const int *executors, int n);

        /* Accepted outputs of @job will be computed and accepted again: discard their results. Only for barrier
         * stages and readers of indeterminate outputs.
         */
        void (*outputs_reset)(void *owner, struct job *job);

        /* An executor or host was excluded, or its exclusion has ended. */
        void (*excluded)(void *owner, const struct exclusion *what);

        /* No usable executor can run some task of @set, so that new ones are needed; or (@yes false) this has ended.
         */
        void (*unschedulable)(void *owner, struct task_set *set, bool yes);

        /* The resource profile of a stage whose RDDs have the profiles @ids (rising, n ≥ 1, none the default one): that
         * profile, or for n > 1 a merged one. NULL: they must not be merged, so the job fails. Borrowed for the call.
         */
        const struct task_profile *(*profile)(void *owner, const int *ids, int n);
};

/* An excluded executor that the owner must end, because the configuration says so. Its loss is reported later. */
struct executor_kill {
        int executor;
        bool decommission;
        char *reason; /* owned */
};

/* Moves the oldest request into *@kill, whose reason the caller owns. Returns false if there is none. Call it after
 * each event; sched_deadline is in the past while requests are queued.
 */
bool sched_next_kill(struct sched *s, struct executor_kill *kill);

/* Copies @config deeply. Borrows @ops and @owner for the scheduler's life. Never NULL. */
struct sched *sched_new(const struct sched_config *config, const struct sched_ops *ops, void *owner);

/* Jobs that have not ended are dropped without job_ended. The …_removed operations are called for all objects. */
void sched_free(struct sched *s);

/* ---------------------------------------------------------------------------------------------------- jobs */

/* A map output that an earlier driver has left outside of executors. */
struct earlier_output {
        int shuffle_id, map_partition;
        int executor;    /* whose loss it shares: a number that no executor of this scheduler has */
        uint64_t handle; /* with MAP_OUTPUT_STORED */
};

struct job_spec {
        struct lineage *final; /* the RDD of the action; must live until job_removed */
        const int *partitions; /* of the RDD; copied. NULL: all of them */
        int n_partitions;      /* length of @partitions; 0: the job succeeds at once */
        const uint8_t *done;   /* by output: 1 if an earlier driver has left its result. Borrowed. NULL: none */
        const struct earlier_output *stored; /* outputs of shuffles that the job may read. Borrowed */
        int n_stored;
        const char *call_site;           /* "count at a.c:12"; copied, NULL allowed */
        const struct strmap *properties; /* spark.jobGroup.id, spark.scheduler.pool, …; copied, NULL allowed */
        void *user;                      /* becomes job->user */
};

/* Submits a job and its first stages. Returns its id (≥ 0), which job_started gets first, or -EINVAL with @error for
 * a partition that the RDD does not have.
 *
 * Outputs that are done before are not computed: the owner takes their results in job_started, for the outputs that
 * job->output_done names. A job whose outputs are all done ends at once. If the tasks of the result stage run together
 * or read outputs that may differ when computed again, some results without the others are not kept. The same is true
 * for the stored outputs of a map stage.
 */
int sched_submit_job(struct sched *s, const struct job_spec *spec, int64_t now, struct fst_error *error);

/* Cancels: the job ends at once with JOB_CANCELLED and "Job 3 cancelled <reason>", its exclusive stages fail, and
 * their tasks are killed. @reason may be NULL. Returns the number of cancelled jobs; 0 is not an error.
 */
int sched_cancel_job(struct sched *s, int job_id, const char *reason, int64_t now);
int sched_cancel_group(struct sched *s, const char *group, const char *reason, int64_t now);
int sched_cancel_tag(struct sched *s, const char *tag, const char *reason, int64_t now);
int sched_cancel_stage(struct sched *s, int stage_id, const char *reason, int64_t now);
int sched_cancel_all(struct sched *s, int64_t now);

/* Query: the job until it is removed, or NULL. */
struct job *sched_job(struct sched *s, int job_id);

/* ----------------------------------------------------------------------------------------------- executors */

/* Adds an executor with @cores cores. Returns its index (dense, never reused), or -EEXIST when a live executor has
 * this id. Both strings are copied.
 */
int sched_add_executor(struct sched *s, const char *id, const char *host, int cores, int64_t now);

/* The same for an executor with custom resources. Everything is copied. */
struct executor_resource {
        const char *name;
        const char *const *addresses;
        int n;
};

struct executor_spec {
        const char *id, *host;
        int profile; /* id of its resource profile; 0: the default one */
        int cores;
        const struct executor_resource *resources;
        int n_resources;
};

int sched_register_executor(struct sched *s, const struct executor_spec *spec, int64_t now);

/* An executor is lost: its tasks end (task_lost), its map outputs are removed, and succeeded map tasks of running
 * stages whose output was there run again. @caused_by_app: the loss counts as a failure of its tasks. Ignores an
 * index that is not alive.
 */
#define LOSS_KILLED "Executor killed by driver."       /* @message of an executor that was killed on request, */
#define LOSS_DECOMMISSION "Executor decommission: "    /* the prefix: decommissioning was requested, */
#define LOSS_DECOMMISSIONED "Finished decommissioning" /* and finished after its blocks were moved */
void sched_executor_lost(struct sched *s, int executor, bool caused_by_app, const char *message, int64_t now);

/* The executor gets no new tasks. Running ones go on. Its connection is lost. Either the reason follows
 * (sched_executor_lost), or sched_enable_executor makes it usable again.
 */
void sched_disable_executor(struct sched *s, int executor);
void sched_enable_executor(struct sched *s, int executor);

/* The cluster lends this executor @cores cores for a task each. They replace those of an earlier call that have no task
 * yet. From the first call on, a core whose task has ended is gone, and a batch has one task.
 */
void sched_lend_cores(struct sched *s, int executor, int cores);

/* The executor will end soon and gets no new tasks. Fetch failures from it do not count against stages
 * (config->ignore_decommission_failures), now or after its end. @host_too: its disks go with it, so its map outputs
 * are removed at its loss even if a shuffle service serves them.
 */
void sched_decommission_executor(struct sched *s, int executor, bool host_too);

/* A host is lost with its disks: removes the map outputs of every executor that ever was on it. */
void sched_host_lost(struct sched *s, const char *host, const char *message, int64_t now);

/* Names the task that was running in a process that crashed. Call it before sched_executor_lost. The task's next
 * attempt is launched as a suspect. Without this call all tasks that ran there become suspects.
 */
void sched_suspect_task(struct sched *s, int64_t task_id);

/* Query: true if the application may not run anything there now: refuse an executor that registers. */
bool sched_host_excluded(const struct sched *s, const char *host);
bool sched_executor_excluded(const struct sched *s, int executor); /* for tests: a new executor has no failures yet */

/* For tests: the number of tasks of the default profile that live, enabled executors can run at once. */
int sched_slots(const struct sched *s);

/* Query: id or host of an executor, "?" for an unknown index. */
const char *sched_executor_id(const struct sched *s, int executor);
const char *sched_executor_host(const struct sched *s, int executor); /* for tests */

/* --------------------------------------------------------------------------------------------------- tasks */

/* Gives each free core a run of tasks, if one is waiting. Call it once after a batch of other calls. */
void sched_revive(struct sched *s, int64_t now);

/* A batch of tasks that an earlier driver launched, and that runs, or has ended and waits to report, on an executor which
 * outlived it. */
struct sched_adoption {
        int executor;
        int64_t first_id;       /* of its tasks, below config->first_task_id */
        const int32_t *outputs; /* of the tasks (task_launch); borrowed */
        int n;
        bool takes_core;        /* false: it has released its core */
};

/* Makes such a batch one of @set's: calls `launch`, with the ids that its tasks have; their statuses are due as those of
 * others. The executor may be disabled. Returns false, changing nothing, if one of the tasks is not wanted or was
 * launched already, if the executor is lost or has no free core, and for barrier and indeterminate stages and profiles
 * with custom resources.
 */
bool sched_adopt_run(struct sched *s, struct task_set *set, const struct sched_adoption *adoption, int64_t now);

/* Reports the ends of attempts. Ignores statuses of tasks that had ended or whose executor was lost. A map output in
 * such a status is released by map_output_removed, with -1 for shuffle, partition and executor. The driver uses the
 * result of a success in task_accepted.
 */
void sched_update_status(struct sched *s, const struct task_status *statuses, int n, int64_t now);

/* The tasks of the batch with @task_id have computed, and their outputs are being stored outside of the executor: its
 * core may take other tasks before the batch's statuses arrive. Ignores unknown tasks.
 */
void sched_release_core(struct sched *s, int64_t task_id, int64_t now);

/* Query: the preferred hosts of task @index of @set, up to @max of them in @out; returns their number. Borrowed while
 * the scheduler exists.
 */
int sched_preferred_hosts(const struct sched *s, const struct task_set *set, int index, const char **out, int max);

/* A running task has read @records in @run_ns, says its executor's heartbeat: distinguishes slow tasks from long ones
 * (spark.speculation.efficiency.*). Ignores unknown tasks.
 */
void sched_task_progress(struct sched *s, int64_t task_id, int64_t records, int64_t run_ns);

/* Kills one attempt (SparkContext.killTaskAttempt). It does not count as failed. Returns false if it has ended. */
bool sched_kill_task(struct sched *s, int64_t task_id, bool interrupt, const char *reason);

/* A task's result has @bytes. Call it once for each result before fetching or using it. Returns false when all
 * results of its task set exceed config->max_result_size: the stage was aborted, and the caller must drop the result.
 */
bool sched_result_fits(struct sched *s, int64_t task_id, int64_t bytes, int64_t now);

/* Query: an attempt by its id. */
struct task_attempt_info {
        struct task_set *set;
        int32_t index, partition, output, attempt;
        int32_t executor;
        int64_t launched; /* launch time of its run */
        enum task_state state;
};

/* Returns false for an unknown task and one that has ended (in task_accepted it has, in task_lost not yet). */
bool sched_task(const struct sched *s, int64_t task_id, struct task_attempt_info *info);

/* Query: true if a success of this attempt would be the first of its output in a job that still wants it; a driver
 * asks before it fetches a large result. Returns false for unknown or ended tasks.
 */
bool sched_result_is_needed(const struct sched *s, int64_t task_id);

/* Time of the next sched_tick without other events; INT64_MAX if never. Ask after each batch of calls. */
int64_t sched_deadline(const struct sched *s);

/* Stages that wait for others, and stages that wait for their next attempt after a failed fetch. */
struct sched_stages {
        int64_t waiting, failed;
};
struct sched_stages sched_count_stages(const struct sched *s);
void sched_tick(struct sched *s, int64_t now);

/* ----------------------------------------------------------------------------------------- shuffle outputs */

/* For tests: the outputs of a shuffle (sched/map_outputs.h); NULL if no job has used it, or it was unregistered.
 */
const struct map_outputs *sched_map_outputs(const struct sched *s, int shuffle_id);

/* A decommissioned executor has sent a map output to another: the output survives its writer, and stages submitted
 * from now on read it there. Returns false, changing nothing, when @from does not hold an output of this handle, or
 * @to is not usable.
 */
bool sched_move_output(struct sched *s, int shuffle_id, int map_partition, uint64_t handle, int from, int to);

/* An executor has stored a map output outside of executors: @stored, with MAP_OUTPUT_STORED, is its handle from now on.
 * Returns false if the executor does not hold the output of @handle. */
bool sched_store_output(struct sched *s, int shuffle_id, int map_partition, uint64_t handle, int executor,
                        uint64_t stored);

/* The RDD of a shuffle is gone: removes its outputs. Jobs that need them compute them again. */
void sched_unregister_shuffle(struct sched *s, int shuffle_id);

/* Query, for the console progress bar and status pages: running task sets, oldest first. */
struct task_set *sched_next_task_set(const struct sched *s, const struct task_set *after);

/* Query, for an allocation manager: the tasks of a stage's newest attempt (@stage_id < 0: of all task sets). */
struct sched_demand {
        int pending;       /* tasks that wait for a core, without speculative ones */
        int speculative;   /* speculative attempts that wait for a core */
        int running;       /* attempts that are running */
        int unschedulable; /* task sets with a task that no usable executor can run */
};

struct sched_demand sched_demand(const struct sched *s, int stage_id);
