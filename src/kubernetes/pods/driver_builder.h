/*
 * All that a cluster-mode submission creates: the driver's pod and what it needs. Spark's KubernetesDriverBuilder and
 * the beginning of Client.run.
 *
 *      _cleanup_(driver_spec_deinit) struct driver_spec spec = {0};
 *      r = driver_spec_build(&c, &spec, error);
 *      json_t *pod = NULL, *map = NULL;
 *      if (r == 0)
 *              r = driver_spec_finish(&c, &spec, &pod, &map, error);
 */
#pragma once

#include "kubernetes/pods/spark_pod.h"

struct fst_error;
struct kube_conf;

struct driver_spec {
        struct spark_pod pod;
        json_t *pre_resources, *resources; /* arrays: objects to create before the pod, and after it */
        struct strmap properties;          /* what the driver is configured by */
};

/* -EINVAL, or the errno of a file, with Spark's sentence in @error; @out is to be deinitialised in either case. */
int driver_spec_build(const struct kube_conf *c, struct driver_spec *out, struct fst_error *error);
void driver_spec_deinit(struct driver_spec *spec);

/*
 * The pod as it is created, its container in it, and the config map with configuration files, NULL in the shape of
 * Spark 2.3: the caller's, both.
 */
int driver_spec_finish(const struct kube_conf *c, const struct driver_spec *spec, json_t **pod, json_t **map,
                       struct fst_error *error);

/* Make @pod, as the API server returned it, the owner of @object: it goes when the pod goes. */
void kube_set_owner(json_t *object, const json_t *pod);
