/* Dynamic allocation's settings, as an application's configuration has them. */
#pragma once

#include "sched/allocation/executor_allocation.h"

struct fst_conf;
struct fst_error;

/*
 * Fill @config from spark.dynamicAllocation.*, spark.decommission.enabled, spark.shuffle.service.* and the cores and
 * custom resources of executors and tasks. spark.dynamicAllocation.enabled is not looked at. Times that Spark gives in
 * seconds lose what is less than one. 0, or -EINVAL with what cannot be; then @config is untouched. Warns of what is
 * only unwise.
 */
int executor_allocation_config_read(const struct fst_conf *conf, struct executor_allocation_config *config,
                                    struct fst_error *error);
