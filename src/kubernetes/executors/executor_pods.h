/*
 * The pods of an application's executors: the pure core of the driver on Kubernetes. Events of the API server and of
 * the scheduler go in, with the time. Actions (pod_actions.h) come out.
 *
 *      executor_pods_init(&p, &config);
 *      pods_allocator_start(p.allocator, now);
 *      pods_allocator_set_target(p.allocator, 0, 1000, now);
 *      while ((action = executor_pods_next_action(&p)))            → POD_ACTION_CREATE, once for each pod of the window
 *              backend_do(action);
 *      pods_allocator_created(p.allocator, 1, now);                ← the response to the first
 *      snapshots_store_update(p.store, json, now);                 ← the watch: ADDED, MODIFIED
 *      executor_pods_registered(&p, 1, now);                       ← the executor has connected
 *      snapshots_store_delete(p.store, json, now);                 ← the watch: DELETED
 *      uv_timer_start(…, ms_until(executor_pods_deadline(&p), now), …);   → executor_pods_tick(&p, now)
 *
 * Parts. The owner calls them directly. This file has the calls that concern several of them.
 *
 *      snapshots_store.h     the known pods, and the changes since each subscriber's last batch
 *      pods_allocator.h      how many pods to create, and when; which ones to delete as excess
 *      create_window.h       the number of concurrent creations
 *      lifecycle_manager.h   executors whose pods end: removes them, deletes or labels the pods, gives reasons
 *      exit_reason.h         these reasons as text
 *      executor_rolling.h    which executor the roll plugin replaces
 *      executor_pods_conf.h  the settings, from an application's configuration
 *
 * Owner. It opens connections, builds pods and reads the clock. After each event it takes and performs all actions,
 * then reads the deadline. Performing an action may cause the next event at once. At the end the owner stops the core
 * and deletes the pods by label (spark-app-selector, spark-role=executor), and once more after the responses to
 * creations in flight (pods_allocator_in_flight).
 *
 * Invariants. No two pods have the same id, no id is used twice, and no pod is lost track of. Live and requested pods
 * never exceed the target, except those from before the target fell.
 *
 * Pure: no I/O and no clock. Times are ns of any monotonic clock. config.wall_offset is its distance to the wall clock.
 * One thread.
 */
#pragma once

#include "kubernetes/executors/lifecycle_manager.h"
#include "kubernetes/executors/pods_allocator.h"

struct executor_pods_config {
        struct pods_allocator_config allocation;
        struct lifecycle_config lifecycle; /* its rules apply to all parts */
        int64_t event_interval;            /* spark.kubernetes.executor.eventProcessingInterval */
};

#define EXECUTOR_PODS_DEFAULT                                                                                          \
        ((struct executor_pods_config){.allocation = PODS_ALLOCATOR_DEFAULT,                                           \
                                       .lifecycle = LIFECYCLE_DEFAULT,                                                 \
                                       .event_interval = NS_PER_SECOND})

struct executor_pods {
        struct pod_actions actions;
        struct snapshots_store *store;
        struct lifecycle_manager *lifecycle;
        struct pods_allocator *allocator;
        struct pods_subscription *lifecycle_news, *allocator_news; /* the store's snapshot */
        bool stopped;
};

/* Returns 0, or -EINVAL with the key and the problem. */
int executor_pods_config_check(const struct executor_pods_config *config, struct fst_error *error);

/* @config must pass the check. It is copied. */
void executor_pods_init(struct executor_pods *p, const struct executor_pods_config *config);

/* Drops actions that were not taken. A zeroed @p is allowed. */
void executor_pods_deinit(struct executor_pods *p);

/* After it no pod is created or deleted, and no executor removed. */
void executor_pods_stop(struct executor_pods *p);

/* Reports that an executor has registered, or that the scheduler has removed it for any reason. */
void executor_pods_registered(struct executor_pods *p, int32_t id, int64_t now);
void executor_pods_unregistered(struct executor_pods *p, int32_t id, int64_t now);

/*
 * Returns the time of the next executor_pods_tick, perhaps now, or INT64_MAX for none before the next event. Read it
 * after each batch of events: only a tick acts on pod changes.
 */
int64_t executor_pods_deadline(const struct executor_pods *p);
void executor_pods_tick(struct executor_pods *p, int64_t now);

/* Takes the oldest action, or returns NULL. Borrowed until the next call. */
const struct pod_action *executor_pods_next_action(struct executor_pods *p);
