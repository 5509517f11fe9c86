/*
 * A socket of a task on which its Python worker asks for something while it computes: barriers, the values of broadcast
 * variables where files must be encrypted. Each request is a connection that begins with the secret.
 */
#pragma once

#include "base/error.h"

struct task_run;

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

/*
 * Serves one barrier request on the task's thread, which waits for the other tasks. Returns 0, or negative after the
 * task has failed.
 */
int python_barrier_serve(struct python_socket *s, struct task_run *run);
