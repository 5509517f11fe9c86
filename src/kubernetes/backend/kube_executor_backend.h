/*
 * Runs the executors of an application on Kubernetes: executor_pods.h with an API server and a clock. It gets target
 * numbers and reports executors whose pods have ended.
 *
 *      r = kube_executors_new(&options, &ops, owner, &executors, error);
 *      kube_executors_set_target(executors, 0, 10);
 *      kube_executors_start(executors);                → pods are created, watched, replaced
 *      …                                               → ops.removed(owner, 3, &reason)
 *      kube_executors_stop(executors);
 *      while (!kube_executors_drained(executors)) uv_run(loop, UV_RUN_ONCE);
 *      kube_executors_free(executors);
 *
 * Threads: the thread of the client's loop.
 */
#pragma once

#include "conf/conf.h"
#include "kubernetes/executors/exit_reason.h"

struct fst_error;
struct kube_client;
struct kube_conf;
struct kube_executors;

/* Borrowed while the executors live. */
struct kube_executors_options {
        struct kube_client *client;
        const char *namespace, *app_id;
        const struct kube_conf *conf;       /* an executor's configuration without id and profile */
        struct fst_conf *settings;          /* conf->conf, into which recovery mode writes */
        const char *driver_pod;             /* the driver pod's name; NULL: the driver does not run in a pod */
        struct resource_profiles *profiles; /* of the application; NULL: only the default one */
};

struct kube_executors_ops {
        /* The pod of an executor is about to be created. May be NULL. */
        void (*creating)(void *owner, int32_t id);
        /*
         * An executor's pod has ended or is about to. If the executor had registered, the owner must call
         * kube_executors_unregistered.
         */
        void (*removed)(void *owner, int32_t id, const struct exit_reason *reason);
        /*
         * Called once if there will be no executors: too many have failed, or the account may not create or list pods.
         */
        void (*given_up)(void *owner, int exit_code, const char *message);
};

/* Returns 0, or negative with @error for invalid settings or an invalid pod. */
int kube_executors_new(const struct kube_executors_options *options, const struct kube_executors_ops *ops, void *owner,
                       struct kube_executors **out, struct fst_error *error);

/* The loop must run once more. Call it before the client is freed. NULL is allowed. */
void kube_executors_free(struct kube_executors *x);

void kube_executors_start(struct kube_executors *x);

/* Before the start: as pods_allocator_skip_ids, _adopt and _abandon. */
void kube_executors_skip_ids(struct kube_executors *x, int32_t last);
void kube_executors_adopt(struct kube_executors *x, int32_t id, int32_t profile);
void kube_executors_abandon(struct kube_executors *x, int32_t id);

/* Sets the wanted number of executors of a profile. Allowed before the start. */
void kube_executors_set_target(struct kube_executors *x, int32_t profile, int target);

/* Events of executors in the driver. */
void kube_executors_registered(struct kube_executors *x, int32_t id);
void kube_executors_unregistered(struct kube_executors *x, int32_t id);
bool kube_executors_refuse(const struct kube_executors *x, int32_t id);

/*
 * The driver has told the executor to exit. Its pod is deleted if it still runs after
 * spark.kubernetes.dynamicAllocation.deleteGracePeriod.
 */
void kube_executors_kill(struct kube_executors *x, int32_t id);

/* The executor is decommissioned: spark.kubernetes.executor.decommissionLabel is set on its pod. */
void kube_executors_decommissioned(struct kube_executors *x, int32_t id);

/* Returns why the first waiting pod waits, or "" if the server tells no reason. The caller owns it. */
char *kube_executors_pending_reason(const struct kube_executors *x);

/* Returns the number of running pods, for tests and metrics. */
int kube_executors_running(const struct kube_executors *x);

/*
 * Ends the application: creates no more pods and deletes the created objects, as
 * spark.kubernetes.executor.deleteOnTermination and similar keys say.
 */
void kube_executors_stop(struct kube_executors *x);

/* Whether the executors are stopped and the API server has all deletions. */
bool kube_executors_drained(struct kube_executors *x);
