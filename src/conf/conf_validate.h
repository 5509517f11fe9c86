/*
 * Settings that cannot be: what is checked before an application starts.
 *
 * The typed getters (conf/conf.h) refuse a value that is no number; here are the ranges of what the engine reads, and
 * the rules between keys of Spark's SparkConf.validateSettings.
 */
#pragma once

struct fst_conf;
struct fst_error;

/* 0, or -EINVAL with key, value and what is allowed. What is only unwise is warned of. */
int settings_check(const struct fst_conf *conf, struct fst_error *error);
