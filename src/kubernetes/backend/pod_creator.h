/*
 * Builds and creates executor pods for pods_allocator.h and reports the results.
 *
 *      r = pod_creator_create(creator, 7, 0, NULL, 0, error);  → ops.answered, once, later
 *
 * A pod's claims are created after it, owned by the driver's pod or by the executor's. A reused claim of an ended
 * executor replaces a new one.
 */
#pragma once

#include "kubernetes/executors/pods_allocator.h"

#include <stdbool.h>
#include <stdint.h>

struct fst_error;
struct kube_client;
struct kube_conf;
struct pod_creator;
struct resource_profiles;

/* Borrowed while the creator lives. */
struct pod_creator_options {
        struct kube_client *client;
        const char *namespace;
        const struct kube_conf *conf;       /* an executor's configuration without id and profile */
        bool driver_owns_claims;            /* if there is a driver pod */
        struct resource_profiles *profiles; /* NULL: executors of all profiles are as those of the default one */
};

struct pod_creation {
        int32_t id;
        enum create_outcome outcome; /* never CREATE_CLAIM_FAILED without a pod */
        int throttled;               /* attempts that met 429, also if the creation succeeded */
        int64_t retry_after_ms;      /* Retry-After; 0: none */
        const char *message;         /* NULL for CREATE_DONE; borrowed for the call */
};

struct pod_creator_ops {
        void (*answered)(void *owner, const struct pod_creation *creation);
};

/* Copies @options. @ops and @owner are borrowed. Never NULL. */
struct pod_creator *pod_creator_new(const struct pod_creator_options *options, const struct pod_creator_ops *ops,
                                    void *owner);

/* Makes no further callbacks. Call it before the client is freed, or right after. NULL is allowed. */
void pod_creator_free(struct pod_creator *creator);

/*
 * Begins the creation of a pod. If @reused[i] is not NULL, the pod mounts that claim instead of creating its i-th
 * claim. Returns a negative code with @error, and makes no callback, if the pod cannot be built.
 */
int pod_creator_create(struct pod_creator *creator, int32_t id, int32_t profile, char *const *reused, int n_reused,
                       struct fst_error *error);

/*
 * Checks that a pod can be built. Returns 0, or negative with @error. The caller owns *@claims, the claims created with
 * each pod of any id and profile.
 */
int pod_creator_check(struct pod_creator *creator, struct claim_need **claims, int *n_claims, struct fst_error *error);
