/*
 * Handles executors whose pods end: Spark's ExecutorPodsLifecycleManager, and its backend's deletions.
 *
 *      struct lifecycle_manager *m = lifecycle_manager_new(&config, &actions);
 *      lifecycle_manager_registered(m, 1, now);             ← the scheduler knows executor 1
 *      lifecycle_manager_snapshot(m, &batch, now);          ← a batch of the snapshots store
 *                                                           → POD_ACTION_REMOVE_EXECUTOR, POD_ACTION_DELETE, …
 *      … call lifecycle_manager_tick at lifecycle_manager_deadline(m)
 *
 * When a pod fails, succeeds or is deleted, its executor is removed from the scheduler once, with a reason
 * (exit_reason.h). Then the pod is deleted, after its log's tail was fetched if it failed. With delete_executors false
 * the pod is labelled inactive and kept for inspection. An executor without a pod is removed if it registered more than
 * `missing_delta` before the last full list. Killed executors get `kill_grace` to exit before their pods are deleted.
 * Too many failures stop the application.
 *
 * Waiting pods are logged once per reason, together, and again when the reason changes.
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
        int64_t failure_validity; /* spark.executor.failuresValidityInterval; 0 or less: no expiry */
        int64_t wall_offset;      /* added to `now` gives the time of day since 1970 */
        struct pod_rules rules;   /* the store's rules */
};

#define LIFECYCLE_DEFAULT                                                                                              \
        ((struct lifecycle_config){.delete_executors = true,                                                           \
                                   .missing_delta = 30 * NS_PER_SECOND,                                                \
                                   .removed_memory = 180 * NS_PER_SECOND,                                              \
                                   .kill_grace = 5 * NS_PER_SECOND,                                                    \
                                   .max_failures = 3,                                                                  \
                                   .failure_validity = -1,                                                             \
                                   .rules = {.check_all = true}})

/* Returns the default of spark.executor.maxNumFailures: twice the maximum number of executors, at least 3. */
int lifecycle_max_failures(int executors);

/* The exit code of an application whose executors fail too often. */
#define LIFECYCLE_EXIT_FAILURES 11

/* Copies @config with its strings. @actions is borrowed. Never NULL. */
struct lifecycle_manager *lifecycle_manager_new(const struct lifecycle_config *config, struct pod_actions *actions);
void lifecycle_manager_free(struct lifecycle_manager *m);

/* Reports that the scheduler has added or removed an executor. */
void lifecycle_manager_registered(struct lifecycle_manager *m, int32_t id, int64_t now);
void lifecycle_manager_unregistered(struct lifecycle_manager *m, int32_t id, int64_t now);

void lifecycle_manager_snapshot(struct lifecycle_manager *m, const struct pods_batch *batch, int64_t now);

/* Reports a pod that could not be created. It counts as a failed executor. */
void lifecycle_manager_creation_failed(struct lifecycle_manager *m, int64_t now);

/* Reports that the scheduler has killed these executors. Pods that still run after kill_grace are deleted. */
void lifecycle_manager_killed(struct lifecycle_manager *m, const int32_t *ids, int n, int64_t now);

/* Reports that the scheduler has asked this executor to move its data and to exit. */
void lifecycle_manager_decommissioned(struct lifecycle_manager *m, int32_t id);

/* Returns the time of the next lifecycle_manager_tick, or INT64_MAX for none before the next event. */
int64_t lifecycle_manager_deadline(const struct lifecycle_manager *m);
void lifecycle_manager_tick(struct lifecycle_manager *m, const struct pods_snapshot *pods, int64_t now);

/* Whether too many executors have failed, which ends the application. */
bool lifecycle_manager_gave_up(const struct lifecycle_manager *m);

/* Whether an executor has ever run out of memory. */
bool lifecycle_manager_saw_out_of_memory(const struct lifecycle_manager *m);

/* Returns the failures that count now. */
int lifecycle_manager_failures(struct lifecycle_manager *m, int64_t now);

/* Returns the number of records, for tests and metrics. */
size_t lifecycle_manager_size(const struct lifecycle_manager *m);
