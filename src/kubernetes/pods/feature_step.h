/*
 * A feature step: one thing that a driver's or an executor's pod has, and what else has to be in the cluster for it.
 * Spark's KubernetesFeatureConfigStep. The builders (driver_builder.h, executor_builder.h) have the steps in Spark's
 * order; each lies in a file of its own below features/.
 *
 * All functions are pure but for the files that they read, and may be NULL. Those that fail answer -EINVAL, or the
 * negative errno of a file, with Spark's sentence in @error; the pod is then of no use any more.
 */
#pragma once

#include "base/strmap.h"
#include "kubernetes/conf/kube_conf.h"
#include "kubernetes/pods/spark_pod.h"

struct fst_error;

struct feature_step {
        /* What spark.kubernetes.*.pod.excludedFeatureSteps calls it. */
        const char *class_name;

        /* Settings that cannot be. Asked of every step before the first one works, also of those that are excluded. */
        int (*check)(const struct kube_conf *c, struct fst_error *error);

        /* Put into @pod what this step is for. */
        int (*configure)(const struct kube_conf *c, struct spark_pod *pod, struct fst_error *error);

        /* Settings that the driver is to have, on top of the user's. */
        int (*properties)(const struct kube_conf *c, struct strmap *out, struct fst_error *error);

        /* Append objects that must be there before the pod is; and those that may come after it. */
        int (*pre_resources)(const struct kube_conf *c, json_t *out, struct fst_error *error);
        int (*resources)(const struct kube_conf *c, json_t *out, struct fst_error *error);
};

extern const struct feature_step basic_driver_step, basic_executor_step, driver_command_step, driver_credentials_step,
        driver_service_step, env_secrets_step, executor_credentials_step, hadoop_conf_driver_step,
        hadoop_conf_executor_step, kerberos_conf_driver_step, local_dirs_step, mount_secrets_step, mount_volumes_step,
        network_policy_step, pod_template_step, spark_scheduler_step, volcano_step, classic_driver_step,
        classic_executor_step, init_container_step;
