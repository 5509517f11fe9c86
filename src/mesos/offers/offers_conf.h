/* The settings of the cores that answer offers. */
#pragma once

#include "mesos/offers/coarse_offers.h"
#include "mesos/offers/fine_offers.h"

struct fst_conf;
struct fst_error;

/*
 * The memory of an executor in MiB: *@heap is spark.executor.memory, *@total has the overhead added. Returns 0, or
 * -EINVAL with @error.
 */
int mesos_executor_memory_read(const struct fst_conf *conf, int64_t *heap, int64_t *total, struct fst_error *error);

/*
 * Fill @out, whose constraints the caller releases with mesos_constraints_deinit. Return 0, or -EINVAL with @error and
 * without constraints.
 */
int coarse_offers_config_read(struct coarse_offers_config *out, const struct fst_conf *conf, struct fst_error *error);
int fine_offers_config_read(struct fine_offers_config *out, const struct fst_conf *conf, struct fst_error *error);
