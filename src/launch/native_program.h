/*
 * Runs a native application in this process: compiles a C file, loads the shared object and calls its main on this
 * thread.
 */
#pragma once

#include <stddef.h>

struct fst_conf;
struct fst_error;

/* Spark's exit status for a missing class. */
#define NATIVE_PROGRAM_NO_CLASS 101

struct native_program {
        const char *path;  /* path of the file */
        const char *shown; /* its argv[0] */
        const char *entry; /* name of the function; NULL: main */
        char *const *arguments;
        size_t n;
        const struct fst_conf *conf; /* the initial values of fst_conf_new; live as long as the process */
};

/*
 * Call before foreign code can run and before threads start. Prepares the configuration, installs signal handlers that
 * end the process in order (exec/exit_hooks.h), and reports crashes on standard error. Returns negative with @error.
 */
int native_program_prepare(const struct native_program *p, struct fst_error *error);

/*
 * Loads and calls the program. Returns 0 with its result in *@status, or with NATIVE_PROGRAM_NO_CLASS and @error if the
 * function does not exist. Returns negative with @error for other failures.
 */
int native_program_run(const struct native_program *p, int *status, struct fst_error *error);
