/*
 * Collects the API server's events about an application's pods for subscribers: Spark's ExecutorPodsSnapshotsStore.
 *
 *      struct snapshots_store *store = snapshots_store_new(&rules);
 *      struct pods_subscription *news = snapshots_store_subscribe(store, NS_PER_SECOND, now);
 *      snapshots_store_update(store, json, now);        ← ADDED, MODIFIED
 *      snapshots_store_delete(store, json, now);        ← DELETED
 *      snapshots_store_synced(store, now);              ← the list is complete
 *      if (pods_subscription_next(news, &batch, now))   → the changes since the last batch
 *      … ask again at snapshots_store_deadline(store)
 *
 * or, from a source that only lists, snapshots_store_list_begin, …_list_pod for each, …_list_end.
 *
 * A batch holds every state of each pod since the last batch, in order, and the present snapshot. A batch is due when
 * there is a change, or after snapshots_store_notify, at most once per interval of the subscription. (Spark calls its
 * subscribers at each interval, even without changes. Here each part has its own deadlines.)
 *
 * The store ignores older states (by resource version), so that a cached list and a watch may be mixed. An ended pod
 * stays until the server has removed it.
 *
 * Pure: times are ns of any monotonic clock. One thread.
 */
#pragma once

#include "kubernetes/executors/pods_snapshot.h"

struct snapshots_store;
struct pods_subscription;

struct pods_batch {
        const struct pods_snapshot *pods; /* the present snapshot */
        struct pod_state *const
                *changes; /* states since the last batch, oldest first; a pod may occur more than once */
        size_t n_changes;
        const int32_t *gone; /* executors whose pods are gone and no longer in `pods` */
        size_t n_gone;
        bool full; /* a full list arrived since the last batch */
        int news;  /* number of events, including those without a change */
};

/* Copies @rules. Never NULL. */
struct snapshots_store *snapshots_store_new(const struct pod_rules *rules);
void snapshots_store_free(struct snapshots_store *store);

/* The first batch, due at once, holds the known pods. The store owns the subscription. */
struct pods_subscription *snapshots_store_subscribe(struct snapshots_store *store, int64_t interval, int64_t now);

/* ---------------------------------------------------------------------------------------------------- server events */

/* A pod exists or has changed. Ignores pods that are not executors. */
void snapshots_store_update(struct snapshots_store *store, const json_t *pod, int64_t now);

/* A pod is gone. @pod needs only metadata.name, and uid if another pod may have the same name. */
void snapshots_store_delete(struct snapshots_store *store, const json_t *pod, int64_t now);

/*
 * All existing pods have been reported. Call it when a watch is SYNCED, and every
 * spark.kubernetes.executor.apiPollingInterval while the watch is up, so that the lifecycle manager can find executors
 * without pods.
 */
void snapshots_store_synced(struct snapshots_store *store, int64_t now);

/*
 * A full list replaces the known pods: begin, each pod, end. @version: metadata.resourceVersion of the list, or NULL.
 * Newer pods stay although the list lacks them. To abandon a failed list, begin another one, or never end it.
 */
void snapshots_store_list_begin(struct snapshots_store *store);
void snapshots_store_list_pod(struct snapshots_store *store, const json_t *pod, int64_t now);
void snapshots_store_list_end(struct snapshots_store *store, const char *version, int64_t now);

/* ---------------------------------------------------------------------------------------------------------- batches */

/* For tests: makes a batch due at once for every subscription. */
void snapshots_store_notify(struct snapshots_store *store);

/* Returns the time of the next batch, or INT64_MAX if none is due before the next event. */
int64_t snapshots_store_deadline(const struct snapshots_store *store);

/* Fills *@batch if one is due. It is valid until the next batch of this subscription. */
bool pods_subscription_next(struct pods_subscription *s, struct pods_batch *batch, int64_t now);

/* Returns the present snapshot. */
const struct pods_snapshot *snapshots_store_pods(const struct snapshots_store *store);
