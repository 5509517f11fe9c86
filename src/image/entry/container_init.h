/*
 * The first process of a container: starts the one that matters, hands every signal on to it, takes in the processes
 * that others leave behind, and ends as it ends. A process that is number 1 of a container is otherwise sent no signal
 * that it does not handle, and becomes the parent of every orphan.
 */
#pragma once

struct fst_error;

/*
 * Run @file (looked for in PATH if it has no slash) with @argv until it has ended: *@status is its exit status, or 128
 * and the signal that ended it.
 * Negative with @error when it could not be started: -ENOENT, -EACCES, … Call it before any thread exists.
 */
int container_init_run(const char *file, char *const *argv, int *status, struct fst_error *error);

/*
 * What runs beside it before the container is stopped: send @signal to @first, the container's first process, which hands
 * it on, and wait until that has ended, or for @ms. -ESRCH and -EPERM with @error when it cannot be sent.
 */
int container_init_leave(int first, int signal, int ms, struct fst_error *error);
