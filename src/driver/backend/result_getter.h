/*
 * Fetches results that are too large for a status message (above spark.task.maxDirectResultSize) from executors. Uses a
 * few threads (spark.resultGetter.threads), so that the scheduler's thread does not wait.
 *
 * A cluster backend calls result_getter_fetch for a status with a large result, if sched_result_is_needed. `done` posts
 * the bytes to the scheduler's thread, which decodes them as if they had come with the status. A failed fetch fails the
 * task (Spark: TaskResultLost), which is tried again, unless the status is -ENOMEM: this process has no memory for it.
 *
 * Threads: any. `done` runs on a thread of the getter.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct block_location;
struct result_getter;
struct transfer_client;

/*
 * @data, of @len bytes, is the result, which the callee frees. NULL: the fetch failed with the negative @status and
 * @message (borrowed).
 */
typedef void (*result_got_fn)(void *owner, void *cookie, void *data, size_t len, int status, const char *message);

/* Starts up to @threads threads on demand. Borrows @client. Never NULL. */
struct result_getter *result_getter_new(struct transfer_client *client, int threads, result_got_fn done, void *owner);

/* Report pending results with -ECANCELED on this thread, then end the threads. NULL is allowed. */
void result_getter_free(struct result_getter *getter);

/* Fetch "taskresult_<task_id>", which must have exactly @size bytes. */
void result_getter_fetch(struct result_getter *getter, const struct block_location *from, int64_t task_id, size_t size,
                         void *cookie);
