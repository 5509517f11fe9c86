/*
 * Starts a class of Spark as bin/spark-class of Spark does: SPARK_HOME's spark-env.sh, the java command
 * (java_command.h), and exec, so that the class's exit status is the program's. Only Spark's jars are used, none of
 * its scripts: SPARK_HOME/bin/spark-submit may be this very program.
 */
#pragma once

#include <stdbool.h>

struct fst_error;

/*
 * Whether SPARK_HOME is set, so that there is something to start. When it is not: -ENOENT with @error, one line that
 * says that @what (a noun phrase) needs it and what to do.
 */
int java_launcher_check(const char *what, struct fst_error *error);

/*
 * Become the java (Python, R) that runs @class with its @n words. With @print the command is written to standard output
 * instead, as java_command_write does, and the result is 0. Otherwise returns only to fail: negative with @error, and
 * *@status is what to exit with.
 *
 * Changes the environment: what spark-env.sh sets, SPARK_CONF_DIR, SPARK_ENV_LOADED, SPARK_SCALA_VERSION; under
 * SPARK_TESTING, HADOOP_CONF_DIR and YARN_CONF_DIR go. So: before there are threads.
 */
int java_launch(const char *class, int n, char *const *words, bool print, int *status, struct fst_error *error);
