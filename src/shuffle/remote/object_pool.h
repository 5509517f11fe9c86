/*
 * Threads that wait for a store: they read ranges and indexes of objects, so that a task's thread need not. Threads
 * start when they are needed and end with the pool.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct fst_error;
struct object_pool;

/* A job, embedded in what it works on. `run` may free it. */
struct object_job {
        struct object_job *next;
        void (*run)(struct object_job *job);
};

/* Never NULL. At most @threads threads. */
struct object_pool *object_pool_new(int threads);

/* Lets running jobs end, runs the waiting ones, and frees the pool. NULL is allowed. */
void object_pool_free(struct object_pool *pool);

/* Runs a job soon. Any thread. If no thread can be started, it runs here. */
void object_pool_submit(struct object_pool *pool, struct object_job *job);

/* Waits for @ns on a thread of the pool. Returns false at once if the pool is being freed. */
bool object_pool_sleep(struct object_pool *pool, int64_t ns);
