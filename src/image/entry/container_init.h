/*
 * The first process of a container (an init): starts the program, forwards every signal to it, reaps orphans, and ends
 * with its status, once the program's output is in its durable logs. Without an init, a container's process number 1 gets no signal that it does not handle, and becomes
 * the parent of every orphan.
 */
#pragma once

struct fst_error;

/*
 * Runs @file (found in PATH if it has no slash) with @argv until it ends. *@status is its exit status, or 128 plus the
 * number of its signal. Returns negative with @error if it cannot be started: -ENOENT, -EACCES, … Call it before
 * threads exist.
 */
int container_init_run(const char *file, char *const *argv, int *status, struct fst_error *error);

/*
 * Runs before the container stops: sends @signal to @first, the container's first process, which forwards it, and waits
 * until that process ends, at most @ms. Returns -ESRCH or -EPERM with @error if the signal cannot be sent.
 */
int container_init_leave(int first, int signal, int ms, struct fst_error *error);
