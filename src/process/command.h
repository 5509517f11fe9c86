/*
 * Runs a program, such as a compiler or R, and waits for its end.
 *
 *      struct buf output = BUF_INIT;
 *      char *words[] = {"cc", "a.c", NULL};
 *      int wait_status, r = command_run(&(struct command){.words = words, .captured = &output}, &wait_status);
 *
 * The program inherits this process's descriptors without close-on-exec. No signal is blocked in it. Any thread may
 * call. No signal handler is installed. SIGCHLD must not be ignored.
 */
#pragma once

#include <stdbool.h>

struct buf;

struct command {
        char *const *words;       /* ends with NULL; the first is looked up in PATH */
        char *const *environment; /* ends with NULL; NULL: this process's environment */
        const char *folder;       /* working directory; NULL: this process's */
        int output;               /* descriptor for its output; 0: this process's */
        struct buf *captured;     /* instead of `output`, appends the output here. NULL: does not */
        bool no_input;            /* its standard input is empty */
        /*
         * The program gets its own process group, which a signal that ends this process kills (process/exit_cleanup.h).
         */
        bool own_group;
};

/* Run a program. Returns 0 with *@wait_status as from waitpid, or -errno if it could not be started. */
int command_run(const struct command *c, int *wait_status);
