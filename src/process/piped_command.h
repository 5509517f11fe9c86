/*
 * A program that is fed and heard at the same time by the calling thread: what rows are piped through.
 *
 *      struct piped_command p;
 *      r = piped_command_start(&p, words, environment);
 *      while ((r = piped_command_feed(&p, &data, &len, &said, &stop)) == PIPED_COMMAND_E_SAID) … take from said
 *      while ((r = piped_command_end(&p, &said, &stop, &wait_status)) == PIPED_COMMAND_E_SAID) … take from said
 *
 * or piped_command_kill after any of them. The program has a process group of its own, which goes with it, and which is
 * killed when a signal ends this process (process/exit_cleanup.h). Its standard error is this process's.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct buf;

struct piped_command {
        pid_t pid;
        int in, out;  /* what it reads and what it prints; -1: closed */
        bool started; /* and not waited for yet */
};

/*
 * Start @words (ending in NULL; the first is looked for in PATH) with @more besides this process's environment
 * ("NAME=value", ending in NULL; NULL: nothing). -errno when it cannot be started.
 */
int piped_command_start(struct piped_command *p, char *const *words, char *const *more);

#define PIPED_COMMAND_E_SAID 1
#define PIPED_COMMAND_SAID ((size_t)1 << 20)

/*
 * Give it *@len bytes at *@data, and add to @said what it prints meanwhile. 0 when that is done, also when it reads no
 * more: what is left is then dropped; PIPED_COMMAND_E_SAID when PIPED_COMMAND_SAID bytes or more were added to
 * @said: take away what can be used and go on, *@data and *@len are what is left; -ECANCELED when *@stop became other
 * than 0 (atomic, looked at several times a second); -errno.
 */
int piped_command_feed(struct piped_command *p, const char **data, size_t *len, struct buf *said, const int *stop);

/* No more input: hear it to its end, and wait for that. As piped_command_feed; *@wait_status as waitpid has it. */
int piped_command_end(struct piped_command *p, struct buf *said, const int *stop, int *wait_status);

/* Kill it and all of its group, if it was started and not ended. */
void piped_command_kill(struct piped_command *p);
