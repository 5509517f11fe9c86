/*
 * A worker process: one slot's tasks, run by a process of its own, so that whatever a function does (a wild write, a
 * leak, exit(), an endless loop) harms this process alone.
 *
 * It is forked by the zygote, has one thread, and talks to the executor on one socket (exec/isolation/task_process_wire.h): it is given
 * settings, modules, stages and runs, and sends outcomes. A map output comes back as pages in a sealed memfd, or, when
 * it did not fit into memory, as the file that it was spilled to; a result comes back encoded.
 */
#pragma once

#include <stddef.h>

struct buf;
struct exec_env;
struct fst_conf;
struct fst_error;
struct stage_work;
struct action;
struct task_result;

/* What a worker does with bytes that this room does not understand. Constant, and the same in parent and child. */
struct worker_class {
        int (*decode)(const void *data, size_t len, const struct exec_env *env, struct stage_work **work,
                      struct fst_error *error);
        int (*encode_result)(struct action *action, struct task_result *result, struct buf *out,
                             struct fst_error *error); /* takes what @result owns */
        /* What @env needs beyond exec_env_init: to fetch from other processes. In each new worker. NULL: nothing. */
        int (*prepare)(struct exec_env *env, const struct fst_conf *conf, struct fst_error *error);
};

/* The worker's life; called by the zygote in the child, which has descriptors 0, 1, 2 and @socket. Its exit status. */
int worker_main(int socket, const struct worker_class *class);
