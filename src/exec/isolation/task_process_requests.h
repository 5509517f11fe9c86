/*
 * What a worker process asks its executor for while a task runs: pages of shuffles, partitions of persisted RDDs, rows
 * of parallelize, broadcast variables, files. The executor's slot thread, which waits for that worker anyway, gets them
 * as for a task of its own (local outputs, other executors, retries, fetch failures and all) and hands the bytes over:
 * pages through memory that both see, everything else in the answer. Partitions that a worker has computed and that are
 * to be kept go the other way, page by page: they outlive the worker, and others find them.
 *
 * So a worker needs no connection, no secret and no server; and it works with a local master as well.
 */
#pragma once

#include "exec/isolation/task_process_wire.h"

struct exec_env;
struct worker_asks;

/* Executor's side; belongs to one slot thread. @env lives as long. */
struct worker_asks *worker_asks_new(const struct exec_env *env);

/* Forget what the worker had open: its task has ended, or it has. */
void worker_asks_reset(struct worker_asks *asks);
void worker_asks_free(struct worker_asks *asks);

/*
 * Answer @in (WORKER_ASK) of a worker that runs task @t (NULL: none) of @run on @socket. False if the question makes no
 * sense, or the worker is gone.
 */
bool worker_asks_answer(struct worker_asks *asks, int socket, struct worker_shared *shared, struct task_batch *run,
                        struct slot_task *t, const struct worker_received *in);

/*
 * Worker's side: let @env ask on @socket for everything above. @runner's pipelines read shuffles that way. Once in the
 * life of the process.
 */
struct task_runner;
void worker_asks_use(struct exec_env *env, struct task_runner *runner, int socket, struct worker_shared *shared);
