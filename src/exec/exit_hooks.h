/*
 * The end by a signal: SIGINT, SIGTERM, SIGHUP end the process with status 128 + signal, as a JVM does (130, 143, 129),
 * after the hooks that were registered have put things in order: cancelled jobs, removed files, closed the event log.
 * Scratch (process/exit_cleanup.h) is removed last.
 *
 * Hooks run on a thread of their own, so that they may lock and allocate. A second signal ends the process at once.
 */
#pragma once

struct fst_error;

/* Install the handlers, but for signals that are ignored (nohup). Before any thread is started. */
void shutdown_init(void);

/*
 * Call @hook(@context) when a signal ends the process; the last registered first. Not called at an ordinary end. Any
 * thread. The first registration starts the thread; -errno with @error when that fails.
 */
int shutdown_add_hook(void (*hook)(void *context), void *context, struct fst_error *error);

/*
 * As if a signal had come, but with this exit status, which is not 0: for who is told to end in another way. Nothing if
 * the process is about to end already: only a person's second signal is impatience. Any thread; it goes on until the
 * process ends.
 */
void shutdown_begin(int status);

/* Take it back; does not return once the process has begun to end. Unknown ones are nothing. Any thread. */
void shutdown_remove_hook(void (*hook)(void *context), void *context);
