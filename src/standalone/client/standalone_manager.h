/* The executor manager for spark://host:port[,host:port…]. It requests what Spark's StandaloneSchedulerBackend
 * requests: spark.cores.max, and for each executor spark.executor.cores (unset: all cores of a worker), .memory and
 * .resource.*. It ignores spark.executor.instances.
 */
#pragma once

#include "driver/backend/executor_manager.h"

struct fst_context;

/* cluster_manager_class.executor_manager_new, for the masters of spark.master. -EINVAL for invalid settings. */
int standalone_manager_new(struct fst_context *sc, struct executor_manager **out, struct fst_error *error);
