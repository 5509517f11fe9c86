/*
 * k8s://…: executors in pods, as an executor manager. What Spark's KubernetesClusterManager and
 * KubernetesClusterSchedulerBackend are; the pods themselves are kube_executors.h's.
 *
 * A driver that a submission has put into a pod reaches the API server at spark.kubernetes.driver.master, with what is
 * mounted into its pod; any other one, at the master URL, as kube_config.h says.
 */
#pragma once

#include "driver/backend/executor_manager.h"

struct fst_context;

/* 0, or negative with @error for settings that cannot be. */
int kube_manager_new(struct fst_context *sc, struct executor_manager **out, struct fst_error *error);
