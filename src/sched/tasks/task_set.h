/*
 * A task set: the tasks of one stage attempt ("stage 1.0"), which of them are pending, running, done, failed.
 *
 * Read by the driver, written by the task scheduler. A zombie launches nothing any more; it stays until its
 * running tasks have ended.
 */
#pragma once

#include "sched/tasks/health_tracker.h"
#include "sched/tasks/locality.h"
#include "sched/tasks/pending_tasks.h"
#include "sched/sched.h"
#include "sched/tasks/speculation.h"
#include "sched/stage.h"

struct task_run;

/* What is known of one task of the set. */
struct task_slot {
        uint16_t attempts;  /* launched so far */
        uint16_t failures;  /* that count towards spark.task.maxFailures */
        uint8_t copies;     /* attempts running */
        bool crash_suspect; /* may have crashed an executor */
        bool done;          /* succeeded, here or in another attempt of the stage; or not wanted any more */
};

struct task_set {
        struct stage *stage;
        struct job *job; /* the one it was submitted for; others may wait for it too */
        int stage_id;
        int attempt;      /* of the stage */
        int n;            /* tasks */
        int32_t *outputs; /* index → output (sched.h, task_launch), rising; NULL: the same */
        char id[24];      /* "1.0" */
        int cpus;         /* cores that each run takes */
        int n_running;    /* attempts launched and not ended */
        int n_waiting;    /* tasks not done of which no attempt is out */
        int n_succeeded;
        int n_failed; /* attempts that failed, for progress */
        bool zombie;
        int64_t submitted;
        void *user; /* the driver's; NULL at first */

        /* for the task scheduler */
        int refs;
        struct task_set *prev, *next; /* that are in the scheduler, oldest first */
        struct schedulable node;
        struct pool *pool;
        struct pending_tasks pending;
        struct task_slot *slots;
        struct task_run *runs; /* out on executors */
        int64_t mean_ns;       /* of a task, moving */
        int64_t measured;      /* tasks behind the mean */
        uint64_t epoch;        /* of map outputs when it was made */
        int max_failures;
        char *last_failure;              /* message of the last failed task, to shorten the log */
        int same_failures;               /* how often in a row it was the same */
        bool barrier;                    /* all at once or not at all */
        struct locality *locality;       /* NULL: no task prefers anything */
        struct speculation *speculation; /* NULL: switched off */
        struct set_exclusion *exclusion; /* NULL: nothing has failed */
        int64_t abort_at;                /* health_tracker.c: it can nowhere run; INT64_MAX: it can */

        /* for offers.c */
        bool parked;
        int cursor;                     /* the executor that it looks at next; -1: none */
        int pass;                       /* of locality->levels */
        enum task_locality nearest;     /* launched in this round */
        enum task_locality seen_level;  /* that was allowed last */
        uint64_t round, launched_round; /* that it took part in, launched in */
        uint64_t seen;                  /* executors of the queue up to this one have nothing for it */
        uint64_t seen_membership;
        int64_t result_bytes; /* of all results so far */
        int n_results;
};

/* @outputs are stolen. One reference is the caller's. */
struct task_set *task_set_new(struct stage *stage, struct job *job, int attempt, int32_t *outputs, int n);
struct task_set *task_set_ref(struct task_set *set);

/* True if this was the last reference; then the caller has to see to task_set_free. */
bool task_set_unref(struct task_set *set);
void task_set_free(struct task_set *set);

/* The task whose output is @output; -1 if the set has none. */
int task_set_index(const struct task_set *set, int output);

/*
 * How many tasks the next run may hold: about @target ns of work at the measured mean, at most twice as many as
 * were measured, at most half of an even share of what is left among @slots cores, 1 … @max.
 */
int task_set_run_limit(const struct task_set *set, int64_t target, int slots, int max);

/* A task took @ns. */
void task_set_measure(struct task_set *set, int64_t ns);

/*
 * Take up to @max pending tasks for one run. A task that ran before is taken alone, so that it cannot take
 * others down with it. Returns how many; 0 when nothing is pending.
 */
int task_set_take(struct task_set *set, int max, int32_t *indexes);

/* Only tasks that have never been launched. */
int task_set_take_first(struct task_set *set, int max, int32_t *indexes);

/* Whether task @index waits for a core. */
static inline bool task_set_waits(const struct task_set *set, int32_t index)
{
        return !set->slots[index].done && set->slots[index].copies == 0;
}

/* Whether there is something to launch. */
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
