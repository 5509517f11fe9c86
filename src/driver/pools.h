/* Finds and reads the file of scheduling pools. */
#pragma once

#include "sched/tasks/pool_file.h"

/*
 * Read the pools from @path (spark.scheduler.allocation.file; "file:" is understood). With NULL, read fairscheduler.xml
 * in SPARK_CONF_DIR, or log Spark's warning if it does not exist. Errors name the file.
 */
int pools_read(const char *path, struct pool_file *pools, struct fst_error *error);
