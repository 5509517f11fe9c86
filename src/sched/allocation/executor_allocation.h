/* Dynamic allocation: the number of executors that an application wants as its work grows and ends
 * (spark.dynamicAllocation.*).
 *
 *      struct executor_allocation *a = executor_allocation_new(&config);
 *      executor_allocation_start(a);                           → ALLOCATION_REQUEST: the initial number
 *      executor_allocation_stage_submitted(a, &stage, now);    ← events, and so on
 *      executor_allocation_tick(a, now);                       → ALLOCATION_REQUEST, ALLOCATION_REMOVE
 *      while ((action = executor_allocation_next_action(a))) … ← executor_allocation_requested, …_removed
 *      … call again at executor_allocation_deadline(a)
 *
 * Every resource profile has a target: the number of executors that the cluster manager maintains. It follows the
 * need, which is the number of executors that could run all waiting and running tasks at once, times config->ratio.
 * When tasks have waited for config->backlog_timeout the target grows by 1. While they still wait, after each
 * config->sustained_timeout by 2, 4, 8, …, up to the need. A target above the need is lowered at once, which ends no
 * executor: an executor is removed when it was idle for long enough (sched/allocation/executor_monitor.h) and the
 * target and the minimum allow it. Each profile's target stays within config->min and config->max.
 *
 * It is pure (docs/pure-cores.md): it takes events and the time, and appends actions, which the owner takes out after
 * each event. Each action is answered by an event. Until a request is answered, ticks do nothing. Times are nanoseconds
 * of a monotonic clock. One thread.
 */
#pragma once

#include "base/clock.h"
#include "sched/allocation/executor_monitor.h"
#include "sched/sched.h"

struct executor_allocation;

struct executor_allocation_config {
        int min, max, initial;     /* .minExecutors, .maxExecutors, the number at start */
        int64_t backlog_timeout;   /* .schedulerBacklogTimeout */
        int64_t sustained_timeout; /* .sustainedSchedulerBacklogTimeout */
        double ratio;              /* .executorAllocationRatio: above 0, at most 1 */
        int tasks_per_executor;    /* of the default profile: spark.executor.cores / spark.task.cpus, … */
        bool decommission;         /* spark.decommission.enabled: executors move their blocks before they end */
        struct executor_monitor_config monitor;
};

/* The number of a profile's tasks that prefer a host. */
struct host_demand {
        const char *host;
        int tasks;
};

/* The executors that the cluster manager must maintain for one profile. */
struct executor_request {
        int profile;
        int target;      /* total number of executors, including running ones */
        int local_tasks; /* tasks of its stages with preferred locations */
        const struct host_demand *hosts;
        int n_hosts;
};

enum allocation_action_kind {
        /* request: maintain these numbers of executors, one request for each profile that was ever used; ends none.
         * Answered by executor_allocation_requested.
         */
        ALLOCATION_REQUEST,

        /* remove: end or decommission these idle executors without changing the requested numbers. Answered by
         * executor_allocation_removed.
         */
        ALLOCATION_REMOVE,
};

struct allocation_action {
        enum allocation_action_kind kind;
        union {
                struct {
                        struct executor_request *profiles;
                        int n;
                } request;
                struct {
                        int32_t *executors;
                        int n;
                        bool decommission;
                } remove;
        };
};

/* @config is copied. Never NULL. */
struct executor_allocation *executor_allocation_new(const struct executor_allocation_config *config);

/* Drops actions that are still queued. NULL is allowed. */
void executor_allocation_free(struct executor_allocation *a);

/* Requests the initial number. */
void executor_allocation_start(struct executor_allocation *a);

/* Takes the oldest action out; NULL: the queue is empty. The action is borrowed until the next call. */
const struct allocation_action *executor_allocation_next_action(struct executor_allocation *a);

/* Answers the oldest ALLOCATION_REQUEST. @reached false: the cluster manager cannot be reached. The targets return to
 * those before the request, and the next tick repeats it.
 */
void executor_allocation_requested(struct executor_allocation *a, bool reached, int64_t now);

/* Answers the oldest ALLOCATION_REMOVE with those executors that are being removed: the scheduler refuses an executor
 * that got a task meanwhile.
 */
void executor_allocation_removed(struct executor_allocation *a, const int32_t *executors, int n);

/* Forgets the executors, because the cluster manager lost track of the application, and starts again
 * with the initial numbers, which the next tick requests. Stages and tasks stay known.
 */
void executor_allocation_reset(struct executor_allocation *a);

/* ------------------------------------------------------------------------------------------ what happened */

/* The preferred hosts of a task; @n 0: none. */
struct task_places {
        const char *const *hosts;
        int n;
};

struct stage_demand {
        int stage, attempt;
        int n_tasks;
        int profile;                      /* resource profile; 0: the default one */
        int tasks_per_executor;           /* that an executor of the profile can run at once; 0: as the default one */
        const struct task_places *places; /* of each task, borrowed for the call; NULL: none */
};

/* A stage attempt has waiting tasks. The first stage of a profile requests the profile's initial number. */
void executor_allocation_stage_submitted(struct executor_allocation *a, const struct stage_demand *stage, int64_t now);

/* The stage attempt has ended. Its running tasks count until they end. */
void executor_allocation_stage_completed(struct executor_allocation *a, int stage, int attempt);

/* Exclusions leave no executor for some task of the stage; or (@yes false) this has ended. */
void executor_allocation_unschedulable(struct executor_allocation *a, int stage, int attempt, bool yes, int64_t now);

/* A slow task gets a speculative attempt. */
void executor_allocation_speculative(struct executor_allocation *a, int stage, int attempt, int32_t index, int64_t now);

struct task_event {
        int stage, attempt; /* of the stage */
        int32_t index;      /* in its task set */
        int32_t executor;
        bool speculative;
};

/* These two also inform the monitor. */
void executor_allocation_task_started(struct executor_allocation *a, const struct task_event *task, int64_t now);
void executor_allocation_task_ended(struct executor_allocation *a, const struct task_event *task, enum task_state state,
                                    int64_t now);

/* The monitor gets other events directly: executors, blocks, jobs. Lives as long as @a. */
struct executor_monitor *executor_allocation_monitor(struct executor_allocation *a);

/* ------------------------------------------------------------------------------------------------- actions */

/* Adjusts the targets, then removes idle executors: executor_allocation_adjust and …_remove. */
void executor_allocation_tick(struct executor_allocation *a, int64_t now);

/* Time of the next tick without other events; INT64_MAX: never. After events that may matter it is
 * EXECUTOR_ALLOCATION_INTERVAL after the last tick, so that many of them cost one tick.
 */
int64_t executor_allocation_deadline(const struct executor_allocation *a);
#define EXECUTOR_ALLOCATION_INTERVAL (100 * NS_PER_MS)

/* Lowers targets above the need, and raises others when due. Changes nothing before the first stage or the first idle
 * timeout. Repeats a request that did not reach the cluster manager.
 */
void executor_allocation_adjust(struct executor_allocation *a, int64_t now);

/* Removes those of @executors that the minimum and the target of their profile allow, not counting those already
 * being removed.
 */
void executor_allocation_remove(struct executor_allocation *a, const struct idle_executor *executors, int n);

/* --------------------------------------------------------------------------------------------------- looks */

/* The target of a profile, 0 if no stage used it; and its next increment. */
int executor_allocation_target(const struct executor_allocation *a, int profile);
int executor_allocation_step(const struct executor_allocation *a, int profile); /* for tests */

/* For tests: the number of executors that all waiting and running tasks of a profile could use. */
int executor_allocation_need(const struct executor_allocation *a, int profile);

/* For tests: waiting and running tasks of a profile. */
struct sched_demand executor_allocation_demand(const struct executor_allocation *a, int profile);

/* For tests: time of the next increase; INT64_MAX: no task waits. */
int64_t executor_allocation_add_time(const struct executor_allocation *a);

/* Sums over all profiles: Spark's gauges ExecutorAllocationManager.executors.numberExecutorsToAdd,
 * numberTargetExecutors and numberMaxNeededExecutors. executor_monitor_total and …_removals have the others.
 */
struct executor_allocation_sums {
        int64_t to_add, target, need;
};

struct executor_allocation_sums executor_allocation_sums(const struct executor_allocation *a);

/* For tests: the current request of a profile. Borrowed until the next event. Returns false if no stage used it. */
bool executor_allocation_request(const struct executor_allocation *a, int profile, struct executor_request *request);
