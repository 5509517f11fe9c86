/* A task set: the tasks of one stage attempt ("stage 1.0"), and which are pending, running, done or failed.
 *
 * The driver reads it, the task scheduler writes it. A zombie launches nothing. It stays until its running tasks have
 * ended.
 */
#pragma once

#include "sched/tasks/health_tracker.h"
#include "sched/tasks/locality.h"
#include "sched/tasks/pending_tasks.h"
#include "sched/sched.h"
#include "sched/tasks/speculation.h"
#include "sched/stage.h"

struct launched_batch;
struct sched_profile;

/* The state of one task of the set. */
struct task_slot {
        uint16_t attempts;  /* launched so far */
        uint16_t failures;  /* those that count towards spark.task.maxFailures */
        uint8_t copies;     /* running attempts */
        bool crash_suspect; /* may have crashed an executor */
        bool done;          /* succeeded, here or in another attempt of the stage; or no longer wanted */
};

struct task_set {
        struct stage *stage;
        struct job *job; /* the job it was submitted for; others may wait for it too */
        int stage_id;
        int attempt;      /* of the stage */
        int n;            /* tasks */
        int32_t *outputs; /* index → output (sched.h, task_launch), rising; NULL: the same */
        char id[24];      /* "1.0" */
        int n_running;    /* running attempts */
        int n_waiting;    /* unfinished tasks without a running attempt */
        int n_succeeded;
        int n_failed; /* failed attempts, for progress */
        bool zombie;
        int64_t submitted;
        void *user; /* the driver's; initially NULL */

        /* for the task scheduler */
        int refs;
        struct task_set *prev, *next; /* sets in the scheduler, oldest first */
        struct schedulable node;
        struct pool *pool;
        const struct sched_profile *profile; /* what each run takes, and where */
        struct pending_tasks pending;
        struct task_slot *slots;
        struct launched_batch *runs; /* on executors */
        int64_t mean_ns;             /* moving average of a task's duration */
        int64_t measured;            /* number of measured tasks */
        uint64_t epoch;              /* of map outputs at creation */
        int max_failures;
        char *last_failure;              /* message of the last failed task, to shorten the log */
        int same_failures;               /* consecutive failures with that message */
        bool barrier;                    /* all tasks together or none */
        struct locality *locality;       /* NULL: no task has a preferred location */
        struct speculation *speculation; /* NULL: disabled */
        struct set_exclusion *exclusion; /* NULL: no failures */
        int64_t abort_at; /* health_tracker.c: when it is aborted as unschedulable; INT64_MAX: it can run */

        /* for offers.c */
        bool parked;
        int cursor;                     /* the executor that it checks next; -1: none */
        int pass;                       /* of locality->levels */
        enum task_locality nearest;     /* level of a launch in this round */
        enum task_locality seen_level;  /* last allowed level */
        uint64_t round, launched_round; /* of its last participation, and of its last launch */
        uint64_t seen;                  /* executors of the queue up to this one cannot serve it */
        uint64_t seen_membership;
        int64_t result_bytes; /* of all results so far */
        int n_results;
};

/* @outputs are stolen. The caller owns one reference. */
struct task_set *task_set_new(struct stage *stage, struct job *job, int attempt, int32_t *outputs, int n);
struct task_set *task_set_ref(struct task_set *set);

/* Returns true if this was the last reference. Then the caller must see to task_set_free. */
bool task_set_unref(struct task_set *set);
void task_set_free(struct task_set *set);

/* The index of the task for @output; -1 if the set has none. */
int task_set_index(const struct task_set *set, int output);

/* The largest number of tasks for the next run: about @target ns of work at the measured mean, at most twice as many
 * as were measured, at most half of an even share of the remaining ones among @slots cores, 1 … @max.
 */
int task_set_run_limit(const struct task_set *set, int64_t target, int slots, int max);

/* Adds a measured duration. */
void task_set_measure(struct task_set *set, int64_t ns);

/* Takes up to @max pending tasks for one run. A retry is taken alone, so that its failure does not affect others.
 * Returns their number; 0 when nothing is pending.
 */
int task_set_take(struct task_set *set, int max, int32_t *indexes);

/* Takes only tasks that have never been launched. */
int task_set_take_first(struct task_set *set, int max, int32_t *indexes);

/* Returns true if task @index waits for a core. */
static inline bool task_set_waits(const struct task_set *set, int32_t index)
{
        return !set->slots[index].done && set->slots[index].copies == 0;
}

/* Returns true if there is something to launch. */
static inline bool task_set_has_work(const struct task_set *set)
{
        return set->n_waiting > 0 || (set->speculation && set->speculation->slow.len > 0);
}

static inline int task_set_output(const struct task_set *set, int index)
{
        return set->outputs ? set->outputs[index] : index;
}

/* The partition of stage->lineage that task @index computes. */
static inline int task_set_partition(const struct task_set *set, int index)
{
        int output = task_set_output(set, index);

        return stage_is_result(set->stage) ? job_partition(set->stage->job, output) : output;
}
