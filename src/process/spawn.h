/*
 * A new process from a program: posix_spawn, and what it cannot do: the process joins control groups before its program
 * begins, so that whatever the program starts, from its first moment on, is inside.
 */
#pragma once

#include <sys/types.h>

struct fst_error;

struct spawn {
        const char *file;         /* an absolute path */
        char *const *arguments;   /* ends in NULL */
        char *const *environment; /* ends in NULL */
        const char *directory;    /* to run in; NULL: this one */
        char *const *groups;      /* files cgroup.procs of the control groups to join, ends in NULL; NULL: none */
        int output, errors;       /* its descriptors 1 and 2; 0: this process's own */
        int words;                /* its descriptor 3 */
};

/*
 * Start it, in a process group of its own, with the signals as a new login has them, without input and without any
 * other descriptor. From any thread, which waits until the program has begun. Negative with @error, which names the
 * program, directory or control group at fault: then no process is left.
 */
int spawn_process(const struct spawn *spawn, pid_t *pid, struct fst_error *error);
