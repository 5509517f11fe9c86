/*
 * --kill and --status of drivers in Kubernetes: Spark's K8SSparkSubmitOperation.
 *
 * A driver is "namespace:pod", or "pod" in the namespace of the kubeconfig file's context ("default" without one). A
 * pod that ends with "*" means all drivers whose names begin so. What is found is told on standard error, in Spark's
 * words.
 */
#pragma once

struct fst_error;
struct strmap;

/*
 * @conf: how the API server is reached, and spark.kubernetes.appKillPodDeletionGracePeriod. 0, also if there is no such
 * driver, which is told; or negative with @error: -EINVAL the name or a setting cannot be, -EACCES the API server does
 * not allow it, -EIO it refused, others as kube_client.h has them.
 */
int kube_kill(const char *master, const char *id, const struct strmap *conf, struct fst_error *error);
int kube_status(const char *master, const char *id, const struct strmap *conf, struct fst_error *error);
