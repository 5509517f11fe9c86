/*
 * Submitting to Kubernetes in cluster mode: the driver's pod and what it needs are created, and the driver is waited
 * for. Spark's KubernetesClientApplication and Client.run.
 *
 * What has to be there before the pod is applied first, then the pod is created, then everything else at once, the pod
 * its owner: it goes when the pod goes. If something cannot be created, what was created is deleted again; what had
 * been there before stays.
 */
#pragma once

struct fst_error;
struct submission;

/*
 * @s was prepared for SUBMIT_CLASS_KUBERNETES. 0 with *@status: the exit code of the driver's container if it was
 * waited for (spark.kubernetes.submission.waitAppCompletion), else 0; 128 and the number of a signal that ended the
 * wait, which the driver survives. Negative with @error: -EACCES the API server does not allow it, -EEXIST there is a
 * pod of that name, -EINVAL what Spark refuses, others as kube_client.h has them.
 */
int kube_submit(const struct submission *s, int *status, struct fst_error *error);
