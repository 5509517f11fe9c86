/*
 * A feature step adds one feature to a driver or executor pod, and the objects that the feature needs. Spark's
 * KubernetesFeatureConfigStep. driver_builder.h and executor_builder.h run the steps in Spark's order. Each step is one
 * file below features/.
 *
 * All functions may be NULL and are pure except for reading files. Those that can fail return -EINVAL, or the -errno of
 * a file, with Spark's message in @error. The pod is unusable after a failure.
 */
#pragma once

#include "base/strmap.h"
#include "kubernetes/conf/kube_conf.h"
#include "kubernetes/pods/spark_pod.h"

struct fst_error;

struct feature_step {
        /* its name in spark.kubernetes.*.pod.excludedFeatureSteps */
        const char *class_name;

        /* Checks the settings. Runs for every step, excluded ones too, before the first step configures the pod. */
        int (*check)(const struct kube_conf *c, struct fst_error *error);

        /* Adds the feature to @pod. */
        int (*configure)(const struct kube_conf *c, struct spark_pod *pod, struct fst_error *error);

        /* Adds driver settings to the user's. */
        int (*properties)(const struct kube_conf *c, struct strmap *out, struct fst_error *error);

        /* Append objects to create before the pod, and after it. */
        int (*pre_resources)(const struct kube_conf *c, json_t *out, struct fst_error *error);
        int (*resources)(const struct kube_conf *c, json_t *out, struct fst_error *error);
};

extern const struct feature_step basic_driver_step, basic_executor_step, driver_command_step, driver_credentials_step,
        driver_service_step, env_secrets_step, executor_credentials_step, hadoop_conf_driver_step,
        hadoop_conf_executor_step, kerberos_conf_driver_step, local_dirs_step, mount_secrets_step, mount_volumes_step,
        network_policy_step, pod_template_step, spark_scheduler_step, volcano_step, classic_driver_step,
        classic_executor_step, init_container_step;
