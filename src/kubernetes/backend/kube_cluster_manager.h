/*
 * The executor manager of k8s:// master URLs, Spark's KubernetesClusterManager and KubernetesClusterSchedulerBackend.
 * kube_executor_backend.h handles the pods.
 *
 * A driver that a submission has put into a pod reaches the API server at spark.kubernetes.driver.master, with the
 * credentials mounted into its pod. Any other driver uses the master URL, see kube_config.h.
 */
#pragma once

#include "driver/backend/executor_manager.h"

struct fst_context;

/* Returns 0, or negative with @error for invalid settings. */
int kube_manager_new(struct fst_context *sc, struct executor_manager **out, struct fst_error *error);
