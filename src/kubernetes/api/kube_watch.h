/*
 * Keeps a complete picture of the objects of a kind: lists them, then watches for changes until it is freed.
 *
 *      const struct kube_watch_ops ops = {.event = on_event, .failed = on_failure};
 *      watch = kube_watch_start(client, &(struct kube_watch_options){.path = path, .labels = labels}, &ops, owner);
 *      kube_watch_free(watch);
 *
 * The list arrives as ADDED events, then SYNCED, then changes as they happen. The watch recovers from every failure:
 * streams that end early, 410 as a status or an ERROR event, broken or silent connections, a restarted API server, half
 * an event. It watches again from the last resource version seen, bookmarks included, or lists again. After a second
 * list, events report the difference: ADDED for new objects, MODIFIED for other resource versions, DELETED for missing
 * objects, then SYNCED. No object is reported twice in the same version. At most one list or watch runs at a time.
 *
 * It stores name, uid and resource version of each object (some 150 bytes).
 */
#pragma once

#include "kubernetes/api/kube_client.h"

struct kube_watch;

enum kube_event {
        KUBE_ADDED,
        KUBE_MODIFIED,
        KUBE_DELETED, /* the last known object; after a list only its metadata {name, namespace, uid}, without kind */
        KUBE_SYNCED,  /* no object: the list is complete */
};

struct kube_watch_ops {
        /* @object is borrowed, NULL for SYNCED. The callback may call kube_watch_free. */
        void (*event)(void *owner, enum kube_event what, json_t *object);
        /*
         * A list or watch failed with @r (see kube_done) and is retried in @again_ms. The callback may log it, or give
         * up with kube_watch_free, for example on FST_KUBE_E_FORBIDDEN. May be NULL.
         */
        void (*failed)(void *owner, int r, const struct fst_error *error, int64_t again_ms);
};

/* Borrowed for the call. Zero or NULL selects the default in the comment. */
struct kube_watch_options {
        const char *path;   /* the collection: kube_path */
        const char *labels; /* "spark-app-selector=spark-1" */
        const char *fields; /* "metadata.name=x" */
        int page;           /* items per page: 250 */
        bool whole;         /* lists come in one page, which is faster. After a failure, the next list has pages */
        int64_t timeout_s;  /* the server ends a watch after this time: 300 to 600, at random */
        int64_t silence_ms; /* restart a watch after this time without an event or bookmark: 150000 */
};

struct kube_watch *kube_watch_start(struct kube_client *client, const struct kube_watch_options *options,
                                    const struct kube_watch_ops *ops, void *owner);

/* Makes no further callbacks. Call it before kube_client_free. NULL is allowed. */
void kube_watch_free(struct kube_watch *watch);

/*
 * Reports DELETED for each known object, as after a list without objects, and frees the watch. Do not call it in a
 * callback of this watch. NULL is allowed.
 */
void kube_watch_withdraw(struct kube_watch *watch);

/* Counters for tests and metrics. */
struct kube_watch_counts {
        uint64_t lists, watches, events, bookmarks;
        size_t objects; /* objects known now */
};
struct kube_watch_counts kube_watch_counts(const struct kube_watch *watch);
