/* Reads dynamic allocation's settings from an application's configuration. */
#pragma once

#include "sched/allocation/executor_allocation.h"

struct fst_conf;
struct fst_error;

/* Fills @config from spark.dynamicAllocation.*, spark.decommission.enabled, spark.shuffle.service.* and the cores and
 * custom resources of executors and tasks. Ignores spark.dynamicAllocation.enabled. Truncates times that Spark gives
 * in seconds to whole seconds. Returns 0, or -EINVAL with the invalid setting and @config unchanged. Warns about
 * unwise settings.
 */
int executor_allocation_config_read(const struct fst_conf *conf, struct executor_allocation_config *config,
                                    struct fst_error *error);
