/*
 * Fetching results that were too large for a status message (above spark.task.maxDirectResultSize) from the executors
 * that keep them: a few threads (spark.resultGetter.threads), so that the scheduler's does not wait.
 *
 * How the cluster backend is to call it: on a status that says how large the result is, if sched_result_is_needed,
 * result_getter_fetch; `done` then posts what has come to the scheduler's thread, which decodes it as if it had come
 * with the status. A result that cannot be had is reported as the task's failure (Spark: TaskResultLost), and tried
 * again.
 *
 * Threads: all functions from any; `done` is called on a thread of the getter.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct block_location;
struct fst_error;
struct result_getter;
struct transfer_client;

/*
 * @data, of @len bytes, is the result, now the callee's to free; NULL when it failed: then @status is negative and
 * @message says why, borrowed.
 */
typedef void (*result_got_fn)(void *owner, void *cookie, void *data, size_t len, int status, const char *message);

/* @threads are started when first needed. @client is borrowed. Never NULL. */
struct result_getter *result_getter_new(struct transfer_client *client, int threads, result_got_fn done, void *owner);

/* What is not done yet is reported with -ECANCELED, from this thread; then the threads end. NULL is allowed. */
void result_getter_free(struct result_getter *getter);

/* Fetch "taskresult_<task_id>", which has @size bytes: neither more nor fewer are taken. */
void result_getter_fetch(struct result_getter *getter, const struct block_location *from, int64_t task_id, size_t size,
                         void *cookie);
