/*
 * Removes temporary files and directories when their work ends, even by a signal: downloads of a submission, unfinished
 * files.
 *
 *      r = exit_cleanup_make_directory("/tmp/x", &folder, error);     // /tmp/x-XXXXXX
 *      …
 *      exit_cleanup_remove(folder);
 *
 * A program calls exit_cleanup_on_signals to remove them when a signal ends it. A library does not, because it leaves
 * the signals of its program alone. Any thread may call the other functions.
 */
#pragma once

#include <sys/types.h>

struct fst_error;

/*
 * Create the directory "@prefix-XXXXXX" and return its path in *@path, which the caller owns. Returns 0, or -errno with
 * @error.
 */
int exit_cleanup_make_directory(const char *prefix, char **path, struct fst_error *error);

/* Register @path (copied), which need not exist yet. Only some dozens of paths are remembered. */
void exit_cleanup_add(const char *path);

/* Unregister a path that was removed or will be kept. NULL is allowed. */
void exit_cleanup_forget(const char *path);

/* Remove a path with its contents and unregister it. NULL is allowed. */
void exit_cleanup_remove(const char *path);

/* Kill the process group @group of an unreaped child before the paths are removed. */
void exit_cleanup_add_group(pid_t group);
void exit_cleanup_forget_group(pid_t group);

/*
 * SIGINT, SIGTERM and SIGHUP, unless ignored, remove all registered paths and end the process with status 128 + signal,
 * like a JVM's shutdown. Code that installs its own handlers later (exec/exit_hooks.h) calls exit_cleanup_run.
 */
void exit_cleanup_on_signals(void);

/*
 * Remove all registered paths now, because the process is about to end. Async-signal-safe. Does nothing in a forked
 * child.
 */
void exit_cleanup_run(void);
