/*
 * Examples in C below `examples/`, in a checkout or an installed tree: `run-example pi`.
 *
 * Differs from Spark, whose run-example needs SPARK_HOME and the jar of its examples. With SPARK_HOME, a class of Spark
 * still runs from there, and the name of a C file runs the C file.
 */
#pragma once

#include <stdbool.h>

/*
 * Whether @words, the command line of run-example, are for Firesteel: they name a C example, or SPARK_HOME is not set.
 */
bool run_example_is_native(int n, char *const *words);

/* Runs the example by spark-submit, or reports what is wrong. Returns the exit status. */
int run_example(int n, char *const *words);
