/*
 * --kill and --status of drivers in Kubernetes: Spark's K8SSparkSubmitOperation.
 *
 * A driver is "namespace:pod", or "pod" in the namespace of the kubeconfig file's context ("default" without one). A
 * pod that ends with "*" means all drivers whose names begin so. What is found is told on standard error, in Spark's
 * words.
 *
 *      r = kube_kill(master, "jobs:pi-*", &conf, error);             what spark-submit does: it tells, and waits
 *      o = kube_operation_begin(client, &options, done, owner);      the same on a loop, without a word
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
 * @conf: how the API server is reached, and spark.kubernetes.appKillPodDeletionGracePeriod. 0, also if there is no such
 * driver, which is told; or negative with @error: -EINVAL the name or a setting cannot be, -EACCES the API server does
 * not allow it, -EIO it refused, others as kube_client.h has them.
 */
int kube_kill(const char *master, const char *id, const struct strmap *conf, struct fst_error *error);
int kube_status(const char *master, const char *id, const struct strmap *conf, struct fst_error *error);

/* 0, or -EINVAL with @error: @id cannot be the name of drivers. */
int kube_operation_check(const char *id, struct fst_error *error);

/* spark.kubernetes.appKillPodDeletionGracePeriod in seconds, -1 if it is not set; or -EINVAL with @error. */
int kube_operation_grace(const struct fst_conf *conf, int64_t *seconds, struct fst_error *error);

struct kube_operation_options {
        const char *id; /* that was checked */
        bool kill;
        int64_t grace_s;                                /* of whom is killed; -1: what its pod says */
        void (*found)(void *owner, const json_t *pods); /* before any of them is killed; NULL: it is not told */
};

/* @pods: those that were found, as they were then. @r 0, or negative with @error, as kube_kill has it. */
typedef void kube_operation_done(void *owner, int r, const json_t *pods, const struct fst_error *error);

/* `done` is called once, from the loop, unless the operation is freed before. Free it before the client. */
struct kube_operation *kube_operation_begin(struct kube_client *client, const struct kube_operation_options *options,
                                            kube_operation_done *done, void *owner);
void kube_operation_free(struct kube_operation *o); /* NULL is allowed */
