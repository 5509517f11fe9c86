/* Reads the scheduler's settings from an application's configuration. */
#pragma once

#include "sched/sched.h"

struct fst_conf;

/* The end of the message for a job whose results exceed spark.driver.maxResultSize. */
#define RESULT_SIZE_REMEDY                                                                                             \
        "raise it (spark.driver.maxResultSize=4g), or let the job return less: fst_save_as_text_file and the other "   \
        "saves write rows where they are"

/* Fills @config from @conf, except for the pools (sched/tasks/pool_file.h) and for values that the owner sets
 * (outputs_outlive_executors, lends_cores; max_failures of the local modes). Returns 0, or -EINVAL with key and value and @config
 * unchanged. Release it with sched_config_deinit.
 */
int sched_config_read(const struct fst_conf *conf, struct sched_config *config, struct fst_error *error);
void sched_config_deinit(struct sched_config *config);
