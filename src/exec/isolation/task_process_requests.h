/*
 * Requests of a task process to its executor while a task runs: pages of shuffles, partitions of persisted RDDs, rows
 * of parallelize, broadcast variables, files. The executor's slot thread, which waits for that process anyway, gets
 * them as for a task of its own (local outputs, other executors, retries, fetch failures) and passes the bytes on:
 * pages through shared memory, everything else in the reply. Computed partitions of persisted RDDs go the other way,
 * page by page: they outlive the process, and other executors find them.
 *
 * So a task process needs no connection, secret or server, and it also works with a local master.
 */
#pragma once

#include "exec/isolation/task_process_wire.h"

struct exec_env;
struct task_process_requests;

/* Executor's side; used by one slot thread. @env lives as long. */
struct task_process_requests *task_process_requests_new(const struct exec_env *env);

/* Closes everything that the task process had open: its task or the process has ended. */
void task_process_requests_reset(struct task_process_requests *asks);
void task_process_requests_free(struct task_process_requests *asks);

/*
 * Replies to request @in of a process that runs task @t (NULL: none) of @run, on @socket. Returns false if the request
 * is malformed or the process has ended.
 */
bool task_process_requests_reply(struct task_process_requests *asks, int socket, struct task_process_shared *shared,
                                 struct task_batch *run, struct slot_task *t, const struct task_process_received *in);

/*
 * Task process's side: makes @env send requests on @socket for all of the above; pipelines of @runner read shuffles
 * this way. Call it once in the process.
 */
struct task_runner;
void task_process_requests_use(struct exec_env *env, struct task_runner *runner, int socket,
                               struct task_process_shared *shared);
