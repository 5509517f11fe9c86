/*
 * A task process: runs one slot's tasks in a process of its own, so that a function's fault (a wild write, a leak,
 * exit(), an endless loop) harms only this process.
 *
 * The zygote forks it. It has one thread and one socket to the executor (exec/isolation/task_process_wire.h), on which
 * it receives settings, modules, stages and batches and sends outcomes. A map output is sent as pages in a sealed
 * memfd, or as its spill file if it did not fit into memory. A result is sent encoded.
 */
#pragma once

#include <stddef.h>

struct buf;
struct exec_env;
struct fst_conf;
struct fst_error;
struct stage_context;
struct action;
struct task_result;

/* Operations on bytes that this directory does not understand. Constant, and the same in parent and child. */
struct task_process_class {
        int (*decode)(const void *data, size_t len, const struct exec_env *env, struct stage_context **work,
                      struct fst_error *error);
        int (*encode_result)(struct action *action, struct task_result *result, struct buf *out,
                             struct fst_error *error); /* takes the memory of @result */
        /*
         * Completes @env after exec_env_init, for fetches from other processes. Called in each new process. NULL: not
         * needed.
         */
        int (*prepare)(struct exec_env *env, const struct fst_conf *conf, struct fst_error *error);
};

/*
 * The main function of a task process. The zygote calls it in the child, which has descriptors 0, 1, 2 and @socket.
 * Returns its exit status.
 */
int task_process_main(int socket, const struct task_process_class *class);
