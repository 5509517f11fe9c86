/*
 * A socket of a task on which its Python worker asks for something while it computes: barriers, the values of broadcast
 * variables where files must be encrypted. Each request is a connection that begins with the secret.
 */
#pragma once

#include "base/error.h"

#include <stdint.h>

struct buf;
struct task_run;

/* The request of a barrier task's worker. */
#define PYTHON_BARRIER_CALL 1
#define PYTHON_ALL_GATHER_CALL 2

struct python_socket {
        int listener; /* -1: closed */
        int port;
        char *secret; /* owned */
};

/* Listens on the loopback interface. Returns 0, or negative with @error. */
int python_socket_listen(struct python_socket *s, struct fst_error *error);

/*
 * Accepts a connection that is waiting, and checks its secret. Returns the descriptor, non-blocking, or negative if
 * there is none or its peer is not the worker.
 */
int python_socket_accept(struct python_socket *s, struct task_run *run);

void python_socket_close(struct python_socket *s);

/* Reads a barrier request: *@call, and for PYTHON_ALL_GATHER_CALL the @message. Returns 0, or negative if it is none.
 */
int python_barrier_read(int fd, int64_t timeout_ms, const int *stopped, int32_t *call, struct buf *message);

/*
 * Serves one barrier request on the task's thread, which waits for the other tasks. Returns 0, or negative after the
 * task has failed.
 */
int python_barrier_serve(struct python_socket *s, struct task_run *run);
