/* Finding the file that describes the scheduling pools. */
#pragma once

#include "sched/tasks/pool_file.h"

/*
 * Read the pools of @path (spark.scheduler.allocation.file; "file:" is understood), or with NULL those of
 * fairscheduler.xml in SPARK_CONF_DIR, if there is one: Spark's warning is logged if not. Errors name the file.
 */
int pools_read(const char *path, struct pool_file *pools, struct fst_error *error);
