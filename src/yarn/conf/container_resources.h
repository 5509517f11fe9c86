/*
 * The resources of a container besides memory and cores: Spark's ResourceRequestHelper.
 *
 *      spark.yarn.executor.resource.fpga.amount=1         the resource of this name
 *      spark.executor.resource.gpu.amount=2               yarn.io/gpu (spark.yarn.resourceGpuDeviceName)
 */
#pragma once

#include "base/vec.h"

#include <stdint.h>

struct fst_conf;
struct fst_error;

struct container_resource {
        char *name, *units; /* units: "", "G", "Mi" … */
        int64_t amount;
};

struct container_resources {
        VEC(struct container_resource) list;
};

/*
 * Reads spark.yarn.ROLE.resource.NAME.amount (@role: "executor", "driver", "am"), and the GPUs and FPGAs under
 * @spark_prefix ("spark.executor.resource."). Returns 0, or -EINVAL with Spark's message for an invalid amount.
 */
int container_resources_read(const struct fst_conf *conf, const char *role, const char *spark_prefix,
                             struct container_resources *out, struct fst_error *error);
void container_resources_deinit(struct container_resources *resources);

/* Refuses resources that have keys of their own, as memory, with a line of Spark's for each: 0, or -EINVAL. */
int container_resources_check(const struct fst_conf *conf, struct fst_error *error);
