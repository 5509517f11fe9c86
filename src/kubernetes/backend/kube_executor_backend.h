/*
 * An application's executors on Kubernetes: executor_pods.h with an API server and a clock. It is asked for numbers of
 * executors, and tells of those whose pods have ended.
 *
 *      r = kube_executors_new(&options, &ops, owner, &executors, error);
 *      kube_executors_set_target(executors, 0, 10);
 *      kube_executors_start(executors);                → pods are created, watched, replaced
 *      …                                               → ops.removed(owner, 3, &reason)
 *      kube_executors_stop(executors);
 *      while (!kube_executors_drained(executors)) uv_run(loop, UV_RUN_ONCE);
 *      kube_executors_free(executors);
 *
 * On the thread of the client's loop.
 */
#pragma once

#include "conf/conf.h"
#include "kubernetes/executors/exit_reason.h"

struct fst_error;
struct kube_client;
struct kube_conf;
struct kube_executors;

/* Borrowed as long as the executors are. */
struct kube_executors_options {
        struct kube_client *client;
        const char *namespace, *app_id;
        const struct kube_conf *conf; /* an executor's, but for its id and profile */
        struct fst_conf *settings;    /* conf->conf: recovery from want of memory is written into it */
        const char *driver_pod;       /* its name; NULL: the driver runs in none */
};

struct kube_executors_ops {
        /* An executor's pod has ended, or is to: kube_executors_unregistered is expected if it had registered. */
        void (*removed)(void *owner, int32_t id, const struct exit_reason *reason);
        /* There will be no executors: too many have failed, or nobody may create or see them. Once. */
        void (*given_up)(void *owner, int exit_code, const char *message);
};

/* 0, or negative with @error: settings that cannot be, or with which no pod can be built. */
int kube_executors_new(const struct kube_executors_options *options, const struct kube_executors_ops *ops, void *owner,
                       struct kube_executors **out, struct fst_error *error);

/* The loop has to turn afterwards. Before the client is freed. NULL is allowed. */
void kube_executors_free(struct kube_executors *x);

void kube_executors_start(struct kube_executors *x);

/* Executors of a profile that there are to be; may come before the start. */
void kube_executors_set_target(struct kube_executors *x, int32_t profile, int target);

/* What the driver knows of an executor. */
void kube_executors_registered(struct kube_executors *x, int32_t id);
void kube_executors_unregistered(struct kube_executors *x, int32_t id);
bool kube_executors_refuse(const struct kube_executors *x, int32_t id);

/* It was told to end: its pod is deleted if it does not (spark.kubernetes.dynamicAllocation.deleteGracePeriod). */
void kube_executors_kill(struct kube_executors *x, int32_t id);

/* It is to end some time: spark.kubernetes.executor.decommissionLabel is put on its pod. */
void kube_executors_decommissioned(struct kube_executors *x, int32_t id);

/* Why the first pod that waits does so, in words; "" if none says why. The caller owns it. */
char *kube_executors_pending_reason(const struct kube_executors *x);

/* Pods that are known to run, for tests and metrics. */
int kube_executors_running(const struct kube_executors *x);

/*
 * The application ends: pods are created no more, and what it has created is deleted, as far as
 * spark.kubernetes.executor.deleteOnTermination and its like say so.
 */
void kube_executors_stop(struct kube_executors *x);

/* Stopped, and the API server has heard of it. */
bool kube_executors_drained(struct kube_executors *x);
