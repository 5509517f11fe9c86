/*
 * Checks settings before an application starts.
 *
 * The typed getters (conf/conf.h) refuse values that do not parse. This checks the ranges of the engine's keys, that
 * those of executors parse, and the rules between keys of Spark's SparkConf.validateSettings.
 */
#pragma once

struct fst_conf;
struct fst_error;

/*
 * Returns 0, or -EINVAL with @error: key, value and the allowed values. Logs a warning for settings that are only
 * unwise.
 */
int conf_validate(const struct fst_conf *conf, struct fst_error *error);
