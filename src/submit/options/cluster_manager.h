/*
 * Which cluster manager a master URL names, and what each refuses.
 *
 * The three versions of Spark whose rules are known differ here: 4.3 knows no Mesos and no "yarn-client", 3.5 knows
 * Mesos, 2.4 both.
 */
#pragma once

#include "launch/compat.h"
#include <stdbool.h>

struct fst_error;

enum cluster_manager { MANAGER_YARN, MANAGER_STANDALONE, MANAGER_MESOS, MANAGER_KUBERNETES, MANAGER_LOCAL };

/* What an application is written in, by its name: *.py and pyspark-shell, *.R, *.r and sparkr-shell, all others. */
enum submit_language {
        LANGUAGE_JVM, /* or native: what has a class and goes on the class path */
        LANGUAGE_PYTHON,
        LANGUAGE_R
};

/* Spark 2.4 knows an R file by ".R" alone. */
enum submit_language submit_language_of(const char *primary_resource, enum submit_compat compat);

/* "spark-shell", "pyspark-shell", "sparkr-shell", "connect-shell" (which is a file for versions before 4). */
bool submit_is_shell(const char *primary_resource);

/* "spark-internal": a class of Spark's own. */
bool submit_is_internal(const char *primary_resource);

/* What is to go on class paths: neither of these, nor Python nor R. */
bool submit_is_user_jar(const char *primary_resource, enum submit_compat compat);

/* *.so or *.c, which may have a fragment. */
bool submit_is_native(const char *primary_resource);

/* -EINVAL with Spark's sentence for a master that is none. */
int cluster_manager_parse(const char *master, enum submit_compat compat, enum cluster_manager *out,
                          struct fst_error *error);

/*
 * Spark 2's "yarn-cluster" and "yarn-client": the deploy mode ("client", "cluster") that @master brings along, given
 * @mode (NULL: not said), or NULL if @master is another. -EINVAL in *@r with @error if they contradict.
 */
const char *cluster_manager_yarn_mode(const char *master, const char *mode, int *r, struct fst_error *error);

/*
 * A Kubernetes master as it is passed on: k8s://https://… stays, k8s://host gets https://, k8s://http://… stays with a
 * warning in *@warning (static text; untouched otherwise). The result is the caller's. -EINVAL with @error.
 */
int kubernetes_master_resolve(const char *master, enum submit_compat compat, char **out, const char **warning,
                              struct fst_error *error);

/* What cannot run in which mode: -EINVAL with Spark's sentence for the first that is wrong. @class may be NULL. */
int cluster_manager_check(enum cluster_manager manager, bool cluster_mode, const char *primary_resource,
                          const char *class, enum submit_compat compat, struct fst_error *error);

/* The class of the SQL shell, to which --verbose is passed on. */
bool submit_is_connect_server(const char *class);
bool submit_is_sql_shell(const char *class);
