/*
 * What an executor does for its tasks' functions: broadcast variables, files of the application, barriers. The rooms that know
 * how are above this one; an executor (or the driver of a local master, or a worker process) fills in the table and
 * hands it to its slots (exec_env.services).
 *
 * All of it is called on tasks' threads, several at a time, and may wait for other processes: @stopped (atomic) ends
 * that with -ECANCELED.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct fst_error;

struct task_services {
        /*
         * The value of broadcast variable @id, which has @size bytes: 0 with *@data, and *@hold, which is given to
         * `release` when the task has ended; negative with @error.
         */
        int (*broadcast)(void *owner, int64_t id, uint64_t size, const int *stopped, const void **data, void **hold,
                         struct fst_error *error);
        void (*release)(void *owner, void *hold);

        /* The local path of the application's file @name, which lives as long as the application. */
        int (*file)(void *owner, const char *name, const int *stopped, const char **path, struct fst_error *error);

        /*
         * Meet the other tasks of a barrier stage: @question is a packed BarrierSync, *@answer (the caller frees it) a
         * BarrierReply (rpc/control.proto). NULL: there are no barrier stages here.
         */
        int (*barrier)(void *owner, const uint8_t *question, size_t len, const int *stopped, uint8_t **answer,
                       size_t *answer_len, struct fst_error *error);

        void *owner;
};
