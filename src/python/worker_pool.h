/*
 * The Python workers of one executor.
 *
 * For each pair of a Python program and an environment the pool starts one daemon (python/worker_daemon.h), which forks
 * workers. A worker that can take another task waits in the pool. All idle workers end when no worker was given back
 * for a minute. Without spark.python.use.daemon each worker is a process of its own.
 *
 *      r = python_pool_acquire(pool, &spec, stopped, &worker, error);
 *      …                               the task's stream on worker->fd
 *      python_pool_release(worker, reusable);
 *
 * Threads: any, for all functions. A worker belongs to the thread that acquired it. The pool's own thread, which starts
 * with the first daemon, forwards the standard output of Python to standard error and ends idle workers.
 */
#pragma once

#include "base/vec.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct disk_dirs;
struct fst_conf;
struct fst_error;
struct python_daemon;
struct python_pool;

/* The settings with which workers start. All is borrowed for the call. */
struct python_spec {
        const char *program;            /* "python3": a name in PATH or a path */
        const char *const *environment; /* "NAME=value", ends with NULL, added to this process's; NULL: nothing */
        const char *package_path; /* directories separated by ':' with pyspark and py4j, for a Python that lacks them */
        const char *package_version;  /* of the driver's pyspark; NULL or "": any */
        const char *package_archives; /* files separated by ':' with it, for a Python that lacks it; NULL: none yet */
        bool has_archives;            /* the caller can get them: PYTHON_POOL_E_PACKAGE */
};

/* The program lacks the driver's pyspark: set package_archives. */
#define PYTHON_POOL_E_PACKAGE 1

struct python_worker {
        struct python_worker *prev, *next; /* idle workers of its daemon, the oldest first */
        struct python_pool *pool;
        struct python_daemon *daemon;
        int fd; /* non-blocking */
        pid_t pid;
        int generation;   /* of its daemon */
        int version;      /* of its pyspark: python/worker_task.h */
        VEC(int64_t) has; /* broadcast variables in its memory, ascending */
};

/*
 * Reads the keys spark.python.*. Starts nothing. @dirs holds files of broadcast variables and is borrowed, as is @conf.
 * Returns 0, or -EINVAL with @error, which names the key.
 */
int python_pool_new(const struct fst_conf *conf, struct disk_dirs *dirs, struct python_pool **pool,
                    struct fst_error *error);

/* For tests: idle workers end after @timeout_ms in place of a minute, which is checked every @check_ms. Before the first
 * worker. */
void python_pool_set_idle_times(struct python_pool *pool, int64_t timeout_ms, int64_t check_ms);

/* Kills daemons and workers. All workers were released. NULL is allowed. */
void python_pool_free(struct python_pool *pool);

/*
 * Takes an idle worker or starts one; the first of a daemon takes as long as Python needs to import pyspark. Returns 0;
 * PYTHON_POOL_E_PACKAGE if @spec has_archives, which are needed, without package_archives; -ECANCELED once *@stopped
 * (atomic) is set; or negative with @error, which says what to change.
 */
int python_pool_acquire(struct python_pool *pool, const struct python_spec *spec, const int *stopped,
                        struct python_worker **worker, struct fst_error *error);

/* Gives the worker back: for another task if it is @reusable; else it is killed. */
void python_pool_release(struct python_worker *worker, bool reusable);

/* Why a worker may have ended without an answer, as Spark says it: @text gets it, with the traceback of
 * spark.python.worker.faulthandler.enabled if Python left one. */
struct buf;
void python_pool_crash_text(const struct python_worker *worker, struct buf *text);

/* spark.python.task.killTimeout and spark.python.authenticate.socketTimeout, in ms. */
int64_t python_pool_kill_timeout_ms(const struct python_pool *pool);
int64_t python_pool_socket_timeout_ms(const struct python_pool *pool);

/* spark.python.worker.idleTimeoutSeconds in ms, 0: none; and spark.python.worker.killOnIdleTimeout. */
int64_t python_pool_idle_timeout_ms(const struct python_pool *pool, bool *kills);

/* spark.io.encryption.enabled: values of broadcast variables must not be in plain files. */
bool python_pool_encrypts(const struct python_pool *pool);

/*
 * The path of a file with the @size bytes at @data, the value of broadcast variable @id. The first call writes it.
 * Later ones return the same, until python_pool_forget_broadcast removes the file. The caller owns *@path.
 */
int python_pool_broadcast_file(struct python_pool *pool, int64_t id, const void *data, size_t size, char **path,
                               struct fst_error *error);
void python_pool_forget_broadcast(struct python_pool *pool, int64_t id);
