/*
 * A program that is run to its end while the calling thread waits: a compiler, R.
 *
 *      struct buf said = BUF_INIT;
 *      char *words[] = {"cc", "a.c", NULL};
 *      int wait_status, r = command_run(&(struct command){.words = words, .said = &said}, &wait_status);
 *
 * The program has this process's descriptors but for those that are closed on exec, and no signal blocked. From any
 * thread; no signal handler is installed, and SIGCHLD must not be ignored.
 */
#pragma once

#include <stdbool.h>

struct buf;

struct command {
        char *const *words;       /* ends in NULL; the first is looked for in PATH */
        char *const *environment; /* ends in NULL; NULL: this process's own */
        const char *folder;       /* to run in; NULL: this one */
        int output;               /* descriptor for what it prints; 0: this process's own */
        struct buf *said;         /* in place of that: what it prints is added here. NULL: it is not */
        bool no_input;            /* its standard input is empty */
        /* It has a process group of its own, which is killed when a signal ends this process (process/exit_cleanup.h). */
        bool own_group;
};

/* Run it: 0 with *@wait_status as waitpid has it, or -errno when it could not be started. */
int command_run(const struct command *c, int *wait_status);
