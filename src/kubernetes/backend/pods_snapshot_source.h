/*
 * What the API server says of an application's executor pods, stored in snapshots_store.h: by a watch, by lists now and
 * then, or both, as spark.kubernetes.executor.enableApiWatcher and .enableApiPolling say. Spark's
 * ExecutorPodsWatchSnapshotSource and ExecutorPodsPollingSnapshotSource.
 *
 * A watch mends itself and lists by itself (kube_watch.h), so that with one nothing is listed besides.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct fst_error;
struct kube_client;
struct pods_source;
struct snapshots_store;

/* Borrowed for the call. */
struct pods_source_options {
        struct kube_client *client;
        const char *namespace;
        const char *labels;       /* which pods */
        bool watches, polls;      /* at least one, or nothing is ever heard */
        bool from_cache;          /* lists as the server has them at hand */
        int64_t polling_interval; /* ms, at least 1 */
};

struct pods_source_ops {
        /* The store has news: act on it. */
        void (*told)(void *owner);
        /* They cannot be listed or watched, and never will: this account must not. */
        void (*forbidden)(void *owner, const struct fst_error *error);
};

/* @store, @ops and @owner are borrowed. Never NULL. */
struct pods_source *pods_source_start(const struct pods_source_options *options, struct snapshots_store *store,
                                      const struct pods_source_ops *ops, void *owner);

/* Nothing is told any more; the loop has to turn. Before the client is freed. NULL is allowed. */
void pods_source_stop(struct pods_source *source);
