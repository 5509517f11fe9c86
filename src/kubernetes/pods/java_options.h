/* JVM options of an executor, in variables SPARK_JAVA_OPT_0, …: the user's options and the settings for its start. */
#pragma once

#include "base/string_list.h"

struct fst_error;
struct kube_conf;
struct spark_pod;

/*
 * Appends the words of spark.executor.defaultJavaOptions and extraJavaOptions, then a sorted "-Dkey=value" for each
 * setting that executors need before they connect to the driver.
 */
int java_options_read(const struct kube_conf *c, struct string_list *out, struct fst_error *error);

/* Sets SPARK_JAVA_OPT_0, … of the container to @options in order. */
void java_options_put(const struct string_list *options, struct spark_pod *pod);

/* Joins the values of @default_key and @key with @between. *@out is NULL if neither is set. The caller owns *@out. */
int value_with_default(const struct kube_conf *c, const char *default_key, const char *key, const char *between,
                       char **out, struct fst_error *error);
