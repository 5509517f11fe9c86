/*
 * Follows any number of pods by name, on one watch per namespace.
 *
 *      follower = pod_follower_new(client, "spark-role=driver", &ops);
 *      pod = pod_follow(follower, "jobs", "pi-driver", owner);      before its creation, so that no event is missed
 *      …
 *      pod_follow_created(pod, uid);                                → changed(owner, …), …, gone(owner, …)
 *      pod_unfollow(pod);
 *
 * It waits for an unreachable API server and reports the changes afterwards. Threads: the loop's thread. A callback may
 * unfollow its own pod and no other.
 */
#pragma once

#include "kubernetes/api/kube_client.h"

struct followed_pod;
struct pod_follower;

struct pod_follower_ops {
        /* @pod is the present object. */
        void (*changed)(void *owner, const json_t *pod);
        /* The pod was deleted or replaced. @pod is its last state, or NULL if unknown. */
        void (*gone)(void *owner, const json_t *pod);
        /*
         * The server has not responded, or has refused, for @for_ms. The watch retries. @r -EACCES: it was forbidden to
         * watch three times, and retries as well.
         */
        void (*away)(void *owner, int r, const struct fst_error *error, int64_t for_ms);
};

/* @labels selects all pods that will be followed. It is copied, the rest is borrowed. */
struct pod_follower *pod_follower_new(struct kube_client *client, const char *labels,
                                      const struct pod_follower_ops *ops);

/* Call it when no pod is followed and before the client is freed. NULL is allowed. */
void pod_follower_free(struct pod_follower *f);

/* Makes no callback before pod_follow_created. */
struct followed_pod *pod_follow(struct pod_follower *f, const char *namespace, const char *name, void *owner);

/* Sets the uid: other pods of that name are ignored. May call `changed` or `gone`, which may unfollow @pod. */
void pod_follow_created(struct followed_pod *pod, const char *uid);

void pod_unfollow(struct followed_pod *pod); /* NULL is allowed */
