/*
 * Submits to Kubernetes in cluster mode: creates the driver's pod and its other objects (driver_launch.h), then waits
 * for the driver (Spark: KubernetesClientApplication, Client.run).
 */
#pragma once

struct fst_error;
struct submission;

/*
 * @s was prepared for SUBMIT_CLASS_KUBERNETES. Returns 0 with *@status: the exit code of the driver's container if the
 * client waited for it (spark.kubernetes.submission.waitAppCompletion), else 0. If a signal ended the wait, *@status is
 * 128 plus its number, and the driver continues. Returns negative with @error: -EACCES the API server denies it,
 * -EEXIST a pod of that name exists, -EINVAL Spark refuses a setting, others as in kube_client.h.
 */
int kube_submit(const struct submission *s, int *status, struct fst_error *error);
