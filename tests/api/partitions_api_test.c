/* Tests foreach_partition, run_job and to_local_iterator. */
#include "base/mem.h"
#include "api/api_fixture.h"

static int sum_of(fst_task *task, fst_iter *rows, fst_out *out)
{
        int64_t x, sum = 0;
        while (fst_next(rows, &x))
                sum += x;
        fst_emit(out, (int64_t)fst_task_partition(task), sum);
        return 0;
}

static int pass(fst_task *task, fst_iter *rows, fst_out *out)
{
        int64_t x;
        while (fst_next(rows, &x))
                fst_emit(out, x);
        return 0;
}

static int two_each(fst_task *task, fst_iter *rows, fst_out *out)
{
        int64_t x;
        for (int i = 0; i < 2 && fst_next(rows, &x); i++)
                fst_emit(out, x);
        return 0;
}

static int refuse(fst_task *task, fst_iter *rows, fst_out *out)
{
        return fst_fail(task, "no partition for me");
}

static int add_up(fst_task *task, fst_iter *rows)
{
        const fst_accumulator *sums = fst_captured(task);
        int64_t x, sum = 0;
        while (fst_next(rows, &x))
                sum += x;
        fst_accumulate(task, sums[0], sum);
        fst_accumulate(task, sums[1], 1);
        return 0;
}

static int look_at_one(fst_task *task, fst_iter *rows)
{
        int64_t x;
        fst_next(rows, &x);
        return 0;
}

static int read_wrongly(fst_task *task, fst_iter *rows)
{
        double x;
        fst_next(rows, &x);
        return 0;
}

static int64_t unlucky(fst_task *task, int64_t x)
{
        if (x == 70)
                fst_fail(task, "seventy");
        return x;
}

/* ---------------------------------------------------------------------------------------------------------- tests */

static void returns_results_in_requested_order(void **state)
{
        fst_iter *rows;
        int64_t partition, sum;
        fst_rdd *rdd = fst_range_n(*state, 1, 11, 4);
        const int chosen[] = {3, 1, 1}, want[] = {27, 12, 12};
        assert_int_equal(fst_run_job(rdd, sum_of, FST_PAIR(I64, I64), chosen, 3, &rows), 0);
        for (int i = 0; i < 3; i++) {
                assert_true(fst_next(rows, &partition, &sum));
                assert_int_equal(partition, chosen[i]);
                assert_int_equal(sum, want[i]);
        }
        assert_false(fst_next(rows, &partition, &sum));
        assert_int_equal(fst_run_job(rdd, two_each, FST_I64, NULL, 0, &rows), 0);
        const int64_t all[] = {1, 2, 3, 4, 6, 7, 8, 9};
        for (int i = 0; i < 8; i++)
                assert_true(fst_next(rows, &sum) && sum == all[i]);
        assert_false(fst_next(rows, &sum));
        assert_int_equal(fst_run_job(rdd, sum_of, FST_PAIR(I64, I64), chosen, 0, &rows), 0);
        assert_false(fst_next(rows, &partition, &sum));
        assert_int_equal(fst_run_job(fst_range_n(*state, 0, 100000, 3), pass, FST_I64, NULL, 0, &rows), 0);
        for (int64_t i = 0; i < 100000; i++)
                assert_true(fst_next(rows, &sum) && sum == i);
        assert_false(fst_next(rows, &sum));
}

static void rejects_unknown_partition(void **state)
{
        fst_iter *rows;
        fst_rdd *rdd = fst_range_n(*state, 1, 11, 4);
        const int far[] = {0, 7}, negative[] = {-1};
        assert_refused(fst_run_job(rdd, pass, FST_I64, far, 2, &rows), -EINVAL,
                       "Attempting to access a non-existent partition: 7. Total number of partitions: 4");
        assert_refused(fst_run_job(rdd, pass, FST_I64, negative, 1, &rows), -EINVAL, "non-existent partition: -1");
        assert_refused(fst_run_job(rdd, refuse, FST_I64, NULL, 0, &rows), -EIO, "no partition for me");
        assert_refused(fst_run_job(rdd, unlucky, FST_I64, NULL, 0, &rows), -EINVAL, "is not a function for run_job");
        assert_refused(fst_foreach_partition(rdd, pass), -EINVAL, "is not a function for foreach_partition");
}

static void calls_function_once_for_each_partition(void **state)
{
        fst_accumulator sums[] = {fst_accumulator_i64(*state, "sum"), fst_accumulator_i64(*state, "partitions")};
        fst_rdd *rdd = fst_range_n(*state, 0, 1000, 7);
        assert_int_equal(fst_foreach_partition(rdd, FST_WITH(add_up, sums)), 0);
        assert_int_equal(fst_accumulator_sum_i64(*state, sums[0]), 499500);
        assert_int_equal(fst_accumulator_sum_i64(*state, sums[1]), 7);
        assert_int_equal(fst_foreach_partition(rdd, look_at_one), 0);
        assert_refused(fst_foreach_partition(rdd, read_wrongly), -EIO, "reads them with fst_next");
}

static void iterates_one_partition_at_a_time(void **state)
{
        fst_iter *rows;
        int64_t x;
        assert_int_equal(fst_to_local_iterator(fst_range_n(*state, 0, 40000, 5), &rows), 0);
        for (int64_t i = 0; i < 40000; i++)
                assert_true(fst_next(rows, &x) && x == i);
        assert_false(fst_next(rows, &x));
        assert_false(fst_next(rows, &x));
        assert_int_equal(fst_iter_status(rows), 0);
        /* with empty partitions in between */
        assert_int_equal(fst_to_local_iterator(fst_range_n(*state, 0, 2, 5), &rows), 0);
        assert_true(fst_next(rows, &x) && x == 0 && fst_next(rows, &x) && x == 1 && !fst_next(rows, &x));
}

/* Rows before the failing partition are returned: its job runs when the iterator reaches it. */
static void reports_failure_at_its_partition(void **state)
{
        fst_iter *rows;
        int64_t x;
        assert_int_equal(fst_to_local_iterator(fst_map(fst_range_n(*state, 0, 100, 4), unlucky, FST_I64), &rows), 0);
        for (int64_t i = 0; i < 50; i++)
                assert_true(fst_next(rows, &x) && x == i);
        int was = api_listen();
        bool more = fst_next(rows, &x);
        char *heard = api_heard(was);
        assert_false(more);
        assert_non_null(strstr(heard, "seventy"));
        free(heard);
        assert_int_equal(fst_iter_status(rows), -EIO);
        assert_false(fst_next(rows, &x));
}

int main(void)
{
        const struct CMUnitTest in_processes[] = {
                cmocka_unit_test(returns_results_in_requested_order),
                cmocka_unit_test(calls_function_once_for_each_partition),
        };
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(returns_results_in_requested_order), cmocka_unit_test(rejects_unknown_partition),
                cmocka_unit_test(calls_function_once_for_each_partition),         cmocka_unit_test(iterates_one_partition_at_a_time),
                cmocka_unit_test(reports_failure_at_its_partition),
        };
        /* Task processes must be started before the first thread. */
        int failed = cmocka_run_group_tests(in_processes, api_setup_workers, api_teardown);
        return failed + cmocka_run_group_tests(tests, api_setup_loud, api_teardown);
}
