/* An executor's pod, and what it needs. Spark's KubernetesExecutorBuilder. */
#pragma once

#include "kubernetes/pods/spark_pod.h"

struct fst_error;
struct kube_conf;

struct executor_pod_spec {
        struct spark_pod pod;
        json_t *resources; /* an array: claims */
};

/* -EINVAL, or the errno of a file, with Spark's sentence in @error; @out is to be deinitialised in either case. */
int executor_spec_build(const struct kube_conf *c, struct executor_pod_spec *out, struct fst_error *error);
void executor_spec_deinit(struct executor_pod_spec *spec);

/* The pod as it is created, its container in it. The caller owns it. */
json_t *executor_spec_pod(const struct executor_pod_spec *spec);

/*
 * The config map of all executors, without owner, as *@out, the caller's: made once for an application. NULL there if
 * spark.kubernetes.executor.disableConfigMap says so.
 */
int executor_config_map(const struct kube_conf *c, json_t **out, struct fst_error *error);
