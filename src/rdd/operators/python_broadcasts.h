/*
 * Broadcast variables of a task for its Python worker. The worker keeps what it has between tasks, so each task sends
 * differences: files of those that it lacks, ids of those that it forgets. With spark.io.encryption.enabled there are
 * no files: the worker reads the values from a socket of the task.
 */
#pragma once

#include "rdd/operators/python_socket.h"
#include "rdd/operators/rdd_python.h"

struct python_broadcast;
struct python_task;
struct python_worker;

struct python_broadcasts {
        struct python_socket socket;   /* listener -1: values come as files */
        struct python_broadcast *list; /* what the task sends; owned, with the paths */
        size_t n;
        fst_bytes *values; /* of `list`, if they go over the socket */
};

/* Sets the broadcast fields of @t, valid until python_broadcasts_end. Returns 0, or negative after the task has failed.
 */
int python_broadcasts_begin(struct python_broadcasts *b, const struct rdd_python *f, struct python_worker *worker,
                            struct task_run *run, struct python_task *t);

/* Serves the values to the worker that has connected. Returns 0, or negative after the task has failed. */
int python_broadcasts_serve(struct python_broadcasts *b, struct task_run *run);

void python_broadcasts_end(struct python_broadcasts *b);
