/*
 * Feeds snapshots_store.h with the API server's events about executor pods: by a watch, by periodic lists, or both, as
 * spark.kubernetes.executor.enableApiWatcher and .enableApiPolling say. Spark's ExecutorPodsWatchSnapshotSource and
 * ExecutorPodsPollingSnapshotSource.
 *
 * A watch recovers and lists by itself (kube_watch.h), so with a watch there are no other lists.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct fst_error;
struct kube_client;
struct pods_snapshot_source;
struct snapshots_store;

/* Borrowed for the call. */
struct pods_snapshot_source_options {
        struct kube_client *client;
        const char *namespace;
        const char *labels;       /* label selector */
        bool watches, polls;      /* at least one must be true */
        bool from_cache;          /* list the server's cached state */
        int64_t polling_interval; /* ms, at least 1 */
};

struct pods_snapshot_source_ops {
        /* The store has changes. */
        void (*changed)(void *owner);
        /* The account may not list or watch pods. Final. */
        void (*forbidden)(void *owner, const struct fst_error *error);
};

/* @store, @ops and @owner are borrowed. Never NULL. */
struct pods_snapshot_source *pods_snapshot_source_start(const struct pods_snapshot_source_options *options,
                                                        struct snapshots_store *store,
                                                        const struct pods_snapshot_source_ops *ops, void *owner);

/* Makes no further callbacks. The loop must run once more. Call it before the client is freed. NULL is allowed. */
void pods_snapshot_source_stop(struct pods_snapshot_source *source);
