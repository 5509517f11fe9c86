/* The scheduler's settings, as an application's configuration has them. */
#pragma once

#include "sched/sched.h"

struct fst_conf;

/*
 * Fill @config from @conf, but for the pools (sched/tasks/pool_file.h) and for what the owner knows better
 * (outputs_outlive_executors; max_failures of the local modes). 0, or -EINVAL with key and value; then @config is
 * untouched. Ends with sched_config_deinit.
 */
int sched_config_read(const struct fst_conf *conf, struct sched_config *config, struct fst_error *error);
void sched_config_deinit(struct sched_config *config);
