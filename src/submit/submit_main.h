/*
 * Carries out a submission: in this process, through a master, or as Spark itself.
 *
 *      native application, client mode     prepared, then its main is called here (native_launcher.h)
 *      JVM, Python, R, client mode         exec of java with the original words: Spark prepares it itself
 *      cluster mode                        the cluster manager's `submit` slot (driver/backend/cluster_manager.h)
 */
#pragma once

#include <stdbool.h>

struct fst_error;
struct submit_arguments;

/*
 * Whether the @n words of spark-submit are for Python's shell, R's, or one of Spark's examples, as Spark's scripts ask
 * for them: they are not to be read as an application's, but go to runner_exec.
 */
bool runner_is_special(int n, char *const *words);

/*
 * Whether @a, which is complete and valid, is for a JVM, Python or R in this place: Spark itself reads the words again
 * then, warns, and tells what --verbose asks for.
 */
bool runner_is_foreign(const struct submit_arguments *a);

/*
 * Do what @a, which is complete and valid, asks for (submit, kill, status; not a dry run); @words are the @n words that
 * it was read from. 0 with *@status, what to exit with; or negative with @error and *@status. What is foreign to this
 * process replaces it, so that the application's exit status is the program's. Warnings and what --verbose asks for go
 * to standard error.
 */
int runner_run(struct submit_arguments *a, int n, char *const *words, int *status, struct fst_error *error);

/* Become Spark's own spark-submit with these words. Returns only to fail: negative with @error, and *@status. */
int runner_exec(const char *what, int n, char *const *words, int *status, struct fst_error *error);
