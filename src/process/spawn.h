/*
 * Starts a program like posix_spawn, but the process joins control groups before its program begins, so that everything
 * it starts is inside them.
 */
#pragma once

#include <sys/types.h>

struct fst_error;

struct spawn {
        const char *file;         /* an absolute path */
        char *const *arguments;   /* ends with NULL */
        char *const *environment; /* ends with NULL */
        const char *directory;    /* working directory; NULL: this process's */
        char *const *groups;      /* cgroup.procs files of the control groups to join, ends with NULL; NULL: none */
        int output, errors;       /* its descriptors 1 and 2; 0: this process's */
        int words;                /* its descriptor 3 */
};

/*
 * Start a program in its own process group, with default signals, without input and without other descriptors. Blocks
 * until the program has begun. Any thread. Returns 0, or a negative status with @error, which names the program,
 * directory or control group at fault. Then no process remains.
 */
int spawn_process(const struct spawn *spawn, pid_t *pid, struct fst_error *error);
