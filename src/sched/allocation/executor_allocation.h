/*
 * Dynamic allocation: how many executors an application wants, as its work grows and ends (spark.dynamicAllocation.*).
 *
 *      struct executor_allocation *a = executor_allocation_new(&config, &ops, owner);
 *      executor_allocation_start(a);                           → ops.request_total: the initial number
 *      executor_allocation_stage_submitted(a, &stage, now);    ← what happened, and so on
 *      executor_allocation_tick(a, now);                       → ops.request_total, ops.remove
 *      … call again at executor_allocation_deadline(a)
 *
 * Every resource profile has a target: the executors that the cluster manager is to keep up. It follows the need, the
 * executors that could run all waiting and running tasks at once, times config->ratio. When tasks have waited for
 * config->backlog_timeout the target grows by 1; as long as they still wait, after each config->sustained_timeout by 2,
 * 4, 8, …, to the need at most. When it is above the need it falls to it at once, but ends no executor: one is given
 * back when it was idle for long enough (sched/allocation/executor_monitor.h) and the target and the least number allow it.
 * Targets stay within config->min and config->max, each profile's for itself.
 *
 * It is pure, as sched.h: it takes what happened and when, and calls the operations. Times are nanoseconds of any
 * monotonic clock. One thread; an operation must not call back into it.
 */
#pragma once

#include "sched/allocation/executor_monitor.h"
#include "sched/sched.h"

struct executor_allocation;

struct executor_allocation_config {
        int min, max, initial;     /* .minExecutors, .maxExecutors, the number to begin with */
        int64_t backlog_timeout;   /* .schedulerBacklogTimeout */
        int64_t sustained_timeout; /* .sustainedSchedulerBacklogTimeout */
        double ratio;              /* .executorAllocationRatio: over 0, at most 1 */
        int tasks_per_executor;    /* of the default profile: spark.executor.cores / spark.task.cpus, … */
        bool decommission;         /* spark.decommission.enabled: let executors move their blocks before they end */
        struct executor_monitor_config monitor;
};

/* How many of a profile's tasks would like to run on a host. */
struct host_demand {
        const char *host;
        int tasks;
};

/* What the cluster manager is to keep up for one profile. */
struct executor_request {
        int profile;
        int target;      /* executors in all, those that run included */
        int local_tasks; /* tasks of its stages that would like to be somewhere */
        const struct host_demand *hosts;
        int n_hosts;
};

struct executor_allocation_ops {
        /*
         * Keep up these numbers of executors, one request for each profile that was ever used; nothing is to be ended
         * for it. False: the cluster manager cannot be reached; the targets stay what they were, and it is asked
         * again. Borrowed for the call.
         */
        bool (*request_total)(void *owner, const struct executor_request *requests, int n);

        /*
         * End these idle executors, or have them decommissioned, without changing what was requested. The ones that
         * will go are put into @accepted (room for @n) and counted: the scheduler refuses one that got a task
         * meanwhile.
         */
        int (*remove)(void *owner, const int32_t *executors, int n, bool decommission, int32_t *accepted);

        struct executor_monitor_ops monitor; /* of its monitor, with the same owner */
};

/* @config is copied, @ops and @owner are borrowed. Never NULL. */
struct executor_allocation *executor_allocation_new(const struct executor_allocation_config *config,
                                                    const struct executor_allocation_ops *ops, void *owner);
void executor_allocation_free(struct executor_allocation *a);

/* Request the initial number. */
void executor_allocation_start(struct executor_allocation *a);

/*
 * The cluster manager lost track of the application: forget its executors, and begin again with the initial numbers,
 * which the next tick requests. Stages and tasks stay known.
 */
void executor_allocation_reset(struct executor_allocation *a);

/* ------------------------------------------------------------------------------------------ what happened */

/* Where a task would like to run; @n 0: anywhere. */
struct task_places {
        const char *const *hosts;
        int n;
};

struct stage_demand {
        int stage, attempt;
        int n_tasks;
        int profile;                      /* resource profile; 0: the default one */
        int tasks_per_executor;           /* that an executor of the profile can run at a time; 0: as the default one */
        const struct task_places *places; /* of each task, for the call; NULL: anywhere */
};

/* A stage attempt has tasks that wait. The first stage of a profile requests the initial number for it. */
void executor_allocation_stage_submitted(struct executor_allocation *a, const struct stage_demand *stage, int64_t now);

/* It is over; tasks of it may still run, and are counted until they end. */
void executor_allocation_stage_completed(struct executor_allocation *a, int stage, int attempt);

/* Some task of it may run nowhere because of what was excluded; or (@yes false) this is over. */
void executor_allocation_unschedulable(struct executor_allocation *a, int stage, int attempt, bool yes, int64_t now);

/* A slow task is to get a second attempt. */
void executor_allocation_speculative(struct executor_allocation *a, int stage, int attempt, int32_t index, int64_t now);

struct task_event {
        int stage, attempt; /* of the stage */
        int32_t index;      /* in its task set */
        int32_t executor;
        bool speculative;
};

/* These two tell the monitor as well. */
void executor_allocation_task_started(struct executor_allocation *a, const struct task_event *task, int64_t now);
void executor_allocation_task_ended(struct executor_allocation *a, const struct task_event *task, enum task_state state,
                                    int64_t now);

/* What the monitor is told apart: executors, blocks, jobs. Lives as long as @a. */
struct executor_monitor *executor_allocation_monitor(struct executor_allocation *a);

/* -------------------------------------------------------------------------------------------- what is done */

/* Adjust the targets, then give back idle executors: executor_allocation_adjust and …_remove. */
void executor_allocation_tick(struct executor_allocation *a, int64_t now);

/*
 * When the next tick has something to do if nothing happens until then; INT64_MAX: never. After events that may matter
 * it is EXECUTOR_ALLOCATION_INTERVAL after the last tick, so that many of them cost one tick.
 */
int64_t executor_allocation_deadline(const struct executor_allocation *a);
#define EXECUTOR_ALLOCATION_INTERVAL INT64_C(100000000)

/*
 * Lower the targets that are above the need, raise the others if it is time to. Changes none before the first stage,
 * or the first executor whose idle time is over. Repeats a request that did not reach the cluster manager. Returns by
 * how much the targets changed in all.
 */
int64_t executor_allocation_adjust(struct executor_allocation *a, int64_t now);

/*
 * Give back those of @executors that the least number and the target of their profile allow, counting out those that
 * were asked to go before. Their numbers come into @removed (room for @n; NULL: not wanted); returns how many.
 */
int executor_allocation_remove(struct executor_allocation *a, const struct idle_executor *executors, int n,
                               int32_t *removed);

/* --------------------------------------------------------------------------------------------------- looks */

/* The target of a profile, 0 if no stage used it; and by how much it grows next. */
int executor_allocation_target(const struct executor_allocation *a, int profile);
int executor_allocation_step(const struct executor_allocation *a, int profile);

/* The executors of a profile that all waiting and running tasks could use. */
int executor_allocation_need(const struct executor_allocation *a, int profile);

/* What waits and runs for a profile. */
struct sched_demand executor_allocation_demand(const struct executor_allocation *a, int profile);

/* When targets grow; INT64_MAX: no task waits. */
int64_t executor_allocation_add_time(const struct executor_allocation *a);

/*
 * Sums over all profiles: Spark's gauges ExecutorAllocationManager.executors.numberExecutorsToAdd,
 * numberTargetExecutors and numberMaxNeededExecutors. The others are the monitor's executor_monitor_total and
 * …_removals.
 */
struct executor_allocation_sums {
        int64_t to_add, target, need;
};

struct executor_allocation_sums executor_allocation_sums(const struct executor_allocation *a);

/* The request as it stands for a profile; borrowed until the next event. False: no stage used it. */
bool executor_allocation_request(const struct executor_allocation *a, int profile, struct executor_request *request);
