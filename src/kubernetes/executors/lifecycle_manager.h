/*
 * What becomes of executors whose pods end: Spark's ExecutorPodsLifecycleManager, and its backend's deletions.
 *
 *      struct lifecycle_manager *m = lifecycle_manager_new(&config, &actions);
 *      lifecycle_manager_registered(m, 1, now);             ← the scheduler knows executor 1
 *      lifecycle_manager_snapshot(m, &batch, now);          ← a batch of the snapshots store
 *                                                           → POD_ACTION_REMOVE_EXECUTOR, POD_ACTION_DELETE, …
 *      … call lifecycle_manager_tick at lifecycle_manager_deadline(m)
 *
 * A pod that fails, succeeds or is deleted takes its executor out of the scheduler, once, with a reason in words
 * (exit_reason.h); its pod is deleted, after the tail of its log was fetched if it failed, or, if pods are to stay for
 * people to look at (delete_executors false), labelled inactive. An executor that has no pod is removed when it was
 * registered more than `missing_delta` before the last full list. Executors that are killed get `kill_grace` to end by
 * themselves, then their pods are deleted. Too many failures stop the application.
 *
 * Pods that wait for a reason are spoken of once, together, and again when the reason is another.
 *
 * Pure: it appends to the actions of executor_pods.h. Times are ns of any monotonic clock. One thread.
 */
#pragma once

#include "base/clock.h"
#include "kubernetes/executors/pod_actions.h"
#include "kubernetes/executors/snapshots_store.h"

struct lifecycle_manager;

struct lifecycle_config {
        bool delete_executors;    /* spark.kubernetes.executor.deleteOnTermination */
        int64_t missing_delta;    /* .executor.missingPodDetectDelta */
        int64_t removed_memory;   /* .executor.deletedExecutorsCacheTimeout */
        int64_t kill_grace;       /* spark.kubernetes.dynamicAllocation.deleteGracePeriod */
        int max_failures;         /* spark.executor.maxNumFailures, else lifecycle_max_failures() */
        int64_t failure_validity; /* spark.executor.failuresValidityInterval; 0 or less: for ever */
        int64_t wall_offset;      /* what to add to `now` for the time of day since 1970 */
        struct pod_rules rules;   /* as the store has them */
};

#define LIFECYCLE_DEFAULT                                                                                              \
        ((struct lifecycle_config){.delete_executors = true,                                                           \
                                   .missing_delta = 30 * NS_PER_SECOND,                                                \
                                   .removed_memory = 180 * NS_PER_SECOND,                                              \
                                   .kill_grace = 5 * NS_PER_SECOND,                                                    \
                                   .max_failures = 3,                                                                  \
                                   .failure_validity = -1,                                                             \
                                   .rules = {.check_all = true}})

/* What spark.executor.maxNumFailures is if not set: twice the executors (the most that there may be), 3 at least. */
int lifecycle_max_failures(int executors);

/* The exit code of an application whose executors fail too often. */
#define LIFECYCLE_EXIT_FAILURES 11

/* @config is copied, its strings too; @actions is borrowed. Never NULL. */
struct lifecycle_manager *lifecycle_manager_new(const struct lifecycle_config *config, struct pod_actions *actions);
void lifecycle_manager_free(struct lifecycle_manager *m);

/* The scheduler knows an executor, or does no longer. */
void lifecycle_manager_registered(struct lifecycle_manager *m, int32_t id, int64_t now);
void lifecycle_manager_unregistered(struct lifecycle_manager *m, int32_t id, int64_t now);

void lifecycle_manager_snapshot(struct lifecycle_manager *m, const struct pods_batch *batch, int64_t now);

/* A pod could not be created: it counts as a failed executor. */
void lifecycle_manager_creation_failed(struct lifecycle_manager *m, int64_t now);

/* The scheduler has told these executors to end: their pods are deleted if they still run after kill_grace. */
void lifecycle_manager_killed(struct lifecycle_manager *m, const int32_t *ids, int n, int64_t now);

/* The scheduler has asked this executor to move its data and to end. */
void lifecycle_manager_decommissioned(struct lifecycle_manager *m, int32_t id);

/* When lifecycle_manager_tick has something to do; INT64_MAX: nothing until something happens. */
int64_t lifecycle_manager_deadline(const struct lifecycle_manager *m);
void lifecycle_manager_tick(struct lifecycle_manager *m, const struct pods_snapshot *pods, int64_t now);

/* Too many executors have failed: the application ends. */
bool lifecycle_manager_gave_up(const struct lifecycle_manager *m);

/* An executor ran out of memory, once at least. */
bool lifecycle_manager_saw_out_of_memory(const struct lifecycle_manager *m);

/* Failures that count, now. */
int lifecycle_manager_failures(struct lifecycle_manager *m, int64_t now);

/* Records that it holds, for tests and metrics. */
size_t lifecycle_manager_size(const struct lifecycle_manager *m);
