/*
 * Actions that do not wait.
 *
 *      fst_future *lines = fst_count_async(text), *words = fst_count_async(all_words);
 *      int64_t n, m;
 *      if (fst_future_count(lines, &n) == 0 && fst_future_count(words, &m) == 0)
 *              printf("%ld lines, %ld words\n", n, m);
 *
 * The job begins at once and runs beside others, in the pool and group of the thread that started it, with the local
 * properties that it had. (What has to be found out before, the bounds of a sort say, is found out first, while the
 * caller waits.) A future belongs to its context and may be asked by any thread but a task's. A job that fails is
 * logged, and fst_context_stop returns its status, whether anybody waits for it or not; one that was cancelled, or was
 * still running when the context stopped, is no failure.
 */
#pragma once

#include <firesteel/action.h>

FST_BEGIN_DECLS

typedef struct fst_future fst_future;

/*
 * Never NULL: what could not be started is a future that has failed. A function and what was given with it is copied.
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

/* Wait for its end: 0, or what the action would have returned; -ECANCELED if it was cancelled. */
FST_API int fst_future_wait(fst_future *future);

/* The same for at most so many milliseconds: -ETIMEDOUT if it has not ended by then, and it goes on. */
FST_API int fst_future_wait_for(fst_future *future, int64_t milliseconds);

/* Whether it has ended, well or not. */
FST_API bool fst_future_done(fst_future *future);

/* Cancel its job; too late for one that has ended. Does not wait. */
FST_API void fst_future_cancel(fst_future *future);

/*
 * Have @f called when it has ended, with what fst_future_wait would return: at once if it has. Otherwise on the
 * scheduler's thread, so @f is quick and waits for nothing: it wakes a thread, writes to a pipe, or reads what the
 * future answers. Where the context stops before, it is called with a negative status, or not at all. Threads that
 * wait may go on before @f is called: what @data points at stays until then, or until the context has stopped.
 */
FST_API void fst_future_on_complete(fst_future *future, void (*f)(fst_future *future, int status, void *data),
                                    void *data);

/* The id of the job that it runs, or ran last (take may need several); -1: none yet. */
FST_API int fst_future_job(fst_future *future);

/*
 * Wait, and read what it answers: of count_async; of collect_async and take_async, whose rows are read once. As
 * fst_future_wait; -EINVAL for a future of another kind.
 */
#define fst_future_count(future, count) fst_future_count_at((future), FST_COUNT_TO(count))
#define fst_future_rows(future, rows) fst_future_rows_at((future), FST_ROWS_TO(rows))
FST_API int fst_future_count_at(fst_future *future, int64_t *count);
FST_API int fst_future_rows_at(fst_future *future, fst_iter **rows);

FST_END_DECLS
