/* The settings of executors' pods, as an application's configuration has them. */
#pragma once

#include "kubernetes/executors/executor_pods.h"

struct fst_conf;

/*
 * Fill @config from spark.kubernetes.allocation.*, .executor.*, .driver.*PersistentVolumeClaim and what else
 * executor_pods.h names, but for wall_offset and the window's seed. @driver_pod: the driver runs in a pod (or
 * spark.kubernetes.driver.pod.name says so): it is waited for, and owns claims. Strings are borrowed from @conf. 0, or
 * -EINVAL with what cannot be, in Spark's words; then @config is untouched.
 */
int executor_pods_config_read(const struct fst_conf *conf, bool driver_pod, struct executor_pods_config *config,
                              struct fst_error *error);

/* How many executors there are to be where allocation is not dynamic: spark.executor.instances, 2 if it is not set. */
int executor_instances_read(const struct fst_conf *conf, int *out, struct fst_error *error);
