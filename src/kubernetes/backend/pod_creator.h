/*
 * Executors' pods, built and created: what pods_allocator.h asks for, and its answers.
 *
 *      r = pod_creator_create(creator, 7, 0, NULL, 0, error);  → ops.answered, once, later
 *
 * A pod's claims are created after it, with an owner: the driver's pod, or the executor's. A claim that executors left
 * behind takes the place of a new one where the caller has one.
 */
#pragma once

#include "kubernetes/executors/pods_allocator.h"

#include <stdbool.h>
#include <stdint.h>

struct fst_error;
struct kube_client;
struct kube_conf;
struct pod_creator;

/* Borrowed as long as the creator is. */
struct pod_creator_options {
        struct kube_client *client;
        const char *namespace;
        const struct kube_conf *conf; /* an executor's, but for its id and profile */
        bool driver_owns_claims;      /* if there is a driver pod */
};

struct pod_creation {
        int32_t id;
        enum create_outcome outcome; /* never CREATE_CLAIM_FAILED without a pod */
        int throttled;               /* attempts that met 429, also of one that was done */
        int64_t retry_after_ms;      /* 0: the server said nothing */
        const char *message;         /* NULL for CREATE_DONE; borrowed for the call */
};

struct pod_creator_ops {
        void (*answered)(void *owner, const struct pod_creation *creation);
};

/* @options is copied; @ops and @owner are borrowed. Never NULL. */
struct pod_creator *pod_creator_new(const struct pod_creator_options *options, const struct pod_creator_ops *ops,
                                    void *owner);

/* Nothing is answered any more. Before the client is freed, or right after it. NULL is allowed. */
void pod_creator_free(struct pod_creator *creator);

/*
 * Begins. The pod mounts claim @reused[i] in place of the i-th that it would create, where that is not NULL. Negative
 * with @error: such a pod cannot be built, and there will be no answer.
 */
int pod_creator_create(struct pod_creator *creator, int32_t id, int32_t profile, char *const *reused, int n_reused,
                       struct fst_error *error);

/*
 * Whether a pod can be built at all: 0, or negative with @error. *@claims, owned: the claims that are created with
 * each pod, whichever its id and profile.
 */
int pod_creator_check(struct pod_creator *creator, struct claim_need **claims, int *n_claims, struct fst_error *error);
