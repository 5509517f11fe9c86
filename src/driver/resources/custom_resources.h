/*
 * Custom resources (GPUs, …) in the driver: checks the tasks' requests, and shares the addresses of a local cluster's
 * workers among its executors.
 */
#pragma once

#include "conf/conf.h"
#include "sched/sched_config.h"

struct fst_error;
struct worker_resources;

/*
 * Check that spark.executor.resource.* covers each task's request (@config->resources). Returns 0, or -EINVAL with
 * @error. A local master (@local) has no custom resources.
 */
int custom_resources_check(const struct fst_conf *conf, const struct sched_config *config, bool local,
                           struct fst_error *error);

/*
 * Find the resources of each worker of a local cluster: reads spark.worker.resourcesFile and runs the scripts of
 * spark.worker.resource.*. All workers have the same addresses. Returns 0, or -EINVAL with @error, also if they are too
 * few for one executor.
 */
int worker_resources_new(const struct fst_conf *conf, struct worker_resources **w, struct fst_error *error);

/* Removes the files. NULL is allowed. */
void worker_resources_free(struct worker_resources *w);

/* The number of executors that a worker's resources suffice for; INT32_MAX if executors need none. */
int worker_resources_executors(const struct worker_resources *w);

/*
 * Write the --resourcesFile of executor @place of its worker (below worker_resources_executors), with its own share of
 * the addresses. @w owns *@path, which is NULL if executors need no resources. Returns 0, or a negative status with
 * @error if the file cannot be written.
 */
int worker_resources_file(struct worker_resources *w, int place, const char **path, struct fst_error *error);
