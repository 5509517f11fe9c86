/*
 * What objects of a kind there are, and every change to them: list, then watch from there, for as long as it is wanted.
 *
 *      const struct kube_watch_ops ops = {.event = on_event, .failed = on_failure};
 *      watch = kube_watch_start(client, &(struct kube_watch_options){.path = path, .labels = labels}, &ops, owner);
 *      kube_watch_free(watch);
 *
 * The list comes as ADDED events, then SYNCED; then changes as they happen. Whatever goes wrong meanwhile (streams that
 * end without a word, 410 as a status or as an ERROR event, connections that break or say nothing, an API server that
 * is restarted, half an event) is mended here: watched again from the last resource version that was seen, bookmarks
 * included, or listed again. After a second list the same events tell the difference: ADDED of what is new, MODIFIED of
 * what has another resource version, DELETED of what is gone; then SYNCED. An object is never reported twice in the
 * same version, and there is never more than one list or watch under way.
 *
 * Kept of each object: name, uid and resource version (some 150 bytes).
 */
#pragma once

#include "kubernetes/api/kube_client.h"

struct kube_watch;

enum kube_event {
        KUBE_ADDED,
        KUBE_MODIFIED,
        KUBE_DELETED, /* as it was last; if only a list told: nothing but kind-less metadata {name, namespace, uid} */
        KUBE_SYNCED,  /* no object: everything that there is has been told */
};

struct kube_watch_ops {
        /* @object is borrowed; NULL for SYNCED. kube_watch_free may be called in here. */
        void (*event)(void *owner, enum kube_event what, json_t *object);
        /*
         * A list or watch failed and will be tried again in @again_ms; @r as kube_done has it. For the log, or to give
         * up (kube_watch_free), as is wise for FST_KUBE_E_FORBIDDEN. May be NULL.
         */
        void (*failed)(void *owner, int r, const struct fst_error *error, int64_t again_ms);
};

/* Borrowed for the call; zero is the default that stands behind it. */
struct kube_watch_options {
        const char *path;   /* the collection: kube_path */
        const char *labels; /* "spark-app-selector=spark-1" */
        const char *fields; /* "metadata.name=x" */
        int page;           /* 250 */
        int64_t timeout_s;  /* what the server is asked to end a watch after: 300 to 600, at random */
        int64_t silence_ms; /* a watch that says nothing for so long, no bookmark either, is begun anew: 150000 */
};

struct kube_watch *kube_watch_start(struct kube_client *client, const struct kube_watch_options *options,
                                    const struct kube_watch_ops *ops, void *owner);

/* Nothing is called any more. Before kube_client_free. NULL is allowed. */
void kube_watch_free(struct kube_watch *watch);

/* Numbers for tests and metrics. */
struct kube_watch_counts {
        uint64_t lists, watches, events, bookmarks;
        size_t objects; /* that there are */
};
struct kube_watch_counts kube_watch_counts(const struct kube_watch *watch);
