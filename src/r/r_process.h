/*
 * R processes of an executor: SparkR's daemon, which forks a worker for each task, or one worker without a daemon.
 *
 * The process of an executor keeps one daemon for each combination of command, library and directory of files. A daemon
 * ends when its executor ends, because its connection closes. Its output, with that of its workers, goes to the log.
 *
 * Threads: any, for all functions.
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

struct buf;
struct fst_error;
struct r_process;

struct r_settings {
        const char *command; /* "Rscript", or a path */
        const char *library; /* the directory that contains SparkR */
        const char *files;   /* the directory of the application's files; "": none */
        int timeout;         /* spark.r.backendConnectionTimeout, in seconds */
        bool with_daemon;    /* false: a process for each worker */
};

/* The time that R may take to start and connect, in seconds. */
#define R_START_TIMEOUT 60

/* The time that a new connection of R has to send its secret, in seconds. */
#define R_HANDSHAKE_TIMEOUT 60

/*
 * Asks for a worker that connects to @port on the loopback interface twice. Starts R if it does not run. Returns 0 with
 * a reference in *@process, or a negative status with @error. *@stopped (atomic) ends the wait with -ECANCELED.
 */
int r_process_fork_worker(const struct r_settings *settings, int port, const int *stopped, struct r_process **process,
                          struct fst_error *error);

/* Whether the process has ended. */
bool r_process_has_ended(struct r_process *process);

/* Appends the last lines that the process and its workers wrote, at most 100, with line ends between them. */
void r_process_last_lines(struct r_process *process, struct buf *out);

/* Kills the worker whose connection has the port @peer to our @port: one that the daemon forked, or the process. */
void r_process_kill_worker(struct r_process *process, int peer, int port);

/* Drops a reference. A process without a daemon ends with its last reference. NULL is allowed. */
void r_process_unref(struct r_process *process);

/*
 * Accepts a connection of @process on @listener, whose first string must be the secret, and answers "ok". Connections
 * with another secret are closed. Returns the descriptor, which does not block; -ETIMEDOUT after R_START_TIMEOUT;
 * -ECANCELED; or -EPIPE with @error if the process has ended.
 */
int r_process_accept(struct r_process *process, int listener, const int *stopped, struct fst_error *error);
