/* spark.plugins: checks which built-in plugins an application names. */
#pragma once

#include <stdbool.h>

struct fst_conf;

#define PLUGIN_EXECUTOR_ROLL "org.apache.spark.scheduler.cluster.k8s.ExecutorRollPlugin"
#define PLUGIN_EXECUTOR_RESIZE "org.apache.spark.scheduler.cluster.k8s.ExecutorResizePlugin"
#define PLUGIN_EXECUTOR_PVC_RESIZE "org.apache.spark.scheduler.cluster.k8s.ExecutorPVCResizePlugin"

/* Whether spark.plugins of @conf names @plugin. */
bool plugin_is_named(const struct fst_conf *conf, const char *plugin);

/* Warn once for each plugin without effect: an unknown one, or one for Kubernetes with another manager (@is_kubernetes
 * false). */
void plugins_warn(const struct fst_conf *conf, bool is_kubernetes);
