/*
 * Custom resources (GPUs, …) as the driver sees them: whether tasks can have what they ask for, and what the workers of
 * a local cluster give to their executors.
 */
#pragma once

#include "conf/conf.h"
#include "sched/sched_config.h"

struct fst_error;
struct worker_resources;

/*
 * Whether what each task asks for (@config->resources) is asked for, for executors, with spark.executor.resource.*: 0,
 * or -EINVAL with @error. A local master has none (@local).
 */
int custom_resources_check(const struct fst_conf *conf, const struct sched_config *config, bool local,
                           struct fst_error *error);

/*
 * What each worker of a local cluster has: spark.worker.resourcesFile and spark.worker.resource.*, whose scripts are
 * run. All of them have the same addresses. -EINVAL with @error, also when that is not enough for one executor.
 */
int worker_resources_new(const struct fst_conf *conf, struct worker_resources **w, struct fst_error *error);

/* Removes the files. NULL is allowed. */
void worker_resources_free(struct worker_resources *w);

/* How many executors a worker has enough for: INT32_MAX if they ask for nothing. */
int worker_resources_executors(const struct worker_resources *w);

/*
 * The --resourcesFile of the executor at place @place of its worker, below worker_resources_executors: its own share of
 * the addresses. *@path is owned by @w; NULL if executors ask for nothing. Negative with @error if it cannot be
 * written.
 */
int worker_resources_file(struct worker_resources *w, int place, const char **path, struct fst_error *error);
