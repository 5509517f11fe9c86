/*
 * What the API server says of an application's pods, gathered for those who act on it: Spark's
 * ExecutorPodsSnapshotsStore.
 *
 *      struct snapshots_store *store = snapshots_store_new(&rules);
 *      struct pods_subscription *news = snapshots_store_subscribe(store, NS_PER_SECOND, now);
 *      snapshots_store_update(store, json, now);        ← ADDED, MODIFIED
 *      snapshots_store_delete(store, json, now);        ← DELETED
 *      snapshots_store_synced(store, now);              ← that is all there is
 *      if (pods_subscription_next(news, &batch, now))   → what changed since the last batch
 *      … ask again at snapshots_store_deadline(store)
 *
 * or, from a source that only lists, snapshots_store_list_begin, …_list_pod for each, …_list_end.
 *
 * A batch holds every state that a pod was in since the last batch, in order, and what is known now. A batch is due
 * when there is something new, or after snapshots_store_notify, at most once in the subscription's interval. (Spark
 * calls its subscribers at each interval, even with nothing; here a part that waits for time to pass has a deadline of
 * its own.)
 *
 * What is older than what is known is ignored (resource versions tell), so that a list from a cache and a watch may
 * come side by side. A pod that ended stays in until it is gone from the server.
 *
 * Pure: times are ns of any monotonic clock. One thread.
 */
#pragma once

#include "kubernetes/executors/pods_snapshot.h"

struct snapshots_store;
struct pods_subscription;

struct pods_batch {
        const struct pods_snapshot *pods; /* what is known now */
        struct pod_state *const
                *changes; /* states since the last batch, oldest first; a pod may be in more than once */
        size_t n_changes;
        const int32_t *gone; /* executors whose pods are gone: in `pods` no longer */
        size_t n_gone;
        bool full; /* all pods that there are were told since the last batch */
        int news;  /* how many times something was told, though it may have changed nothing */
};

/* @rules are copied. Never NULL. */
struct snapshots_store *snapshots_store_new(const struct pod_rules *rules);
void snapshots_store_free(struct snapshots_store *store);

/* What is known already is the first batch, due at once. The store owns the subscription. */
struct pods_subscription *snapshots_store_subscribe(struct snapshots_store *store, int64_t interval, int64_t now);

/* ------------------------------------------------------------------------------------------ what the server says */

/* A pod is, or was changed. What is no executor's is ignored. */
void snapshots_store_update(struct snapshots_store *store, const json_t *pod, int64_t now);

/* It is gone. @pod need not have more than metadata.name, and uid if there may be another one of that name. */
void snapshots_store_delete(struct snapshots_store *store, const json_t *pod, int64_t now);

/*
 * All pods that there are have been told. Call it when a watch is SYNCED, and every spark.kubernetes.executor.
 * apiPollingInterval while the watch stands: executors without a pod are looked for then.
 */
void snapshots_store_synced(struct snapshots_store *store, int64_t now);

/*
 * A whole list in place of what is known: begin, each pod, end. @version: metadata.resourceVersion of the list, NULL if
 * unknown; pods that are newer stay although they are not in it. A list that fails half-way is abandoned by beginning
 * another, or never ended.
 */
void snapshots_store_list_begin(struct snapshots_store *store);
void snapshots_store_list_pod(struct snapshots_store *store, const json_t *pod, int64_t now);
void snapshots_store_list_end(struct snapshots_store *store, const char *version, int64_t now);

/* ----------------------------------------------------------------------------------------------- what comes of it */

/* Makes a batch due at once for every subscription. */
void snapshots_store_notify(struct snapshots_store *store);

/* When the next batch is due; INT64_MAX: not before there is news. */
int64_t snapshots_store_deadline(const struct snapshots_store *store);

/* Fills *@batch if one is due; valid until the next batch of this subscription. */
bool pods_subscription_next(struct pods_subscription *s, struct pods_batch *batch, int64_t now);

/* What is known now. */
const struct pods_snapshot *snapshots_store_pods(const struct snapshots_store *store);
