/*
 * The scheduler as its driver sees it: jobs go in, runs of tasks come out.
 *
 *      struct sched *s = sched_new(&config, &ops, owner);
 *      int e = sched_add_executor(s, "driver", "localhost", 2, now);
 *      int job = sched_submit_job(s, &spec, now);
 *      sched_revive(s, now);                   → ops.launch(owner, e, set, run, n) for each free core
 *      sched_status(s, statuses, n, now);      ← what became of those tasks
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
#include "sched/pool.h"

#include <stdint.h>

struct sched;
struct job;
struct stage;
struct task_set;
struct task_attempt_info;
struct map_outputs;
struct fst_error;

enum { SCHED_MAX_RUN = 256 };

/* One task of a run: what differs from task to task. */
struct task_launch {
        int64_t task_id;   /* Spark's TID: dense, from 0 */
        int32_t index;     /* in its task set: the 3 of "task 3.0 in stage 1.0" */
        int32_t partition; /* of stage->lineage */
        int32_t output;    /* result stage: position in job->partitions; map stage: the partition */
        int32_t attempt;   /* the 0 of "task 3.0" */
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
        uint64_t output;                /* success in a map stage: the driver's handle of the map output, not 0 */
        const char *message;            /* not for success: the failure in words, borrowed for the call */
        const struct task_fetch *fetch; /* TASK_FETCH_FAILED; borrowed for the call */
        void *user;                     /* the driver's: reaches task_accepted */
};

enum job_result { JOB_SUCCEEDED, JOB_FAILED, JOB_CANCELLED };

/*
 * What the scheduler asks of its owner. Every slot but task_accepted must be filled. Called from within the
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
         * (TASK_EXECUTOR_LOST or TASK_PREEMPTED).
         */
        void (*task_lost)(void *owner, int executor, struct task_set *set, int64_t task_id, enum task_state state,
                          const char *message);

        /*
         * The first success of an output in a job that wants it, before the scheduler counts it: called from
         * sched_status, exactly once for each output. Results are stored and accumulators added here. May be
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
};

struct sched_config {
        enum scheduling_mode mode;     /* spark.scheduler.mode */
        const struct pool_spec *pools; /* fairscheduler.xml (sched/pool_file.h); borrowed for sched_new */
        int n_pools;
        int max_failures;               /* spark.task.maxFailures; local[N] has 1 */
        int task_cpus;                  /* spark.task.cpus */
        int max_stage_attempts;         /* spark.stage.maxConsecutiveAttempts */
        int64_t resubmit_delay;         /* ns to collect fetch failures before a map stage runs again */
        int max_run;                    /* ≤ SCHED_MAX_RUN; 1 switches runs off */
        int64_t run_target;             /* ns of work that a run should hold */
        bool outputs_outlive_executors; /* an external shuffle service serves map outputs */
};

/* Spark's defaults. */
#define SCHED_CONFIG_DEFAULT                                                                                           \
        ((struct sched_config){.mode = SCHEDULING_FIFO,                                                                \
                               .max_failures = 4,                                                                      \
                               .task_cpus = 1,                                                                         \
                               .max_stage_attempts = 4,                                                                \
                               .resubmit_delay = 200000000,                                                            \
                               .max_run = SCHED_MAX_RUN,                                                               \
                               .run_target = 700000})

/* @config is copied; @ops and @owner are borrowed for the scheduler's life. Never NULL. */
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

/*
 * An executor is gone: its tasks end (op task_lost), its map outputs are forgotten, succeeded map tasks of
 * running stages whose output was there run again. @caused_by_app: the tasks on it are charged a failure.
 * An index that is not alive is ignored.
 */
void sched_lose_executor(struct sched *s, int executor, bool caused_by_app, const char *message, int64_t now);

/* No new tasks for it (decommission, disabled until the loss reason is known); running ones go on. */
void sched_disable_executor(struct sched *s, int executor);

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
void sched_status(struct sched *s, const struct task_status *statuses, int n, int64_t now);

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
bool sched_task_counts(const struct sched *s, int64_t task_id);

/*
 * When sched_tick wants to be called although nothing happened; INT64_MAX if never. Ask after each round.
 */
int64_t sched_deadline(const struct sched *s);
void sched_tick(struct sched *s, int64_t now);

/* ----------------------------------------------------------------------------------------- shuffle outputs */

/* A look: the outputs of a shuffle (sched/map_outputs.h); NULL if no job has used it, or it was unregistered. */
const struct map_outputs *sched_map_outputs(const struct sched *s, int shuffle_id);

/* The RDD behind a shuffle is gone: its outputs are forgotten. Jobs that need them will compute them again. */
void sched_unregister_shuffle(struct sched *s, int shuffle_id);

/* A look, for the console progress bar and status pages: task sets that run, oldest first. */
struct task_set *sched_next_task_set(const struct sched *s, const struct task_set *after);
