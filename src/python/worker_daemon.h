/*
 * Starts Python for workers: pyspark's daemon, which forks a worker for each connection, or a single worker. Shared by
 * the files of this room only.
 *
 * Python runs a few lines of ours (worker_daemon.c) that write the version of pyspark to its standard output and then
 * run the module, so that no file of pyspark is changed.
 *
 * Calls block. None takes a lock.
 */
#pragma once

#include "process/piped_command.h"

#include <stdbool.h>
#include <stdint.h>

struct fst_error;
struct python_spec;

/* The settings of a pool: its keys. Texts are owned by the pool. */
struct python_settings {
        bool reuse, use_daemon, faulthandler, unix_sockets, kill_on_flush_failure;
        char *daemon_module, *worker_module;
        char *socket_dir;        /* of unix sockets */
        char *local_dirs;        /* for spills, separated by commas */
        char *faulthandler_dir;  /* NULL: none */
        int64_t max_idle;        /* idle workers of a daemon; -1: any number */
        bool encrypts;           /* spark.io.encryption.enabled */
        bool kill_idle;          /* a worker that has not answered for idle_timeout_ms */
        int64_t idle_timeout_ms; /* 0: none */
        int64_t kill_timeout_ms, socket_timeout_ms, idle_dump_s;
        int64_t buffer_size, worker_memory_mb; /* 0: no limit */
        int64_t task_cpus;
};

struct python_process {
        struct piped_command command;
        bool is_unix;
        int port;     /* of a daemon on loopback */
        char *path;   /* of a daemon's unix socket; owned */
        char *secret; /* owned */
        int version;  /* of pyspark: PYTHON_VERSION */
};

/*
 * Starts a daemon and waits until it listens. Returns 0, PYTHON_POOL_E_PACKAGE (python/worker_pool.h), or negative with
 * @error.
 */
int python_daemon_start(const struct python_settings *s, const struct python_spec *spec, const int *stopped,
                        struct python_process *process, struct fst_error *error);

/*
 * The parts of both that read what Python writes, for fuzzing, too. A daemon writes the version of pyspark and its
 * address to @process->command.out; a worker writes its process id, and "ok" to the secret, to @fd. Return 0, or
 * negative with @error.
 */
int python_daemon_read_greeting(const struct python_settings *s, const struct python_spec *spec, const int *stopped,
                                struct python_process *process, struct fst_error *error);
int python_worker_read_greeting(const struct python_settings *s, const struct python_process *daemon, int fd,
                                const int *stopped, int32_t *pid, struct fst_error *error);

/* Connects to a daemon: *@fd and *@pid of a new worker, which is authenticated. -ECONNREFUSED and the like if the
 * daemon has ended. */
int python_daemon_fork(const struct python_settings *s, const struct python_process *daemon, const int *stopped,
                       int *fd, pid_t *pid, struct fst_error *error);

/* Starts a worker without a daemon. Returns as python_daemon_start. */
int python_worker_start(const struct python_settings *s, const struct python_spec *spec, const int *stopped,
                        struct python_process *process, int *fd, pid_t *pid, struct fst_error *error);

/* Makes a daemon kill its worker @pid. */
void python_daemon_kill(const struct python_process *daemon, pid_t pid);

/* Returns true if the process has ended. Does not reap it. */
bool python_process_has_ended(const struct python_process *process);

/* Frees what a process has that has ended. Its group lives on: the workers of a daemon. */
void python_process_reap(struct python_process *process);

/* Kills the process with its group and frees what it has. */
void python_process_end(struct python_process *process);

/* The other end of such a connection, also for a task's barrier: reads a text of at most @most bytes, or an int, within
 * @timeout_ms. Return 0, -ETIMEDOUT, -EPIPE at the end, -EBADMSG, -ECANCELED, or -errno. A text grows @text as it
 * arrives: a peer that announces a long one and sends nothing reserves 64 KiB. */
struct buf;
int python_read_text(int fd, size_t most, int64_t timeout_ms, const int *stopped, struct buf *text);
int python_read_bytes(int fd, void *data, size_t len, int64_t timeout_ms, const int *stopped);
int python_read_int(int fd, int64_t timeout_ms, const int *stopped, int32_t *x);
int python_write(int fd, const void *data, size_t len, int64_t timeout_ms, const int *stopped);

/* A random secret, which the caller owns. */
char *python_secret_new(void);
