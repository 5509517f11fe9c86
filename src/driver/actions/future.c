/*
 * Asynchronous actions (firesteel/future.h).
 *
 * A future needs no thread. When its job ends, the scheduler's thread calls future_on_job_end, which makes the result
 * or submits take's next round. A future lives as long as its context, so neither the job nor a waiting thread can miss
 * it.
 *
 * Invariant: until `ended`, only the creating thread and then the scheduler's thread write it, except `cancelled`.
 */
#include <firesteel/future.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/vec.h"
#include "driver/actions/actions.h"
#include "driver/cleaner.h"
#include "driver/context_handles.h"
#include "driver/local_properties.h"
#include "driver/actions/preliminary_jobs.h"
#include "driver/actions/result_rows.h"
#include "store/page.h"

#include <stdio.h>
#include <time.h>

struct future_completion {
        void (*f)(fst_future *future, int status, void *data);
        void *data;
};

struct fst_future {
        struct context_result owned;
        fst_rdd *rdd;
        fst_site site;
        char *call_site;
        struct strmap properties;
        struct job_request request;
        int job; /* atomic */

        struct count_job count; /* the action is one of these */
        struct rows_job rows;
        struct foreach_action each;
        void *captured; /* the captured variables of foreach's function */

        struct take_rules rules; /* for take */
        int64_t wanted, found;
        int seen, *partitions;
        struct page *pages, **tail;

        fst_iter *iter; /* the rows, once ended */

        pthread_mutex_t lock;
        pthread_cond_t changed;
        bool cancelled, ended; /* under lock, like completions */
        int status;
        VEC(struct future_completion) completions; /* called at the end */
};

static void future_free(struct context_result *owned)
{
        fst_future *f = container_of(owned, fst_future, owned);
        live_handle_remove(HANDLE_FUTURE, f);
        rows_job_deinit(&f->rows);
        page_list_free(NULL, f->pages);
        strmap_deinit(&f->properties);
        free(f->call_site);
        free(f->captured);
        free(f->partitions);
        vec_deinit(&f->completions);
        pthread_mutex_destroy(&f->lock);
        pthread_cond_destroy(&f->changed);
        free(f);
}

static fst_future *future_new(fst_rdd *rdd, fst_site site)
{
        fst_future *f = new0(fst_future);
        struct strmap *local = local_properties(rdd->sc, false);
        if (local)
                strmap_merge(&f->properties, local);
        f->call_site = rdd_call_site(rdd->sc, site);
        f->rdd = rdd;
        f->site = site;
        f->job = -1;
        f->tail = &f->pages;
        f->owned.free = future_free;
        pthread_mutex_init(&f->lock, NULL);
        pthread_cond_init(&f->changed, NULL);
        cleaner_pin(rdd);
        context_own(rdd->sc, &f->owned);
        live_handle_add(HANDLE_FUTURE, f);
        return f;
}

static bool future_has_rows(const fst_future *f)
{
        return f->rows.rows.action.class != NULL;
}

/* Ends the future. Takes @error's message. A wait for it then cleans its RDD, if that was released. */
static void future_finish(fst_future *f, int status, struct fst_error *error)
{
        cleaner_unpin(f->rdd);
        if (status == -ECANCELED || status == -ESHUTDOWN) {
                log_info("SparkContext", "%s: %s", f->call_site, error_message(error));
                error_deinit(error);
        } else if (status) {
                action_failed(f->rdd, f->site, status, error);
        } else if (future_has_rows(f)) {
                bool takes = f->rules.first > 0;
                struct page *pages = takes ? steal(f->pages) : rows_job_take(&f->rows, NULL);
                f->iter = result_rows_new(f->rdd->sc, f->rdd->type, pages, takes ? MAX(f->wanted, 0) : INT64_MAX);
        }
        pthread_mutex_lock(&f->lock);
        f->status = status;
        f->ended = true;
        pthread_cond_broadcast(&f->changed);
        pthread_mutex_unlock(&f->lock);
        for (size_t i = 0; i < f->completions.len; i++) /* none is added any more */
                f->completions.data[i].f(f, status, f->completions.data[i].data);
}

static bool future_is_cancelled(fst_future *f)
{
        pthread_mutex_lock(&f->lock);
        bool cancelled = f->cancelled;
        pthread_mutex_unlock(&f->lock);
        return cancelled;
}

static void future_on_job_end(void *owner, int status, struct fst_error *error);

static void future_submit(fst_future *f, struct action *action, const int *partitions, int n)
{
        f->request = (struct job_request){.rdd = f->rdd,
                                          .partitions = partitions,
                                          .n = n,
                                          .action = action,
                                          .call_site = f->call_site,
                                          .scope = f->site.operation,
                                          .job = &f->job};
        job_runner_submit(f->rdd->sc->runner, &f->request, &f->properties, future_on_job_end, f);
}

/* Submit the next partitions, or end if there are none or enough rows were found. */
static void future_take_round(fst_future *f)
{
        struct fst_error error = FST_ERROR_INIT;
        int partitions = f->rdd->lineage.partitions, r = 0;
        if (f->found >= f->wanted || f->seen >= partitions) {
                future_finish(f, 0, &error);
                return;
        }
        if (future_is_cancelled(f))
                r = error_set(&error, -ECANCELED, "the future was cancelled");
        int n = action_take_round(&f->rules, f->seen, partitions, f->found, f->wanted);
        f->partitions = mem_grow(f->partitions, (size_t)n * sizeof(int));
        for (int i = 0; i < n; i++)
                f->partitions[i] = f->seen + i;
        f->seen += n;
        rows_job_deinit(&f->rows);
        f->rows.rows.limit = f->wanted - f->found;
        if (r == 0)
                r = rows_job_prepare(&f->rows, f->rdd, n, &error);
        if (r)
                future_finish(f, r, &error);
        else
                future_submit(f, &f->rows.rows.action, f->partitions, n);
}

static void future_on_job_end(void *owner, int status, struct fst_error *error)
{
        fst_future *f = owner;
        int64_t n;
        if (status || !future_has_rows(f) || f->rules.first == 0) {
                future_finish(f, status, error);
                return;
        }
        *f->tail = rows_job_take(&f->rows, &n);
        while (*f->tail)
                f->tail = &(*f->tail)->next;
        f->found += n;
        future_take_round(f);
}

/* Run @action on all partitions, unless @r is an error. */
static fst_future *future_start(fst_future *f, struct action *action, int r, struct fst_error *error)
{
        if (r == 0)
                r = preliminary_jobs_run(f->rdd, f->site, error);
        if (r || f->rdd->lineage.partitions == 0)
                future_finish(f, r, error);
        else
                future_submit(f, action, NULL, f->rdd->lineage.partitions);
        return f;
}

/* --------------------------------------------------------------------------------------------------- start */

FST_API fst_future *fst_count_async_at(fst_rdd *rdd, fst_site site)
{
        rdd = rdd_given(rdd, site);
        _cleanup_(context_leave) fst_context *in = context_enter(rdd->sc);
        struct fst_error error = FST_ERROR_INIT;
        fst_future *f = future_new(rdd, site);
        f->count = count_job_of(rdd);
        return future_start(f, &f->count.action, action_check(rdd, &error), &error);
}

FST_API fst_future *fst_collect_async_at(fst_rdd *rdd, fst_site site)
{
        rdd = rdd_given(rdd, site);
        _cleanup_(context_leave) fst_context *in = context_enter(rdd->sc);
        struct fst_error error = FST_ERROR_INIT;
        fst_future *f = future_new(rdd, site);
        f->rows.rows = rows_action_of(&rows_action_class, rdd, rdd->type, INT64_MAX);
        int r = action_check(rdd, &error);
        if (r == 0)
                r = rows_job_prepare(&f->rows, rdd, rdd->lineage.partitions, &error);
        return future_start(f, &f->rows.rows.action, r, &error);
}

FST_API fst_future *fst_take_async_at(fst_rdd *rdd, int64_t count, fst_site site)
{
        rdd = rdd_given(rdd, site);
        _cleanup_(context_leave) fst_context *in = context_enter(rdd->sc);
        struct fst_error error = FST_ERROR_INIT;
        fst_future *f = future_new(rdd, site);
        f->rows.rows = rows_action_of(&rows_action_class, rdd, rdd->type, 0);
        f->wanted = count;
        int r = action_check(rdd, &error);
        if (r == 0)
                r = action_take_rules(rdd, &f->rules, &error);
        if (r == 0)
                r = preliminary_jobs_run(rdd, site, &error);
        if (r)
                future_finish(f, r, &error);
        else
                future_take_round(f);
        return f;
}

static fst_future *future_start_each(fst_future *f, int r, struct fst_error *error)
{
        const fst_fn *fn = &f->each.fn;
        if (fn->captured) {
                f->captured = mem_alloc(fn->captured_size);
                memcpy(f->captured, fn->captured, fn->captured_size);
                f->each.fn.captured = f->captured;
        }
        return future_start(f, &f->each.action, r, error);
}

FST_API fst_future *fst_foreach_async_at(fst_rdd *rdd, fst_fn fn, fst_site site)
{
        rdd = rdd_given(rdd, site);
        _cleanup_(context_leave) fst_context *in = context_enter(rdd->sc);
        struct fst_error error = FST_ERROR_INIT;
        fst_future *f = future_new(rdd, site);
        return future_start_each(f, foreach_action_init(&f->each, rdd, fn, &error), &error);
}

FST_API fst_future *fst_foreach_partition_async_at(fst_rdd *rdd, fst_fn fn, fst_site site)
{
        rdd = rdd_given(rdd, site);
        _cleanup_(context_leave) fst_context *in = context_enter(rdd->sc);
        struct fst_error error = FST_ERROR_INIT;
        fst_future *f = future_new(rdd, site);
        return future_start_each(f, foreach_partition_action_init(&f->each, rdd, fn, site, &error), &error);
}

/* ------------------------------------------------------------------------------------------------------- queries */

/*
 * Whether the future has ended; *@status receives its result. Unlike a wait, it may be called on the scheduler's
 * thread, by a completion.
 */
static bool future_has_ended(fst_future *f, int *status)
{
        pthread_mutex_lock(&f->lock);
        bool ended = f->ended;
        *status = ended ? f->status : 0;
        pthread_mutex_unlock(&f->lock);
        return ended;
}

/* NULL: no timeout. */
static int future_wait_until(fst_future *f, const struct timespec *until)
{
        int r;
        if (future_has_ended(f, &r))
                return r;
        _cleanup_(context_leave) fst_context *in = context_enter(f->rdd->sc);
        pthread_mutex_lock(&f->lock);
        while (!f->ended && r == 0)
                r = until ? pthread_cond_clockwait(&f->changed, &f->lock, CLOCK_MONOTONIC, until)
                          : pthread_cond_wait(&f->changed, &f->lock);
        r = f->ended ? f->status : -ETIMEDOUT;
        pthread_mutex_unlock(&f->lock);
        return r;
}

FST_API int fst_future_wait(fst_future *f)
{
        f = handle_given(HANDLE_FUTURE, f, "future_wait");
        if (!f)
                return -EINVAL;
        return future_wait_until(f, NULL);
}

FST_API int fst_future_wait_for(fst_future *f, int64_t milliseconds)
{
        f = handle_given(HANDLE_FUTURE, f, "future_wait_for");
        if (!f)
                return -EINVAL;
        const struct timespec until = timespec_of_ns(now_ns() + ms_to_ns(MAX(milliseconds, 0)));
        return future_wait_until(f, &until);
}

FST_API bool fst_future_done(fst_future *f)
{
        f = handle_given(HANDLE_FUTURE, f, "future_done");
        if (!f)
                return true;
        int status;
        return future_has_ended(f, &status);
}

FST_API void fst_future_on_complete(fst_future *f, void (*callback)(fst_future *, int, void *), void *data)
{
        f = handle_given(HANDLE_FUTURE, f, "future_on_complete");
        if (!f)
                return;
        if (context_missing((const void *)callback, "future_on_complete", "a function"))
                return;
        pthread_mutex_lock(&f->lock);
        bool ended = f->ended;
        if (!ended)
                vec_push(&f->completions, (struct future_completion){callback, data});
        pthread_mutex_unlock(&f->lock);
        if (ended)
                callback(f, f->status, data);
}

FST_API void fst_future_cancel(fst_future *f)
{
        f = handle_given(HANDLE_FUTURE, f, "future_cancel");
        if (!f)
                return;
        pthread_mutex_lock(&f->lock);
        bool ended = f->ended;
        f->cancelled = true;
        pthread_mutex_unlock(&f->lock);
        if (!ended)
                job_runner_cancel_submitted(f->rdd->sc->runner, &f->job);
}

FST_API int fst_future_job(fst_future *f)
{
        f = handle_given(HANDLE_FUTURE, f, "future_job");
        if (!f)
                return -1;
        return __atomic_load_n(&f->job, __ATOMIC_RELAXED);
}

static int future_misread(const fst_future *f, const char *what)
{
        context_misused("%s gives no %s", f->call_site, what);
        return -EINVAL;
}

FST_API int fst_future_count_at(fst_future *f, int64_t *count)
{
        f = handle_given(HANDLE_FUTURE, f, "future_count");
        if (!f)
                return -EINVAL;
        if (context_missing(count, "future_count", "a place for the count"))
                return -EINVAL;
        int r = f->count.action.class ? fst_future_wait(f) : future_misread(f, "count");
        if (r == 0)
                *count = f->count.total;
        return r;
}

FST_API int fst_future_rows_at(fst_future *f, fst_iter **rows)
{
        f = handle_given(HANDLE_FUTURE, f, "future_rows");
        if (!f)
                return -EINVAL;
        if (context_missing(rows, "future_rows", "a place for the rows"))
                return -EINVAL;
        int r = future_has_rows(f) ? fst_future_wait(f) : future_misread(f, "rows");
        if (r == 0)
                *rows = f->iter;
        return r;
}
