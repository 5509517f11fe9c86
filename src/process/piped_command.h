/*
 * Feeds a program and reads its output at the same time, on the calling thread: for piping rows.
 *
 *      struct piped_command p;
 *      r = piped_command_start(&p, words, environment);
 *      while ((r = piped_command_feed(&p, &data, &len, &output, &stop)) == PIPED_COMMAND_E_OUTPUT) … take from output
 *      while ((r = piped_command_end(&p, &output, &stop, &wait_status)) == PIPED_COMMAND_E_OUTPUT) … take from output
 *
 * or piped_command_kill after any of them. The program has its own process group, which ends with it, and which a
 * signal that ends this process kills (process/exit_cleanup.h). It writes to this process's standard error.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct buf;

struct piped_command {
        pid_t pid;
        int in, out;  /* its standard input and output; -1: closed */
        bool started; /* and not yet reaped */
};

/*
 * Start @words (ends with NULL; the first is looked up in PATH), with @more in addition to this process's environment
 * ("NAME=value", ends with NULL; NULL: nothing). Returns 0, or -errno if it cannot be started.
 */
int piped_command_start(struct piped_command *p, char *const *words, char *const *more);

#define PIPED_COMMAND_E_OUTPUT 1
#define PIPED_COMMAND_OUTPUT_SIZE ((size_t)1 << 20)

/*
 * Write *@len bytes at *@data, and append the program's output to @output meanwhile. Returns 0 when all is written, or
 * the program has closed its input, which drops the rest. Returns PIPED_COMMAND_E_OUTPUT after
 * PIPED_COMMAND_OUTPUT_SIZE bytes or more were appended: consume @output and call again with the remaining *@data and
 * *@len. Returns -ECANCELED if *@stop (atomic, checked several times a second) is not 0, or -errno.
 */
int piped_command_feed(struct piped_command *p, const char **data, size_t *len, struct buf *output, const int *stop);

/*
 * Close its input, read its output to the end, and wait for it. Returns as piped_command_feed, with *@wait_status as
 * from waitpid.
 */
int piped_command_end(struct piped_command *p, struct buf *output, const int *stop, int *wait_status);

/*
 * Write to @fd like write(2), but return -errno, and -EPIPE without a signal, whatever the process does with SIGPIPE: the
 * program may have ended.
 */
ssize_t piped_command_write(int fd, const char *data, size_t len);

/* Kill the program and its process group, if it is running. */
void piped_command_kill(struct piped_command *p);
