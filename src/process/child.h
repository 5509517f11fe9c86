/*
 * Child processes on a loop: started without a shell, watched by a pidfd, so that no SIGCHLD handler is needed and no
 * process of the application's is mistaken for one of ours.
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
        char *const *arguments;   /* ends in NULL; arguments[0] is the program's name */
        char *const *environment; /* ends in NULL; NULL: this process's own */
        const char *directory;    /* to run in; NULL: this one */
        char *const *groups;      /* control groups that it joins first: files cgroup.procs, ends in NULL */
        int output, errors;       /* its descriptors 1 and 2; 0: this process's own */
        bool whole_group;         /* when it has ended, what it leaves of its process group is killed */
        /*
         * How it ended, as waitpid says; and its last words: the child's descriptor 3 is a pipe, and what it wrote
         * there is told, CHILD_LAST_WORDS bytes at most. Called once, on the loop's thread; then the child is freed.
         */
        void (*ended)(void *owner, struct child *child, int wait_status, const char *last_words);
        void *owner;
};

#define CHILD_LAST_WORDS 4096
#define CHILD_WORDS_FD 3

/*
 * Start it (process/spawn.h); on the loop's thread, or before it runs. The options' texts are read during the call. Negative
 * with @error, which names what is at fault.
 */
int child_start(uv_loop_t *loop, const struct child_options *options, struct child **child, struct fst_error *error);

/* Stop watching it: `ended` is not called, nobody waits for it, it goes on. On the loop's thread; frees it. */
void child_forget(struct child *child);

pid_t child_pid(const struct child *child);
int child_kill(struct child *child, int signal);
