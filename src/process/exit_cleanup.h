/*
 * Files and folders that must not outlive the work they are for, whatever ends that: what was downloaded for a
 * submission, a file that is still being written.
 *
 *      r = scratch_make("/tmp/x", &folder, error);     // /tmp/x-XXXXXX
 *      …
 *      scratch_remove(folder);
 *
 * A program that calls scratch_remove_on_signals has them removed when a signal ends it; a library in somebody else's
 * program leaves that program's signals alone. All functions but that one may be called from any thread.
 */
#pragma once

#include <sys/types.h>

struct fst_error;

/* Make a folder named @prefix, a dash and six letters, as *@path, the caller's. -errno with @error. */
int scratch_make(const char *prefix, char **path, struct fst_error *error);

/* From now on @path (copied) is scratch; it need not be there yet. More than some dozens are not remembered. */
void scratch_add(const char *path);

/* It is gone, or to be kept. NULL is allowed. */
void scratch_forget(const char *path);

/* Remove it with all that is in it, and forget it. NULL is allowed. */
void scratch_remove(const char *path);

/* From now on the process group @group of a child, which is not waited for yet, is killed before scratch is removed. */
void scratch_add_group(pid_t group);
void scratch_forget_group(pid_t group);

/*
 * SIGINT, SIGTERM and SIGHUP, unless they are ignored, remove all scratch and end the process with status 128 + signal,
 * as a JVM's shutdown does. Who installs handlers of its own later (exec/exit_hooks.h) calls scratch_remove_all.
 */
void scratch_remove_on_signals(void);

/* Everything, now, as the process is about to end. Async-signal-safe; nothing in a forked child. */
void scratch_remove_all(void);
