/*
 * --kill and --status of drivers in Kubernetes: Spark's K8SSparkSubmitOperation.
 *
 * A driver is "namespace:pod", or "pod" in the namespace of the kubeconfig context ("default" without one). A pod name
 * that ends with "*" selects all drivers with that prefix. Results go to standard error in Spark's words.
 *
 *      r = kube_kill(master, "jobs:pi-*", &conf, error);             spark-submit: blocks and prints
 *      o = kube_operation_begin(client, &options, done, owner);      on a loop, without output
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

struct fst_conf;
struct fst_error;
struct kube_client;
struct kube_operation;
struct strmap;

/*
 * @conf has the API server's keys and spark.kubernetes.appKillPodDeletionGracePeriod. Returns 0, also if there is no
 * such driver, which is printed. Negative with @error: -EINVAL for an invalid name or setting, -EACCES if the API
 * server forbids it, -EIO if it refuses, else the codes of kube_client.h.
 */
int kube_kill(const char *master, const char *id, const struct strmap *conf, struct fst_error *error);
int kube_status(const char *master, const char *id, const struct strmap *conf, struct fst_error *error);

/* Returns 0, or -EINVAL with @error if @id is not a valid name of drivers. */
int kube_operation_check(const char *id, struct fst_error *error);

/* Reads spark.kubernetes.appKillPodDeletionGracePeriod in seconds, -1 if not set. Returns -EINVAL with @error. */
int kube_operation_grace(const struct fst_conf *conf, int64_t *seconds, struct fst_error *error);

struct kube_operation_options {
        const char *id; /* checked by kube_operation_check */
        bool kill;
        int64_t grace_s;                                /* for the killed pods; -1: the pod's own */
        void (*found)(void *owner, const json_t *pods); /* called before any of them is killed; may be NULL */
};

/* @pods: the drivers found, in their state then. @r 0, or negative with @error, as for kube_kill. */
typedef void kube_operation_done(void *owner, int r, const json_t *pods, const struct fst_error *error);

/* Calls `done` once, from the loop, unless the operation is freed first. Free it before the client. */
struct kube_operation *kube_operation_begin(struct kube_client *client, const struct kube_operation_options *options,
                                            kube_operation_done *done, void *owner);
void kube_operation_free(struct kube_operation *o); /* NULL is allowed */
