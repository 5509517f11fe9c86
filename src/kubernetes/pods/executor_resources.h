/*
 * Computes cores, memory and custom resources of an executor from its resource profile and the configuration. Spark's
 * ResourceProfile.getResourcesForClusterManager, as called for Kubernetes.
 */
#pragma once

#include "base/strmap.h"

#include <jansson.h>
#include <stdint.h>

struct fst_error;
struct kube_conf;

struct executor_size {
        int64_t cores;
        int64_t memory;       /* MiB of heap: spark.executor.memory */
        int64_t total;        /* MiB of the container */
        struct strmap custom; /* "nvidia.com/gpu" -> "1" */
};

/* Returns 0, or -EINVAL with Spark's message. Deinit @out in either case. */
int executor_size_read(const struct kube_conf *c, struct executor_size *out, struct fst_error *error);
void executor_size_deinit(struct executor_size *size);

/*
 * Computes the requests of each executor of a driver about to be submitted, by the default profile: {"cpu": "1",
 * "memory": "1408Mi", …, "nvidia.com/gpu": "1"}. @c is the driver's. The caller owns *@out. Errors as above.
 */
int executor_requests_read(const struct kube_conf *c, json_t **out, struct fst_error *error);
