/*
 * How large an executor is: its processors, memory and custom resources, from its resource profile and the
 * configuration. Spark's ResourceProfile.getResourcesForClusterManager, as Kubernetes calls it.
 */
#pragma once

#include "base/strmap.h"

#include <jansson.h>
#include <stdint.h>

struct fst_error;
struct kube_conf;

struct executor_size {
        int64_t cores;
        int64_t memory;       /* MiB that it may use itself: spark.executor.memory */
        int64_t total;        /* MiB of the container */
        struct strmap custom; /* "nvidia.com/gpu" -> "1" */
};

/* -EINVAL with Spark's sentence; @out is to be deinitialised in either case. */
int executor_size_read(const struct kube_conf *c, struct executor_size *out, struct fst_error *error);
void executor_size_deinit(struct executor_size *size);

/*
 * What each executor of a driver that is being submitted will request: {"cpu": "1", "memory": "1408Mi", …,
 * "nvidia.com/gpu": "1"}, by the default profile. @c is the driver's. *@out is the caller's; errors as above.
 */
int executor_requests_read(const struct kube_conf *c, json_t **out, struct fst_error *error);
