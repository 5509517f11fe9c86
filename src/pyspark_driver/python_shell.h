/*
 * The interactive shell: Python, IPython or Jupyter with a context named `sc`.
 *
 * Python runs as a child of this process and starts the engine itself, by spark-submit of this installation. The words
 * of the command line reach that spark-submit in PYSPARK_SUBMIT_ARGS.
 */
#pragma once

struct fst_error;

/*
 * Runs the shell with the @n words after "pyspark". Returns 0 with the exit status of Python in *@status, or negative
 * with
 * @error. Changes the environment, so call it before threads start.
 */
int python_shell_run(int n, char *const *words, int *status, struct fst_error *error);
