/*
 * Termination by a signal: SIGINT, SIGTERM and SIGHUP end the process with status 128 + signal, as a JVM does (130,
 * 143, 129), after the registered hooks have cleaned up: cancelled jobs, removed files, closed the event log. Temporary
 * files (process/exit_cleanup.h) are removed last.
 *
 * Hooks run on a thread of their own, so they may lock and allocate. Further signals do not cut them short, as in a
 * JVM: timeout(1) sends SIGTERM twice, and a terminal that closes sends SIGHUP as well. Two things do: a SIGINT at
 * least EXIT_HOOKS_INTERRUPT_MS after the process began to end (the user presses Ctrl-C again), and the time limit.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Spark's hooks have the same time: hadoop.service.shutdown.timeout. */
#define EXIT_HOOKS_TIMEOUT_MS 30000

#define EXIT_HOOKS_INTERRUPT_MS 1000

struct fst_error;

/*
 * Installs the handlers, except for ignored signals (nohup). Hooks that need more than @timeout_ms together are cut
 * short. Call it before any thread is started.
 */
void exit_hooks_init(int64_t timeout_ms);

/*
 * Registers @hook(@context), called when a signal ends the process, in reverse order of registration. It is not called
 * at a normal exit. Any thread. The first call starts the thread. Returns -errno with @error if that fails.
 */
int exit_hooks_add(void (*hook)(void *context), void *context, struct fst_error *error);

/*
 * Ends the process as a signal would, but with @status, which is not 0: for other requests to terminate. Has no effect
 * and returns false if the process is ending already. Any thread. The thread continues until the process ends.
 */
bool exit_hooks_exit(int status);

/* The exit status of the process that ends by a signal or by exit_hooks_exit, for hooks. 0: it does not end. */
int exit_hooks_status(void);

/* Removes a hook. Does not return once the process has begun to end. An unknown hook is ignored. Any thread. */
void exit_hooks_remove(void (*hook)(void *context), void *context);
