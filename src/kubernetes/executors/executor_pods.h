/*
 * The pods of an application's executors: the pure core of the driver's side on Kubernetes. Events of the API server
 * and of the scheduler go in, with the time; actions (pod_actions.h) come out.
 *
 *      executor_pods_init(&p, &config);
 *      pods_allocator_start(p.allocator, now);
 *      pods_allocator_set_target(p.allocator, 0, 1000, now);
 *      while ((action = executor_pods_next_action(&p)))            → POD_ACTION_CREATE, once for each pod of the window
 *              backend_do(action);
 *      pods_allocator_created(p.allocator, 1, now);                ← the answer to the first
 *      snapshots_store_update(p.store, json, now);                 ← the watch: ADDED, MODIFIED
 *      executor_pods_registered(&p, 1, now);                       ← the executor has connected
 *      snapshots_store_delete(p.store, json, now);                 ← the watch: DELETED
 *      uv_timer_start(…, ms_until(executor_pods_deadline(&p), now), …);   → executor_pods_tick(&p, now)
 *
 * Parts. The owner calls them directly; here is only what concerns more than one of them.
 *
 *      snapshots_store.h     what pods exist, and what changed since each of the other parts looked
 *      pods_allocator.h      how many pods to create, and when; which are too many
 *      create_window.h       how many creations may be under way at once
 *      lifecycle_manager.h   executors whose pods end: removed from the scheduler, pods deleted or labelled, reasons
 *      exit_reason.h         these reasons, in words
 *      executor_rolling.h    which executor the roll plugin replaces
 *      executor_pods_conf.h  the settings, from an application's configuration
 *
 * Owner. It opens connections, builds pods and knows the time. After each event it takes out all actions and does
 * them, then looks at the deadline. Doing an action may bring the next event at once. At the end the owner stops the
 * core, deletes the pods by label (spark-app-selector, spark-role=executor), and once more after the answers to
 * creations that were under way (pods_allocator_in_flight).
 *
 * Invariants. No two pods have one id, no id is given twice, no pod is forgotten. Pods that live or are asked for
 * never exceed the target, except those that were there before the target fell.
 *
 * Pure: nothing is opened and no clock is read. Times are ns of any monotonic clock; config.wall_offset is the distance
 * to the time of day. One thread.
 */
#pragma once

#include "kubernetes/executors/lifecycle_manager.h"
#include "kubernetes/executors/pods_allocator.h"

struct executor_pods_config {
        struct pods_allocator_config allocation;
        struct lifecycle_config lifecycle; /* its rules are everybody's */
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
        struct pods_subscription *lifecycle_news, *allocator_news; /* the store's */
        bool stopped;
};

/* Returns 0, or -EINVAL with the key and what is wrong with it. */
int executor_pods_config_check(const struct executor_pods_config *config, struct fst_error *error);

/* @config passes the check and is copied. */
void executor_pods_init(struct executor_pods *p, const struct executor_pods_config *config);

/* Actions that nobody took out are dropped. A zeroed @p is allowed. */
void executor_pods_deinit(struct executor_pods *p);

/* No pod is created or deleted any more, no executor removed. */
void executor_pods_stop(struct executor_pods *p);

/* An executor has registered, or the scheduler has forgotten it, for whatever reason. */
void executor_pods_registered(struct executor_pods *p, int32_t id, int64_t now);
void executor_pods_unregistered(struct executor_pods *p, int32_t id, int64_t now);

/*
 * When executor_pods_tick has something to do, perhaps at once; INT64_MAX: nothing until something happens. Look at it
 * again after each batch of events: only a tick acts on news of pods.
 */
int64_t executor_pods_deadline(const struct executor_pods *p);
void executor_pods_tick(struct executor_pods *p, int64_t now);

/* Takes the oldest action out. NULL: there is none. Borrowed until the next call. */
const struct pod_action *executor_pods_next_action(struct executor_pods *p);
