/*
 * Child processes on an event loop, started without a shell. A pidfd watches each, so that no SIGCHLD handler is needed
 * and the application's own children are left alone.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <uv.h>

struct child;
struct fst_error;

struct child_options {
        const char *file;         /* an absolute path */
        char *const *arguments;   /* ends with NULL; arguments[0] is the program's name */
        char *const *environment; /* ends with NULL; NULL: this process's environment */
        const char *directory;    /* working directory; NULL: this process's */
        char *const *groups;      /* cgroup.procs files of the control groups to join first; ends with NULL */
        int output, errors;       /* its descriptors 1 and 2; 0: this process's */
        bool whole_group;         /* at its end, kill the rest of its process group */
        /*
         * The child has ended. @wait_status is as from waitpid. @last_words is what it wrote to its descriptor 3, a
         * pipe, at most CHILD_LAST_WORDS bytes. Called once, on the loop's thread. Then the child is freed.
         */
        void (*ended)(void *owner, struct child *child, int wait_status, const char *last_words);
        void *owner;
};

#define CHILD_LAST_WORDS 4096
#define CHILD_WORDS_FD 3

/*
 * Start a child (process/spawn.h), on the loop's thread or before it runs. Borrows the options' texts for the call.
 * Returns 0, or a negative status with @error, which names the program, directory or group at fault.
 */
int child_start(uv_loop_t *loop, const struct child_options *options, struct child **child, struct fst_error *error);

/*
 * Stop watching a child and free it. The process continues, `ended` is not called, and no thread waits for it. On the
 * loop's thread.
 */
void child_forget(struct child *child);

pid_t child_pid(const struct child *child);
int child_kill(struct child *child, int signal);
