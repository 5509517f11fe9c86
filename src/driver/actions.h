/*
 * Running an action: what every public action does around its job.
 */
#pragma once

#include "driver/context.h"
#include "driver/job_runner.h"

/*
 * Run @action on partitions of @rdd (NULL: all): plan it, compute the bounds of range partitioners that it needs,
 * submit, wait. 0, or negative with @error.
 */
int action_run(fst_rdd *rdd, struct action *action, const int *partitions, int n, fst_site site,
               struct fst_error *error);

/* Before the first job: whether the RDD and its context can be; as action_run. Sets the number of partitions. */
int action_check(fst_rdd *rdd, struct fst_error *error);

/* Report a failed action: as context_action_failed, with its name and source line. */
int action_failed(fst_rdd *rdd, fst_site site, int status, struct fst_error *error);

/* Sample keys and set the bounds of every range partitioner that computing @rdd needs (driver/range_bounds.c). */
int range_bounds_prepare(fst_rdd *rdd, fst_site site, struct fst_error *error);
