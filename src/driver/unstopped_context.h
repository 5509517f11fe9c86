/*
 * Ends the context that an application left running when its main returned or called exit().
 *
 * Behaviour: Spark's shutdown hook stops a context that main did not stop, which completes the event log and removes
 * temporary files. An uncaught exception makes the exit status 1. In C, a failed action returns a status that main may
 * ignore, and fst_context_stop returns it once more. An application that ignores both must not end with status 0.
 */
#pragma once

struct fst_context;

/*
 * End the running context, if there is one, without freeing it: other threads of the application may still use it.
 * Returns @status, the exit status of the application, or 1 if @status is 0 and an action failed or the context did not
 * start. An ERROR line then names the failure and the remedy. Any thread that runs no task.
 */
int unstopped_context_end(int status);

/*
 * Let exit() in this process call unstopped_context_end, change the exit status likewise, and at last remove the journals
 * of applications that have succeeded (resume/ended_journals.h). Repeated calls are free.
 */
void unstopped_context_watch(void);

/*
 * Remember that @sc did not start, until the application stops it or another context starts: unstopped_context_forget
 * with @sc, or with NULL for any context.
 */
void unstopped_context_failed(const struct fst_context *sc);
void unstopped_context_forget(const struct fst_context *sc);
