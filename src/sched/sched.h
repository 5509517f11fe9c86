/*
 * The scheduler as its driver sees it: jobs go in, runs of tasks come out.
 *
 *      struct sched *s = sched_new(&config, &ops, owner);
 *      int e = sched_add_executor(s, "driver", "localhost", 2, now);
 *      int job = sched_submit_job(s, &spec, now);
 *      sched_revive(s, now);                   → ops.launch(owner, e, set, run, n) for each free core
 *      sched_update_status(s, statuses, n, now);      ← what became of those tasks
 *      sched_revive(s, now);                   → …, at last ops.job_ended
 *
 * It is pure (docs/architecture.md): every function takes what happened and when, changes state and calls the
 * operations given to sched_new. It opens nothing, reads no clock and starts no thread. All calls come from one
 * thread, and an operation must not call back into the scheduler, but for the functions marked "a look".
 * Two layers lie behind this header: dag.h (jobs and stages) and task_scheduler.h (executors, task sets, pools).
 *
 * Times are nanoseconds of any monotonic clock. Ids count from 0 as Spark's do: jobs, stages and tasks in the
 * application, attempts in their stage or task.
 */
#pragma once

#include "base/strmap.h"
#include "rdd/lineage.h"
#include "sched/sched_config.h"
#include "sched/tasks/task_locality.h"

#include <stdint.h>

struct sched;
struct job;
struct stage;
struct task_set;
struct task_attempt_info;
struct map_outputs;
struct fst_error;

/* Where a partition is best computed. */
struct task_location {
        int executor;     /* index of the executor that holds it; -1: none in particular */
        const char *host; /* used if there is no executor; NULL is no location at all */
};

/* What a run has of one custom resource while it holds its core. */
struct task_resource {
        const char *name; /* "gpu" */
        int n;
        const char *const *addresses;
        int64_t amount; /* of each address, in parts of RESOURCE_ONE */
};

/* One task of a run: what differs from task to task, and what is the run's. */
struct task_launch {
        int64_t task_id;    /* Spark's TID: dense, from 0 */
        int32_t index;      /* in its task set: the 3 of "task 3.0 in stage 1.0" */
        int32_t partition;  /* of stage->lineage */
        int32_t output;     /* result stage: position in job->partitions; map stage: the partition */
        int32_t attempt;    /* the 0 of "task 3.0" */
        uint8_t locality;   /* enum task_locality; the same for all of a run */
        bool speculative;   /* another attempt runs and is slow; then it is a run of one */
        bool crash_suspect; /* an earlier attempt may have crashed its executor: run it apart; a run of one */
        const struct task_resource *resources; /* of the run, config->n_resources of them; NULL: none */
};

enum task_state {
        TASK_SUCCEEDED,
        TASK_FAILED,        /* the task itself failed: counts towards spark.task.maxFailures */
        TASK_FAILED_FATAL,  /* as before, but trying again cannot help: the stage is aborted at once */
        TASK_FETCH_FAILED,  /* a map output could not be had: that map stage runs again */
        TASK_KILLED,        /* on request; does not count */
        TASK_COMMIT_DENIED, /* another attempt commits; does not count */
        TASK_EXECUTOR_LOST, /* its executor went away through the task's fault; counts */
        TASK_PREEMPTED,     /* its executor went away through no fault of the application; does not count */
        TASK_RUNNING,       /* a look at a task that has not ended; never in a status */
};

/* Where a TASK_FETCH_FAILED looked. */
struct task_fetch {
        int shuffle_id;
        int map_partition; /* -1: the shuffle as a whole */
        int executor;      /* that served it; -1 if not known */
};

/* The end of one attempt. */
struct task_status {
        int64_t task_id;
        enum task_state state;
        int64_t run_ns;                 /* how long it ran; teaches the length of runs */
        int64_t records;                /* read; 0 where that is not known */
        uint64_t output;                /* success in a map stage: the driver's handle of the map output, not 0 */
        const char *message;            /* not for success: the failure in words, borrowed for the call */
        const struct task_fetch *fetch; /* TASK_FETCH_FAILED; borrowed for the call */
        void *user;                     /* the driver's: reaches task_accepted */
};

enum job_result { JOB_SUCCEEDED, JOB_FAILED, JOB_CANCELLED };

/* What takes no new tasks because too many failed there. */
struct exclusion {
        struct task_set *set; /* only for this set; NULL: for the whole application */
        int executor;         /* -1: a host */
        const char *host;
        int failures; /* tasks that failed on the executor; excluded executors of the host */
        bool lifted;  /* the time is over: it may be used again */
};

/*
 * What the scheduler asks of its owner. Slots that may be NULL say so. Called from within the
 * sched_… function that caused it; arrays and strings are borrowed for the call. Order: job_started, then for each
 * stage attempt stage_submitted, launch…, stage_completed; then job_ended; at last task_set_removed, stage_removed
 * and job_removed, each once, when nothing refers to the object any more (tasks of an ended job may still run).
 */
struct sched_ops {
        /* @job->stages holds every stage it may need, those included that will be skipped. */
        void (*job_started)(void *owner, struct job *job);

        /* A stage attempt begins; @set is its task set, not yet launched. */
        void (*stage_submitted)(void *owner, struct stage *stage, struct task_set *set);

        /*
         * Run @n tasks of @set (1 ≤ n ≤ SCHED_MAX_RUN, task ids consecutive), one after another on one core of
         * @executor. The core is taken until a status was given for each of them.
         */
        void (*launch)(void *owner, int executor, struct task_set *set, const struct task_launch *run, int n);

        /*
         * End a task, running or still waiting in its run; a status is still due. @interrupt: also break into
         * what does not look up (spark.job.interruptOnCancel).
         */
        void (*kill_task)(void *owner, int executor, int64_t task_id, bool interrupt, const char *reason);

        /*
         * An attempt ended for which no status was given and none will be taken: its executor was lost
         * (TASK_EXECUTOR_LOST or TASK_PREEMPTED). May be NULL, for an owner that knows which runs an executor had.
         */
        void (*task_lost)(void *owner, int executor, struct task_set *set, int64_t task_id, enum task_state state,
                          const char *message);

        /*
         * The first success of an output in a job that wants it, before the scheduler counts it: called from
         * sched_update_status, exactly once for each output. Results are stored and accumulators added here. May be
         * NULL for an owner that has other ways.
         */
        void (*task_accepted)(void *owner, const struct task_attempt_info *info, const struct task_status *status);

        /* @failure is NULL when the stage attempt succeeded. */
        void (*stage_completed)(void *owner, struct stage *stage, const char *failure);

        /* @message is NULL for JOB_SUCCEEDED, else a whole sentence: "Job aborted due to stage failure: …". */
        void (*job_ended)(void *owner, struct job *job, enum job_result result, const char *message);

        /* A map output is forgotten (lost, replaced, or its shuffle unregistered): release the handle. */
        void (*map_output_removed)(void *owner, int shuffle_id, int map_partition, int executor, uint64_t handle);

        void (*task_set_removed)(void *owner, struct task_set *set);
        void (*stage_removed)(void *owner, struct stage *stage);
        void (*job_removed)(void *owner, struct job *job);

        /* From here on every slot may be NULL. */

        /*
         * Where @partition of @rdd itself (not of its parents) lies: cached blocks first, else the input's hosts.
         * Fills up to @max of @out, returns how many. Asked when a task set is made, for each of its tasks, along
         * narrow dependencies until one answers. Strings are borrowed until the next call. NULL: nowhere.
         */
        int (*preferred)(void *owner, const struct lineage *rdd, int partition, struct task_location *out, int max);

        /* False: `preferred` has nothing for any partition of @rdd, and need not be asked. NULL: it may have. */
        bool (*may_prefer)(void *owner, const struct lineage *rdd);

        /* The rack of a host, NULL: not known. Asked once for each host; copied. */
        const char *(*rack)(void *owner, const char *host);

        /* A slow task gets a second attempt as soon as a core is free. */
        void (*speculative_submitted)(void *owner, struct task_set *set, int index);

        /*
         * All tasks of a barrier stage attempt are about to be launched, task i on executors[i]: the launches
         * follow at once, n of them.
         */
        void (*barrier_launching)(void *owner, struct task_set *set, const int *executors, int n);

        /*
         * Outputs of @job that were accepted will be computed and accepted again: forget what they brought. Only
         * for barrier stages and those that read what is computed differently each time.
         */
        void (*outputs_reset)(void *owner, struct job *job);

        /* An executor or host failed too often, or has been given another chance. */
        void (*excluded)(void *owner, const struct exclusion *what);

        /* No executor may run some task of @set: new ones are needed; or (@yes false) this is over. */
        void (*unschedulable)(void *owner, struct task_set *set, bool yes);
};

/* An executor that must go: it is excluded, and the configuration says so. Its loss is told later. */
struct executor_kill {
        int executor;
        bool decommission;
        char *reason; /* owned */
};

/*
 * Takes the oldest of these out, into *@kill, whose reason becomes the caller's. False: there is none. Ask after each
 * event; sched_deadline is in the past as long as there is one.
 */
bool sched_next_kill(struct sched *s, struct executor_kill *kill);

/* @config is copied, with what it points to; @ops and @owner are borrowed for the scheduler's life. Never NULL. */
struct sched *sched_new(const struct sched_config *config, const struct sched_ops *ops, void *owner);

/* Jobs that have not ended are dropped without job_ended; the …_removed operations are called for everything. */
void sched_free(struct sched *s);

/* ---------------------------------------------------------------------------------------------------- jobs */

struct job_spec {
        struct lineage *final;           /* the RDD that the action is on; stays until job_removed */
        const int *partitions;           /* which of its partitions; copied. NULL: all of them */
        int n_partitions;                /* with @partitions; 0 is a job that succeeds at once */
        const char *call_site;           /* "count at a.c:12"; copied, NULL allowed */
        const struct strmap *properties; /* spark.jobGroup.id, spark.scheduler.pool, …; copied, NULL allowed */
        void *user;                      /* becomes job->user */
};

/*
 * Submit a job and its first stages. Returns its id (≥ 0), which job_started saw before; or -EINVAL with @error
 * for a partition that the RDD does not have.
 */
int sched_submit_job(struct sched *s, const struct job_spec *spec, int64_t now, struct fst_error *error);

/*
 * Cancel: the job ends at once with JOB_CANCELLED and "Job 3 cancelled <reason>", stages that only it needs are
 * failed, their tasks killed. @reason may be NULL. Returns how many jobs were cancelled: 0 is no error.
 */
int sched_cancel_job(struct sched *s, int job_id, const char *reason, int64_t now);
int sched_cancel_group(struct sched *s, const char *group, const char *reason, int64_t now);
int sched_cancel_tag(struct sched *s, const char *tag, const char *reason, int64_t now);
int sched_cancel_stage(struct sched *s, int stage_id, const char *reason, int64_t now);
int sched_cancel_all(struct sched *s, int64_t now);

/* A look: the job while it has not been removed, or NULL. */
struct job *sched_job(struct sched *s, int job_id);

/* ----------------------------------------------------------------------------------------------- executors */

/*
 * An executor can take tasks on @cores cores. Returns its index (dense, never used again), or -EEXIST when a
 * living executor has this id. Both strings are copied.
 */
int sched_add_executor(struct sched *s, const char *id, const char *host, int cores, int64_t now);

/* The same for one that has custom resources as well. Everything is copied. */
struct executor_resource {
        const char *name;
        const char *const *addresses;
        int n;
};

struct executor_spec {
        const char *id, *host;
        int cores;
        const struct executor_resource *resources;
        int n_resources;
};

int sched_register_executor(struct sched *s, const struct executor_spec *spec, int64_t now);

/*
 * An executor is gone: its tasks end (op task_lost), its map outputs are forgotten, succeeded map tasks of
 * running stages whose output was there run again. @caused_by_app: the tasks on it are charged a failure.
 * An index that is not alive is ignored.
 */
#define LOSS_KILLED "Executor killed by driver."       /* as messages: it was asked to go, */
#define LOSS_DECOMMISSION "Executor decommission: "    /* the beginning: it was told to go, */
#define LOSS_DECOMMISSIONED "Finished decommissioning" /* and went when others had what it had */
void sched_executor_lost(struct sched *s, int executor, bool caused_by_app, const char *message, int64_t now);

/*
 * No new tasks for it, running ones go on: its connection is lost, and why will be known later
 * (sched_executor_lost), or sched_enable_executor takes it back.
 */
void sched_disable_executor(struct sched *s, int executor);
void sched_enable_executor(struct sched *s, int executor);

/*
 * It will go away soon, and not come back: no new tasks. Fetch failures from it do not count against stages
 * (config->ignore_decommission_failures), now or after it is gone. @host_too: its disks go with it, so that its map
 * outputs are forgotten at its loss even where a shuffle service serves them.
 */
void sched_decommission_executor(struct sched *s, int executor, bool host_too);

/* A host is gone with all that lies there: map outputs of every executor that ever was on it are forgotten. */
void sched_host_lost(struct sched *s, const char *host, const char *message, int64_t now);

/*
 * What became known of a crash: this task was running in the process that died. To be called before
 * sched_executor_lost; its next attempt is launched as a suspect. Without it all tasks that ran there are suspects.
 */
void sched_suspect_task(struct sched *s, int64_t task_id);

/* A look: whether nothing of the application may run there now: an executor that registers is to be refused. */
bool sched_executor_excluded(const struct sched *s, int executor);
bool sched_host_excluded(const struct sched *s, const char *host);

/* A look: how many tasks the living, enabled executors can run at a time. */
int sched_slots(const struct sched *s);

/* A look: id or host of an executor, "?" for an index that never was. */
const char *sched_executor_id(const struct sched *s, int executor);
const char *sched_executor_host(const struct sched *s, int executor);

/* --------------------------------------------------------------------------------------------------- tasks */

/* Give every free core that finds a task a run of tasks. To be called once after a round of other calls. */
void sched_revive(struct sched *s, int64_t now);

/*
 * Attempts ended. Statuses of tasks that ended before, or whose executor was lost, are ignored; a map output
 * that comes with one is released by map_output_removed, with -1 for shuffle, partition and executor. The driver
 * uses a success's result in task_accepted.
 */
void sched_update_status(struct sched *s, const struct task_status *statuses, int n, int64_t now);

/*
 * A look: hosts that task @index of @set would rather run on, up to @max of them into @out; returns how many. Borrowed
 * as long as the scheduler.
 */
int sched_preferred_hosts(const struct sched *s, const struct task_set *set, int index, const char **out, int max);

/*
 * What a running task has read so far, from its executor's heartbeat: tells slow tasks from long ones
 * (spark.speculation.efficiency.*). Unknown tasks are ignored.
 */
void sched_task_progress(struct sched *s, int64_t task_id, int64_t records, int64_t run_ns);

/* Ask for the end of one attempt (SparkContext.killTaskAttempt). It does not count as failed. False: it has ended. */
bool sched_kill_task(struct sched *s, int64_t task_id, bool interrupt, const char *reason);

/*
 * A task's result has @bytes: to be called once for each, before it is fetched or used. False when all results of
 * its task set are more than config->max_result_size: the stage was aborted, and the result is to be dropped.
 */
bool sched_result_fits(struct sched *s, int64_t task_id, int64_t bytes, int64_t now);

/* A look: an attempt by its id. */
struct task_attempt_info {
        struct task_set *set;
        int32_t index, partition, output, attempt;
        int32_t executor;
        int64_t launched; /* when its run was */
        enum task_state state;
};

/* False when the task has ended (in task_accepted it has, in task_lost not yet), or never was. */
bool sched_task(const struct sched *s, int64_t task_id, struct task_attempt_info *info);

/*
 * A look: whether a success of this attempt, reported now, would be the first of its output in a job that still
 * wants it: what a driver asks before it fetches a large result. False too for unknown or ended tasks.
 */
bool sched_result_is_needed(const struct sched *s, int64_t task_id);

/*
 * When sched_tick wants to be called although nothing happened; INT64_MAX if never. Ask after each round.
 */
int64_t sched_deadline(const struct sched *s);
void sched_tick(struct sched *s, int64_t now);

/* ----------------------------------------------------------------------------------------- shuffle outputs */

/* A look: the outputs of a shuffle (sched/map_outputs.h); NULL if no job has used it, or it was unregistered. */
const struct map_outputs *sched_map_outputs(const struct sched *s, int shuffle_id);

/*
 * A decommissioned executor has given a map output to another: it survives its maker's end, and stages that are
 * submitted from now on find it there. False, and nothing has changed, when @from holds no output of this handle (any
 * more), or @to is not to be used.
 */
bool sched_move_output(struct sched *s, int shuffle_id, int map_partition, uint64_t handle, int from, int to);

/* The RDD behind a shuffle is gone: its outputs are forgotten. Jobs that need them will compute them again. */
void sched_unregister_shuffle(struct sched *s, int shuffle_id);

/* A look, for the console progress bar and status pages: task sets that run, oldest first. */
struct task_set *sched_next_task_set(const struct sched *s, const struct task_set *after);

/* A look, for an allocation manager: what a stage's newest attempt (@stage_id < 0: all task sets) has to do. */
struct sched_demand {
        int pending;       /* tasks that wait for a core, speculative ones apart */
        int speculative;   /* second attempts that wait for a core */
        int running;       /* attempts that are out */
        int unschedulable; /* task sets of which some task may run nowhere */
};

struct sched_demand sched_demand(const struct sched *s, int stage_id);
