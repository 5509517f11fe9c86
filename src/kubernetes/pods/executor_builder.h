/* Builds an executor pod and its objects. Spark's KubernetesExecutorBuilder. */
#pragma once

#include "kubernetes/pods/spark_pod.h"

struct fst_error;
struct kube_conf;

struct executor_pod_spec {
        struct spark_pod pod;
        json_t *resources; /* an array of persistent volume claims */
};

/* Returns 0, -EINVAL, or the -errno of a file, with Spark's message. Deinit @out in either case. */
int executor_spec_build(const struct kube_conf *c, struct executor_pod_spec *out, struct fst_error *error);
void executor_spec_deinit(struct executor_pod_spec *spec);

/* Returns the final pod with its container. The caller owns it. */
json_t *executor_spec_pod(const struct executor_pod_spec *spec);

/*
 * Builds the config map of all executors, without owner. An application needs it once. The caller owns *@out, NULL if
 * spark.kubernetes.executor.disableConfigMap is set.
 */
int executor_config_map(const struct kube_conf *c, json_t **out, struct fst_error *error);
