/*
 * R programs with SparkR's own R sources: starts the backend and R.
 *
 *      spark-submit app.R          starts R, which finds the backend by its environment
 *      sparkR                      the same with an interactive R
 *      sparkR.session() in R       starts `spark-submit … sparkr-shell FILE`, and reads the backend's port from FILE
 */
#pragma once

#include <stddef.h>

struct fst_conf;
struct fst_error;

/*
 * Runs the program of R in the file @path with @n arguments. With @path NULL runs R interactively. Contexts start with
 * the prepared configuration (conf_set_prepared). Returns 0 with R's exit status (128 + signal) in *@status, or
 * negative with @error.
 */
int sparkr_run(const char *path, char *const *arguments, size_t n, int *status, struct fst_error *error);

/* Serves the session of the R that waits for @path, until it ends. Returns 0 or negative with @error. */
int sparkr_serve(const char *path, struct fst_error *error);
