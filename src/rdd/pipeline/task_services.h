/*
 * Services of an executor for task functions: broadcast variables, application files, barriers. Higher rooms implement
 * them. An executor (or the driver of a local master, or a worker process) fills in the table and hands it to its slots
 * (exec_env.services).
 *
 * Tasks' threads call all of them, several at a time. Calls may wait for other processes. Setting @stopped (atomic)
 * ends the wait with -ECANCELED.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct fst_error;
struct python_pool;

struct task_services {
        /* Fetches broadcast variable @id of @size bytes. Returns 0 with *@data, and *@hold to pass to `release` when
         * the task has ended; or negative with @error. */
        int (*broadcast)(void *owner, int64_t id, uint64_t size, const int *stopped, const void **data, void **hold,
                         struct fst_error *error);
        void (*release)(void *owner, void *hold);

        /* The local path of the application's file @name, which lives as long as the application. "": the directory
         * of all files and archives, after it has fetched them. */
        int (*file)(void *owner, const char *name, const int *stopped, const char **path, struct fst_error *error);

        /* Waits for the other tasks of a barrier stage. @request is a packed BarrierSync, *@reply (the caller frees
         * it) a BarrierReply (rpc/control.proto). NULL: barrier stages are not supported. */
        int (*barrier)(void *owner, const uint8_t *request, size_t len, const int *stopped, uint8_t **reply,
                       size_t *answer_len, struct fst_error *error);

        /* The Python workers of this process; NULL: none. */
        struct python_pool *python;

        void *owner;
};
