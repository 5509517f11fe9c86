/*
 * spark://host:port[,host:port…]: the executors of a standalone cluster, as an executor manager. What is asked for is
 * what Spark's StandaloneSchedulerBackend asks for: spark.cores.max, and of each executor spark.executor.cores (not
 * set: all that a worker has), .memory and .resource.*; spark.executor.instances counts for nothing here.
 */
#pragma once

#include "driver/backend/executor_manager.h"

struct fst_context;

/* cluster_manager_class.executor_manager_new, for the masters of spark.master. -EINVAL for invalid settings. */
int standalone_manager_new(struct fst_context *sc, struct executor_manager **out, struct fst_error *error);
