/* Reads the settings of executor pods from an application's configuration. */
#pragma once

#include "kubernetes/executors/executor_pods.h"

struct fst_conf;

/*
 * Fills @config from spark.kubernetes.allocation.*, .executor.*, .driver.*PersistentVolumeClaim and the other keys in
 * executor_pods.h, but not wall_offset and the window's seed. @driver_pod: the driver runs in a pod (or
 * spark.kubernetes.driver.pod.name is set), so executors wait for it and it owns claims. Strings are borrowed from
 * @conf. Returns 0, or -EINVAL with Spark's message and @config unchanged.
 */
int executor_pods_config_read(const struct fst_conf *conf, bool driver_pod, struct executor_pods_config *config,
                              struct fst_error *error);

/* Returns the number of executors without dynamic allocation: spark.executor.instances, 2 by default. */
int executor_instances_read(const struct fst_conf *conf, int *out, struct fst_error *error);
