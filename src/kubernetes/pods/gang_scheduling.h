/*
 * Gang scheduling of a driver and its minimum executors. Without it, drivers that fill a cluster wait forever for
 * executors that do not fit. With spark.firesteel.kubernetes.gang.enabled:
 *
 *      Volcano     the pod group of VolcanoFeatureStep requests the resources of driver and executors together
 *                  (spec.minResources, minMember 1), so that the driver starts only when all of them fit
 *      YuniKorn    the driver's annotations name two task groups, for which YuniKorn reserves room with placeholders
 *      others      the driver waits spark.firesteel.kubernetes.gang.timeout for its executors, then exits
 *
 * Values that the user has set in a template, an annotation or a pod group stay.
 */
#pragma once

#include "kubernetes/pods/spark_pod.h"

#include <stdint.h>

struct fst_conf;
struct fst_error;
struct kube_conf;

struct gang {
        bool wanted;
        int executors;      /* minimum executors: spark.dynamicAllocation.minExecutors, or spark.executor.instances */
        int64_t timeout_ms; /* 0: no timeout */
};

/* Returns 0, or -EINVAL with @error. */
int gang_read(const struct fst_conf *conf, struct gang *out, struct fst_error *error);

/*
 * Adds the scheduler's annotations to a complete pod. For a driver under Volcano, changes its pod group among
 * @pre_resources. Returns -EINVAL with @error for Volcano without a pod group, or an invalid quantity.
 */
int gang_put(const struct kube_conf *c, struct spark_pod *pod, json_t *pre_resources, struct fst_error *error);
