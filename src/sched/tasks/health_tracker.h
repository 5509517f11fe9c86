/*
 * Executors and hosts on which too much fails: excluded from a task, from a task set, or for a time from the whole
 * application (spark.excludeOnFailure.*). For this room only.
 */
#pragma once

#include "base/vec.h"
#include "sched/tasks/executors.h"

struct task_set;
struct task_scheduler;

struct set_failure {
        int32_t executor, index;
        int count;
        int64_t time; /* of the last */
};

/* What failed of one task set: Spark's TaskSetExcludelist. */
struct set_exclusion {
        VEC(struct set_failure) failures;
        VEC(int32_t) executors; /* excluded for the set */
        VEC(int32_t) hosts;
};

void set_exclusion_free(struct set_exclusion *x);

/* Whether the set may use @executor at all, and whether task @index may run on it. @x NULL: yes. */
bool set_exclusion_allows(const struct set_exclusion *x, const struct executors *all, int executor);
bool set_exclusion_allows_task(const struct set_exclusion *x, const struct executors *all,
                               const struct exclusion_config *config, int32_t index, int executor);

/* A failure that counts. */
void exclusion_failed(struct task_scheduler *ts, struct task_set *set, int32_t index, int executor);

struct app_failure {
        int32_t executor;
        int stage, attempt;
        int32_t index;
        int64_t time;
};

struct excluded_place {
        int32_t executor, host; /* one of them -1 */
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

/* The set succeeded: what failed in it was the executors' fault. */
void health_tracker_set_succeeded(struct task_scheduler *ts, const struct task_set *set);

/* Map outputs could not be fetched from @executor. */
void health_tracker_fetch_failed(struct task_scheduler *ts, int executor);

/* Let in again those whose time is over. */
void health_tracker_expire(struct task_scheduler *ts);

/*
 * Sets that launched nothing: if no executor may run one of their tasks, kill an idle one and wait for another, or
 * abort the set.
 */
void exclusion_check(struct task_scheduler *ts, bool launched);
