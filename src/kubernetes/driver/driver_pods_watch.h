/*
 * What becomes of pods that are known by name: as many as one likes, on one watch for each namespace.
 *
 *      follower = pod_follower_new(client, "spark-role=driver", &ops);
 *      pod = pod_follow(follower, "jobs", "pi-driver", owner);      before it is created, so that nothing is missed
 *      …
 *      pod_follow_created(pod, uid);                                → changed(owner, …), …, gone(owner, …)
 *      pod_unfollow(pod);
 *
 * An API server that does not answer for a while is waited for; what happened meanwhile is told when it is back.
 * Everything happens on the loop's thread. Within the functions of ops the pod that is told of may be unfollowed, no
 * other one.
 */
#pragma once

#include "kubernetes/api/kube_client.h"

struct followed_pod;
struct pod_follower;

struct pod_follower_ops {
        /* @pod is as it is now. */
        void (*changed)(void *owner, const json_t *pod);
        /* It was deleted, or another one is in its place. @pod as it was last, NULL if nobody has seen that. */
        void (*gone)(void *owner, const json_t *pod);
        /*
         * The server has not answered, or has refused, for @for_ms, and will be asked again; @r -EACCES: three times
         * it has not allowed to watch, which is asked again as well.
         */
        void (*away)(void *owner, int r, const struct fst_error *error, int64_t for_ms);
};

/* @labels: of all that will be followed. All is borrowed but @labels. */
struct pod_follower *pod_follower_new(struct kube_client *client, const char *labels,
                                      const struct pod_follower_ops *ops);

/* All pods are unfollowed. Before the client. NULL is allowed. */
void pod_follower_free(struct pod_follower *f);

/* Nothing is told before pod_follow_created. */
struct followed_pod *pod_follow(struct pod_follower *f, const char *namespace, const char *name, void *owner);

/* It has this uid; others of the name are others. May call `changed` or `gone`: @pod may be unfollowed afterwards. */
void pod_follow_created(struct followed_pod *pod, const char *uid);

void pod_unfollow(struct followed_pod *pod); /* NULL is allowed */
