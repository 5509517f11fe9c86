/*
 * Builds all objects of a cluster-mode submission: the driver pod and the objects that it needs. Spark's
 * KubernetesDriverBuilder and the first part of Client.run.
 *
 *      _cleanup_(driver_spec_deinit) struct driver_pod_spec spec = {0};
 *      r = driver_spec_build(&c, &spec, error);
 *      json_t *pod = NULL, *map = NULL;
 *      if (r == 0)
 *              r = driver_spec_finish(&c, &spec, &pod, &map, error);
 */
#pragma once

#include "kubernetes/pods/spark_pod.h"

struct fst_error;
struct kube_conf;

struct driver_pod_spec {
        struct spark_pod pod;
        json_t *pre_resources, *resources; /* arrays: objects to create before the pod, and after it */
        struct strmap properties;          /* the driver's configuration */
};

/* Returns 0, -EINVAL, or the -errno of a file, with Spark's message. Deinit @out in either case. */
int driver_spec_build(const struct kube_conf *c, struct driver_pod_spec *out, struct fst_error *error);
void driver_spec_deinit(struct driver_pod_spec *spec);

/*
 * Sets *@pod to the final pod with its container, and the config map of configuration files (NULL in the format of
 * Spark 2.3). The caller owns both.
 */
int driver_spec_finish(const struct kube_conf *c, const struct driver_pod_spec *spec, json_t **pod, json_t **map,
                       struct fst_error *error);

/* Makes @pod, as returned by the API server, the owner of @object, so that both are deleted together. */
void kube_set_owner(json_t *object, const json_t *pod);

/*
 * Makes what the configuration names the owner of an object that a driver creates: what outlives the driver's pod, or
 * this pod. Does nothing if the driver runs outside the cluster.
 */
void kube_set_executors_owner(json_t *object, const struct kube_conf *c);
