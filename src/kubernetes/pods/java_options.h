/* What an executor's JVM is told, in variables SPARK_JAVA_OPT_0, …: the user's options, and settings it starts with. */
#pragma once

#include "base/string_list.h"

struct fst_error;
struct kube_conf;
struct spark_pod;

/*
 * Append the words of spark.executor.defaultJavaOptions and extraJavaOptions, then "-Dkey=value" for each setting that
 * executors need before they reach the driver, sorted.
 */
int java_options_read(const struct kube_conf *c, struct string_list *out, struct fst_error *error);

/* Set SPARK_JAVA_OPT_0, … of the pod's container to @options, in their order. */
void java_options_put(const struct string_list *options, struct spark_pod *pod);

/* Append the words of a command line as Spark's Utils.splitCommandString cuts it, which never fails; NULL has none. */
void java_options_split(const char *text, struct string_list *out);

/*
 * The value of @key behind that of @default_key, @between both if both are set; NULL if neither is. The caller owns
 * *@out.
 */
int value_with_default(const struct kube_conf *c, const char *default_key, const char *key, const char *between,
                       char **out, struct fst_error *error);
