/* The size of an executor's container: Spark's ResourceProfile.getResourcesForClusterManager, as called for YARN. */
#pragma once

#include "yarn/conf/container_resources.h"

#include <stdbool.h>
#include <stdint.h>

struct strmap;

struct yarn_executor_size {
        int cores, tasks; /* tasks: that run at once */
        int64_t heap_mb, off_heap_mb, overhead_mb, python_mb;
        int64_t total_mb; /* of the container */
        struct container_resources resources;
};

/* The sizes that the configuration gives. Returns 0, or -EINVAL with @error. Deinit @out in either case. */
int yarn_executor_size_read(const struct fst_conf *conf, struct yarn_executor_size *out, struct fst_error *error);

/*
 * The same of executors of a resource profile, whose amounts @settings has as keys of the configuration. Without an
 * overhead of its own, a profile has the one that belongs to the memory of @conf, as in Spark.
 */
int yarn_executor_size_read_profile(const struct fst_conf *conf, const struct strmap *settings,
                                    struct yarn_executor_size *out, struct fst_error *error);

/* The overhead of a process's memory as a fraction of it. Returns 0, or -EINVAL with @error unless @key is positive. */
int yarn_overhead_factor_read(const struct fst_conf *conf, const char *key, double *out, struct fst_error *error);

/* Only the memory, which a client compares with the cluster. As yarn_executor_size_read. */
int yarn_executor_size_read_memory(const struct fst_conf *conf, struct yarn_executor_size *out,
                                   struct fst_error *error);
void yarn_executor_size_deinit(struct yarn_executor_size *size);

/* Whether it fits into the largest container of the cluster: 0, or -EINVAL with Spark's message. */
int yarn_executor_size_check(const struct yarn_executor_size *size, int64_t most_mb, struct fst_error *error);
