/* Exclusion of executors and hosts with too many failures: for a task, for a task set, or temporarily for the whole
 * application (spark.excludeOnFailure.*). Internal to this room.
 */
#pragma once

#include "base/vec.h"
#include "sched/tasks/executors.h"

struct task_set;
struct task_scheduler;

struct set_failure {
        int32_t executor, index;
        int count;
        int64_t time; /* of the last one */
};

/* Failures of one task set: Spark's TaskSetExcludelist. */
struct set_exclusion {
        VEC(struct set_failure) failures;
        VEC(int32_t) executors; /* excluded for the set */
        VEC(int32_t) hosts;
};

void set_exclusion_free(struct set_exclusion *x);

/* Returns true if the set may use @executor at all, or if task @index may run on it. @x NULL: true. */
bool set_exclusion_allows(const struct set_exclusion *x, const struct executors *all, int executor);
bool set_exclusion_allows_task(const struct set_exclusion *x, const struct executors *all,
                               const struct exclusion_config *config, int32_t index, int executor);

/* Counts a failure. */
void exclusion_failed(struct task_scheduler *ts, struct task_set *set, int32_t index, int executor);

struct app_failure {
        int32_t executor;
        int stage, attempt;
        int32_t index;
        int64_t time;
};

struct excluded_place {
        int32_t executor, host; /* one of them is -1 */
        int64_t until;
};

/* For the whole application: Spark's HealthTracker. */
struct health_tracker {
        VEC(struct app_failure) failures;
        VEC(struct excluded_place) excluded;
        int64_t next_expiry;
};

void health_tracker_init(struct health_tracker *h);
void health_tracker_deinit(struct health_tracker *h);

/* The set succeeded: its failures count against the executors. */
void health_tracker_set_succeeded(struct task_scheduler *ts, const struct task_set *set);

/* Map outputs could not be fetched from @executor. */
void health_tracker_fetch_failed(struct task_scheduler *ts, int executor);

/* Ends exclusions whose timeout is over. */
void health_tracker_expire(struct task_scheduler *ts);

/* For sets that launched nothing: if no executor may run one of their tasks, kills an idle one and waits for another,
 * or aborts the set.
 */
void exclusion_check(struct task_scheduler *ts, bool launched);
