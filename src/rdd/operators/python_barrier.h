/* The socket on which the Python worker of a barrier task asks for barriers and for all messages. */
#pragma once

#include "base/error.h"

struct task_run;

struct python_barrier {
        int listener; /* -1: none */
        int port;
        char *secret; /* owned */
};

/* Listens on the loopback interface. Returns 0, or negative with @error. */
int python_barrier_listen(struct python_barrier *b, struct fst_error *error);

/* Serves one request, on the task's thread, which waits for the other tasks. Returns 0, or negative after the task has
 * failed. */
int python_barrier_serve(struct python_barrier *b, struct task_run *run);

void python_barrier_close(struct python_barrier *b);
