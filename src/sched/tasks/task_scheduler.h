/* The task scheduler: executors and their free cores, task sets in their pools, launched runs of tasks.
 *
 * It knows jobs and stages only through task sets, and reports to the DAG scheduler through struct task_events.
 * Thread, time and re-entrance: as sched.h. An event handler may call only task_scheduler_submit and
 * task_scheduler_cancel.
 */
#pragma once

#include "base/queue.h"
#include "sched/tasks/executors.h"
#include "sched/tasks/health_tracker.h"
#include "sched/tasks/pool.h"
#include "sched/tasks/profile.h"
#include "sched/sched.h"
#include "sched/tasks/task_set.h"
#include "sched/tasks/task_table.h"

/* Tasks with consecutive ids that one core of an executor runs one after another. */
struct launched_batch {
        struct task_set *set;
        int executor;
        int n, left;   /* tasks; those that have not ended */
        bool released; /* its tasks have computed, and it has no core any more */
        int64_t first_id;
        int64_t launched;
        int64_t progress;                                 /* when its last task ended, or its launch */
        struct resource_share *shares;                    /* of each resource of the set's profile */
        int max_shares;                                   /* allocated ones */
        struct launched_batch *prev_on, *next_on;         /* on the executor */
        struct launched_batch *prev_in_set, *next_in_set; /* of the set */
};

/* Events for the DAG scheduler. @owner is that of task_scheduler_init. */
struct task_events {
        void (*task_succeeded)(void *owner, const struct task_attempt_info *info, const struct task_status *status);
        /* Any other end. The task scheduler retries the set, or it is a zombie. */
        void (*task_failed)(void *owner, const struct task_attempt_info *info, const struct task_status *status);
        /* A task that had succeeded will run again: its map output was on a lost executor. */
        void (*task_resubmitted)(void *owner, struct task_set *set, int index);
        /* The set has failed and becomes a zombie. @message is a sentence without "Job aborted …". */
        void (*task_set_failed)(void *owner, struct task_set *set, const char *message);
        /* The set has left the scheduler: its last task has ended. */
        void (*task_set_done)(void *owner, struct task_set *set);
        /* The last reference is gone: the owner calls task_set_free. */
        void (*task_set_released)(void *owner, struct task_set *set);
};

struct task_scheduler {
        struct sched_config config;
        const struct task_events *events;
        void *owner; /* of events */
        const struct sched_ops *ops;
        void *ops_owner;
        struct pool *root;
        struct executors executors;
        struct task_resource *launch_resources; /* of the batch being launched */
        int max_launch_resources;
        struct health_tracker health;
        QUEUE(struct executor_kill) kills; /* of excluded executors, until the owner takes them out */
        struct sched_recorder *recorder;   /* NULL: not recording */
        VEC(struct task_set *) parked;     /* sets with work but without a suitable executor */
        uint64_t round;
        bool exclusion_changed;    /* some set may be unschedulable */
        int64_t abort_deadline;    /* of unschedulable sets */
        int64_t locality_deadline; /* when a parked set may use worse executors */
        int64_t speculation_at;    /* time of the next check for slow tasks */
        struct task_set *first, *last;
        struct task_table tasks;
        struct launched_batch *spare_runs; /* free list linked by next_on */
        int64_t now;
};

void task_scheduler_init(struct task_scheduler *ts, const struct sched_config *config, const struct task_events *events,
                         void *owner, const struct sched_ops *ops, void *ops_owner);

/* Removes every task set, through task_set_done, even if tasks are running. */
void task_scheduler_deinit(struct task_scheduler *ts);

/* Schedules a set. Older sets of the same stage become zombies. Takes a reference. */
void task_scheduler_submit(struct task_scheduler *ts, struct task_set *set, int64_t now);

/* Kills all running tasks of @stage's sets, which become zombies. */
void task_scheduler_cancel(struct task_scheduler *ts, const struct stage *stage, bool interrupt, const char *reason);

/* The functions of sched.h of the same names. */
int task_scheduler_add_executor(struct task_scheduler *ts, const struct executor_spec *spec);
void task_scheduler_lose_executor(struct task_scheduler *ts, int executor, bool caused_by_app, const char *message,
                                  int64_t now);
void task_scheduler_suspect(struct task_scheduler *ts, int64_t task_id);
void task_scheduler_release_core(struct task_scheduler *ts, int64_t task_id, int64_t now);
bool task_scheduler_kill(struct task_scheduler *ts, int64_t task_id, bool interrupt, const char *reason);
bool task_scheduler_result_fits(struct task_scheduler *ts, int64_t task_id, int64_t bytes, int64_t now);
bool task_scheduler_adopt(struct task_scheduler *ts, struct task_set *set, const struct sched_adoption *adoption,
                          int64_t now);
void task_scheduler_revive(struct task_scheduler *ts, int64_t now);
void task_scheduler_status(struct task_scheduler *ts, const struct task_status *statuses, int n, int64_t now);
bool task_scheduler_task(const struct task_scheduler *ts, int64_t task_id, struct task_attempt_info *info);

/* The earliest deadline; INT64_MAX if there is none. Then call task_scheduler_tick, and revive. */
int64_t task_scheduler_deadline(const struct task_scheduler *ts);
void task_scheduler_tick(struct task_scheduler *ts, int64_t now);
void task_scheduler_progress(struct task_scheduler *ts, int64_t task_id, int64_t records, int64_t run_ns);

/* ------------------------------------------------------------------------ between the files of this scheduler */

/* The last task of the run has ended: releases the core, if the run has it still. */
void task_scheduler_end_run(struct task_scheduler *ts, struct launched_batch *run);

/* Gives the core and the resources of a run back, once. */
void task_scheduler_release_run(struct task_scheduler *ts, struct launched_batch *run);

/* @set may have something new to launch. */
void task_scheduler_has_work(struct task_scheduler *ts, struct task_set *set);

/* Aborts the set with this message. It may be freed by the call. */
void task_scheduler_give_up(struct task_scheduler *ts, struct task_set *set, const char *message);
