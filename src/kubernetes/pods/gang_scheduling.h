/*
 * A driver and the executors that it cannot do without, as one gang: drivers that fill a cluster, each waiting for
 * executors that find no room, wait for ever. With spark.firesteel.kubernetes.gang.enabled
 *
 *      Volcano     the pod group that VolcanoFeatureStep makes says what the driver and the executors need together
 *                  (spec.minResources, minMember 1), so that the driver is not started before there is room for all
 *      YuniKorn    the driver's annotations name two task groups, for which YuniKorn keeps room by placeholders
 *      others      the driver waits spark.firesteel.kubernetes.gang.timeout for them, then gives up what it has
 *
 * Nothing that the user has said in a template, an annotation or a pod group is changed.
 */
#pragma once

#include "kubernetes/pods/spark_pod.h"

#include <stdint.h>

struct fst_conf;
struct fst_error;
struct kube_conf;

struct gang {
        bool wanted;
        int executors;      /* the least: spark.dynamicAllocation.minExecutors, or spark.executor.instances */
        int64_t timeout_ms; /* 0: for ever */
};

/* 0, or -EINVAL with @error. */
int gang_read(const struct fst_conf *conf, struct gang *out, struct fst_error *error);

/*
 * Put what the scheduler is to know into a pod that is otherwise complete, and for a driver into its pod group, which
 * is among @pre_resources. -EINVAL with @error: Volcano without a pod group, an amount that is none.
 */
int gang_put(const struct kube_conf *c, struct spark_pod *pod, json_t *pre_resources, struct fst_error *error);
