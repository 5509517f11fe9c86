/*
 * Actions that do not wait.
 *
 *      fst_future *lines = fst_count_async(text), *words = fst_count_async(all_words);
 *      int64_t n, m;
 *      if (fst_future_count(lines, &n) == 0 && fst_future_count(words, &m) == 0)
 *              printf("%" PRId64 " lines, %" PRId64 " words\n", n, m);
 *
 * The job starts at once and runs beside others, with the pool, group and local properties of the thread that started
 * it. (Preliminary jobs, such as the one that samples the keys of a sort, run first, while the caller waits.) A
 * future belongs to its context. Any thread but a task's may use it. A job that fails is logged, and fst_context_stop
 * returns its status, even if no thread waits for the future. A job that was cancelled, or was still running when the
 * context stopped, does not count as failed.
 */
#pragma once

#include <firesteel/action.h>

FST_BEGIN_DECLS

typedef struct fst_future fst_future;

/*
 * Start an action. Never NULL: if the action could not start, the future has failed. Functions and captured structs are
 * copied.
 */
#define fst_count_async(rdd) fst_count_async_at((rdd), FST_HERE("count_async"))
#define fst_collect_async(rdd) fst_collect_async_at((rdd), FST_HERE("collect_async"))
#define fst_take_async(rdd, count) fst_take_async_at((rdd), (count), FST_HERE("take_async"))
#define fst_foreach_async(rdd, f) fst_foreach_async_at((rdd), FST_FN(f), FST_HERE("foreach_async"))
#define fst_foreach_partition_async(rdd, f)                                                                            \
        fst_foreach_partition_async_at((rdd), FST_FN(f), FST_HERE("foreach_partition_async"))
FST_API fst_future *fst_count_async_at(fst_rdd *rdd, fst_site site);
FST_API fst_future *fst_collect_async_at(fst_rdd *rdd, fst_site site);
FST_API fst_future *fst_take_async_at(fst_rdd *rdd, int64_t count, fst_site site);
FST_API fst_future *fst_foreach_async_at(fst_rdd *rdd, fst_fn f, fst_site site);
FST_API fst_future *fst_foreach_partition_async_at(fst_rdd *rdd, fst_fn f, fst_site site);

/* Wait until the job ends. Returns the status of the action, or -ECANCELED if it was cancelled. */
FST_API int fst_future_wait(fst_future *future);

/* The same, but waits at most @milliseconds. Returns -ETIMEDOUT if the job is still running; it continues. */
FST_API int fst_future_wait_for(fst_future *future, int64_t milliseconds);

/* Whether the job has ended, successfully or not. */
FST_API bool fst_future_done(fst_future *future);

/* Cancel the job, unless it has ended. Does not wait. */
FST_API void fst_future_cancel(fst_future *future);

/*
 * Call @f when the job has ended, with the status that fst_future_wait would return: at once if it has already ended,
 * otherwise on the scheduler's thread. @f must therefore be quick and must not wait: it may wake a thread, write to a
 * pipe, or read the result of the future. If the context stops first, @f gets a negative status, or is not called.
 * Threads that wait for the job may go on before @f is called, so @data must stay valid until then, or until the
 * context has stopped.
 */
FST_API void fst_future_on_complete(fst_future *future, void (*f)(fst_future *future, int status, void *data),
                                    void *data);

/* The id of the running or latest job (take may need several); -1 if there is none yet. */
FST_API int fst_future_job(fst_future *future);

/*
 * int fst_future_count(fst_future *future, int64_t *count)
 * int fst_future_rows(fst_future *future, fst_iter **rows)
 *
 * Wait, and read the result: fst_future_count that of count_async, fst_future_rows that of collect_async or take_async,
 * whose rows can be read once. Return the status of fst_future_wait, or -EINVAL for a future of another action.
 */
#define fst_future_count(future, count) fst_future_count_at((future), FST_COUNT_TO(count))
#define fst_future_rows(future, rows) fst_future_rows_at((future), FST_ROWS_TO(rows))
FST_API int fst_future_count_at(fst_future *future, int64_t *count);
FST_API int fst_future_rows_at(fst_future *future, fst_iter **rows);

FST_END_DECLS
