/* Tests asynchronous actions: cases of AsyncRDDActionsSuite, several at a time, cancelled, failed, and at the context's
 * end. */
#include "base/mem.h"
#include "api/api_fixture.h"
#include "driver/events/app_status.h"
#include "driver/context.h"
#include "api/gate_fixture.h"

static int64_t held(fst_task *task, int64_t x)
{
        gate_pass(task);
        return -x;
}

static int64_t unlucky(fst_task *task, int64_t x)
{
        if (x == 13)
                fst_fail(task, "thirteen");
        return x;
}

static int count_rows(fst_task *task, int64_t x)
{
        fst_accumulate(task, *(const fst_accumulator *)fst_captured(task), 1);
        return 0;
}

static int count_partitions(fst_task *task, fst_iter *rows)
{
        fst_accumulate(task, *(const fst_accumulator *)fst_captured(task), 1);
        return 0;
}

static bool late(fst_task *task, int64_t x)
{
        return x >= 900;
}

/* ---------------------------------------------------------------------------------------------------------- tests */

static void futures_return_results_of_actions(void **state)
{
        fst_rdd *rdd = fst_range_n(*state, 0, 10000, 5);
        fst_iter *rows;
        int64_t n = -1, x;
        fst_future *count = fst_count_async(rdd), *all = fst_collect_async(rdd), *some = fst_take_async(rdd, 2500),
                   *none = fst_take_async(rdd, 0), *more = fst_take_async(rdd, 1 << 20),
                   *negative = fst_take_async(rdd, -3);
        assert_int_equal(fst_future_count(count, &n), 0);
        assert_int_equal(n, 10000);
        assert_true(fst_future_done(count));
        assert_true(fst_future_job(count) >= 0);
        assert_int_equal(fst_future_rows(all, &rows), 0);
        for (int64_t i = 0; i < 10000; i++)
                assert_true(fst_next(rows, &x) && x == i);
        assert_false(fst_next(rows, &x));
        assert_int_equal(fst_future_rows(some, &rows), 0);
        for (int64_t i = 0; i < 2500; i++)
                assert_true(fst_next(rows, &x) && x == i);
        assert_false(fst_next(rows, &x));
        assert_int_equal(fst_future_rows(none, &rows), 0);
        assert_false(fst_next(rows, &x));
        assert_int_equal(fst_future_rows(negative, &rows), 0);
        assert_false(fst_next(rows, &x));
        assert_int_equal(fst_future_rows(more, &rows), 0);
        for (int64_t i = 0; i < 10000; i++)
                assert_true(fst_next(rows, &x) && x == i);
        assert_false(fst_next(rows, &x));
        /* needs many rounds, because rows come late */
        assert_int_equal(fst_future_rows(fst_take_async(fst_filter(fst_range_n(*state, 0, 1000, 100), late), 3), &rows),
                         0);
        for (int64_t i = 900; i < 903; i++)
                assert_true(fst_next(rows, &x) && x == i);
        assert_false(fst_next(rows, &x));
}

static void runs_foreach_asynchronously(void **state)
{
        fst_rdd *rdd = fst_range_n(*state, 0, 1000, 7);
        fst_accumulator rows = fst_accumulator_i64(*state, "rows"), parts = fst_accumulator_i64(*state, "partitions");
        fst_future *each = fst_foreach_async(rdd, FST_WITH(count_rows, rows));
        fst_future *partition = fst_foreach_partition_async(rdd, FST_WITH(count_partitions, parts));
        assert_int_equal(fst_future_wait(each), 0);
        assert_int_equal(fst_future_wait(partition), 0);
        assert_int_equal(fst_accumulator_sum_i64(*state, rows), 1000);
        assert_int_equal(fst_accumulator_sum_i64(*state, parts), 7);
        assert_refused(fst_future_count(each, &(int64_t){0}), -EINVAL, "gives no count");
        assert_refused(fst_future_rows(each, &(fst_iter *){0}), -EINVAL, "gives no rows");
}

static void runs_two_futures_at_once(void **state)
{
        int64_t n, m;
        gate_close();
        fst_future *a = fst_count_async(fst_map(fst_range_n(*state, 0, 1, 1), held, FST_I64));
        fst_future *b = fst_count_async(fst_map(fst_range_n(*state, 0, 1, 1), held, FST_I64));
        gate_await(2);
        assert_false(fst_future_done(a) || fst_future_done(b));
        assert_int_equal(fst_future_wait_for(a, 1), -ETIMEDOUT);
        assert_int_equal(fst_future_wait_for(b, -5), -ETIMEDOUT);
        gate_open();
        assert_int_equal(fst_future_count(b, &m), 0);
        assert_int_equal(fst_future_count(a, &n), 0);
        assert_true(n == 1 && m == 1);
        assert_int_equal(fst_future_wait_for(a, INT64_MAX), 0);
}

static void jobs_take_properties_of_the_calling_thread(void **state)
{
        int64_t n;
        gate_close();
        fst_set_local_property(*state, "spark.jobGroup.id", "mine");
        fst_future *a = fst_count_async(fst_map(fst_range_n(*state, 0, 1, 1), held, FST_I64));
        fst_set_local_property(*state, "spark.jobGroup.id", "other");
        fst_future *b = fst_count_async(fst_map(fst_range_n(*state, 0, 1, 1), held, FST_I64));
        fst_set_local_property(*state, "spark.jobGroup.id", NULL);
        gate_await(2);
        fst_cancel_job_group(*state, "mine");
        assert_int_equal(fst_future_wait(a), -ECANCELED);
        assert_false(fst_future_done(b));
        gate_open();
        assert_int_equal(fst_future_count(b, &n), 0);
}

static void samples_before_sorting(void **state)
{
        fst_iter *rows;
        int64_t x;
        fst_rdd *sorted = fst_sort_by_n(fst_range_n(*state, 0, 1000, 4), fst_fn_identity, FST_I64, FST_DESCENDING, 3);
        assert_int_equal(fst_future_rows(fst_take_async(sorted, 2), &rows), 0);
        assert_true(fst_next(rows, &x) && x == 999 && fst_next(rows, &x) && x == 998 && !fst_next(rows, &x));
}

static void cancelling_is_not_a_failure(void **state)
{
        fst_context *sc = api_context("local[2]", "spark.log.level", "OFF", NULL);
        gate_close();
        fst_future *a = fst_collect_async(fst_map(fst_range_n(sc, 0, 10, 2), held, FST_I64));
        fst_future *b = fst_take_async(fst_map(fst_range_n(sc, 0, 10, 2), held, FST_I64), 100);
        gate_await(1);
        fst_future_cancel(a);
        fst_future_cancel(b);
        assert_int_equal(fst_future_wait(a), -ECANCELED);
        assert_int_equal(fst_future_wait(b), -ECANCELED);
        fst_future_cancel(a); /* too late */
        assert_int_equal(fst_context_stop(sc), 0);
}

static void context_reports_failures_without_a_wait(void **state)
{
        fst_context *sc = api_context("local[2]", "spark.log.level", "OFF", NULL);
        fst_future *f = fst_count_async(fst_map(fst_range_n(sc, 0, 20, 2), unlucky, FST_I64));
        while (!fst_future_done(f))
                usleep(500);
        assert_int_equal(fst_context_stop(sc), -EIO);
}

static int wait_loudly(fst_context *sc, int64_t *n)
{
        return fst_future_count(fst_count_async(fst_map(fst_range_n(sc, 0, 20, 2), unlucky, FST_I64)), n);
}

static void reports_failures(void **state)
{
        int64_t n = -1;
        assert_refused(wait_loudly(*state, &n), -EIO, "thirteen");
        assert_int_equal(n, -1);
        int was = api_listen();
        fst_future *f = fst_count_async(fst_text_file(*state, "/nothing/is/here"));
        char *heard = api_heard(was);
        assert_true(fst_future_done(f) && fst_future_wait(f) < 0 && fst_future_job(f) == -1);
        assert_non_null(strstr(heard, "/nothing/is/here"));
        free(heard);
}

static void stopping_the_context_ends_futures(void **state)
{
        fst_context *sc = api_context("local[2]", "spark.log.level", "OFF", NULL);
        gate_close();
        fst_count_async(fst_map(fst_range_n(sc, 0, 10, 4), held, FST_I64));
        fst_take_async(fst_map(fst_range_n(sc, 0, 10, 4), held, FST_I64), 1000);
        gate_await(1);
        assert_int_equal(fst_context_stop(sc), 0);
}

/* In a context that could not start, waiting returns at once. */
static void rejects_futures_of_refused_context(void **state)
{
        fst_context *sc = api_context("local[nonsense]", "spark.log.level", "OFF", NULL);
        fst_future *f = fst_count_async(fst_range_n(sc, 0, 10, 4));
        assert_true(fst_future_done(f));
        assert_true(fst_future_wait(f) < 0);
        fst_future_cancel(f);
        assert_true(fst_context_stop(sc) < 0);
}

static void *wait_for(void *future)
{
        return (void *)(intptr_t)fst_future_wait(future);
}

static void any_thread_may_wait(void **state)
{
        pthread_t threads[3];
        gate_close();
        fst_future *f = fst_count_async(fst_map(fst_range_n(*state, 0, 1, 1), held, FST_I64));
        for (int i = 0; i < 3; i++)
                assert_int_equal(pthread_create(&threads[i], NULL, wait_for, f), 0);
        gate_await(1);
        gate_open();
        for (int i = 0; i < 3; i++) {
                void *status;
                pthread_join(threads[i], &status);
                assert_null(status);
        }
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(futures_return_results_of_actions),
                cmocka_unit_test(runs_foreach_asynchronously),
                cmocka_unit_test(runs_two_futures_at_once),
                cmocka_unit_test(jobs_take_properties_of_the_calling_thread),
                cmocka_unit_test(samples_before_sorting),
                cmocka_unit_test(reports_failures),
                cmocka_unit_test(any_thread_may_wait),
        };
        const struct CMUnitTest own_context[] = {
                cmocka_unit_test(cancelling_is_not_a_failure),
                cmocka_unit_test(context_reports_failures_without_a_wait),
                cmocka_unit_test(stopping_the_context_ends_futures),
                cmocka_unit_test(rejects_futures_of_refused_context),
        };
        int failed = cmocka_run_group_tests(tests, api_setup_loud, api_teardown);
        return failed + cmocka_run_group_tests(own_context, NULL, NULL);
}
