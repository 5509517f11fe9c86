/*
 * Starts a class of Spark as Spark's bin/spark-class does: reads SPARK_HOME's spark-env.sh, builds the java command
 * (java_command.h) and execs it, so the exit status of the class becomes ours. It uses Spark's jars but none of its
 * scripts, because SPARK_HOME/bin/spark-submit may be this very program.
 */
#pragma once

#include <stdbool.h>

struct fst_error;

/*
 * Checks that SPARK_HOME is set. If not, returns -ENOENT with @error: one line that says that @what (a noun phrase)
 * needs it, and the remedy.
 */
int java_launcher_check(const char *what, struct fst_error *error);

/*
 * Execs the java (Python, R) that runs @class with its @n words. With @print, writes the command to standard output
 * instead, as java_command_write does, and returns 0. Otherwise returns only if it fails: negative with @error, and the
 * exit status in *@status.
 *
 * Changes the environment: sets the variables of spark-env.sh, SPARK_CONF_DIR, SPARK_ENV_LOADED and
 * SPARK_SCALA_VERSION, and removes HADOOP_CONF_DIR and YARN_CONF_DIR under SPARK_TESTING. Call it before threads start.
 */
int java_launch(const char *class, int n, char *const *words, bool print, int *status, struct fst_error *error);
