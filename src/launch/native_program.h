/*
 * Running a native application in this process: its shared object (or C file, compiled first) is loaded and its main
 * called on this thread.
 */
#pragma once

#include <stddef.h>

struct fst_conf;
struct fst_error;

/* Spark's exit status when there is no such class. */
#define NATIVE_PROGRAM_NO_CLASS 101

struct native_program {
        const char *path;  /* of the file */
        const char *shown; /* what its argv[0] is */
        const char *entry; /* the function; NULL: main */
        char *const *arguments;
        size_t n;
        const struct fst_conf *conf; /* what fst_conf_new starts from; for the whole life of the process */
};

/*
 * Before foreign code can run: the configuration is prepared, signals end the process in order (exec/exit_hooks.h), and
 * crashes are reported on standard error. Before there are threads. Negative with @error.
 */
int native_program_prepare(const struct native_program *p, struct fst_error *error);

/*
 * Load it and call it: 0 with what it answers in *@status, NATIVE_PROGRAM_NO_CLASS with @error set if it has no such
 * function; or negative with @error.
 */
int native_program_run(const struct native_program *p, int *status, struct fst_error *error);
