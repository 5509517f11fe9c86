/* The words of spark-submit for a SparkApplication, in the genuine operator's order. Pure. */
#pragma once

#include "base/string_list.h"
#include "operator/render/application_objects.h"

/*
 * Appends the words after "spark-submit". The lists of packages are not among them: the driver resolves these
 * (submission_packages). Returns 0, or -EINVAL with @error: a local volume of an unsupported type, a mode that needs a
 * driver outside of the cluster, a missing application.
 */
int submission_words_make(const struct spark_application *app, const struct render_options *o,
                          struct string_list *words, struct fst_error *error);

/*
 * Appends spark.firesteel.resume.id if @spark_conf asks for a journal: a driver finds its journal by an id that is the
 * same for each attempt of the object. To be followed by @spark_conf, which may name another id.
 */
void submission_words_journal(const json_t *spark_conf, const char *name, const char *uid, struct string_list *words);

/* Sets spark.jars.packages, spark.jars.excludes and spark.jars.repositories, which --packages and others stand for. */
void submission_packages(const struct spark_application *app, struct strmap *conf);

/* Names of volumes with this prefix become volumes of Spark's local directories. */
#define LOCAL_DIR_PREFIX "spark-local-dir-"
