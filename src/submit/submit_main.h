/*
 * Carries out a submission: in this process, through a cluster manager, or by exec of Spark itself.
 *
 *      native application, client mode     prepared, then called in this process (native_launcher.h)
 *      Python, client mode                 prepared, then run as a child of this process (pyspark_driver/python_driver.h),
 *                                          unless SPARK_HOME has the jars of Spark
 *      JVM, Python, R, client mode         exec of java with the original words, because Spark prepares them itself
 *      cluster mode                        the cluster manager's `submit` slot (driver/backend/cluster_manager.h)
 */
#pragma once

#include <stdbool.h>

struct fst_error;
struct submit_arguments;

/*
 * Whether the @n words of spark-submit ask for Python's shell, R's shell or one of Spark's examples, as Spark's scripts
 * write it. Such words must not be parsed as an application's. They go to runner_exec.
 */
bool runner_is_special(int n, char *const *words);

/*
 * Whether @a, which is complete and valid, needs a JVM, Python or R in this process. Spark itself then reads the words
 * again, warns, and prints the --verbose report.
 */
bool runner_is_foreign(const struct submit_arguments *a);

/*
 * Does what @a asks for: submit, kill or status, but not a dry run. @a must be complete and valid, and @words are the
 * @n words that it was parsed from. Returns 0 with the exit status in *@status, or negative with @error and *@status.
 * If the application needs a JVM, Python or R, that program replaces this process, so its exit status becomes ours.
 * Warnings and the --verbose report go to standard error.
 */
int runner_run(struct submit_arguments *a, int n, char *const *words, int *status, struct fst_error *error);

/*
 * Replaces this process by Spark's own spark-submit with these words. Returns only if it fails: negative with @error,
 * and *@status.
 */
int runner_exec(const char *what, int n, char *const *words, int *status, struct fst_error *error);
