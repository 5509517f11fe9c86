/* Tests shuffles with little memory, many partitions, and large rows. */
#include "base/mem.h"
#include "api/api_fixture.h"

static int named(fst_task *task, int64_t x, fst_out *out)
{
        char text[64];
        snprintf(text, sizeof(text), "a rather long name of some bytes: %lld", (long long)x);
        fst_emit(out, text, x);
        return 0;
}

static int large(fst_task *task, int64_t x, fst_out *out)
{
        size_t size = *(const size_t *)fst_captured(task);
        char *text = mem_alloc(size);
        memset(text, (int)('a' + x), size);
        fst_emit(out, x, ((fst_bytes){text, size}));
        free(text);
        return 0;
}

static int special(fst_task *task, int64_t x, fst_out *out)
{
        static const uint64_t nans[] = {0x7ff8000000000000, 0xfff8000000000000, 0x7ff0000000000001, 0xffffffffffffffff};
        double key = x % 3 == 0 ? 0.0 : -0.0;
        if (x % 3 == 2)
                memcpy(&key, &nans[x % 4], 8);
        fst_emit(out, key, 1);
        return 0;
}

static int limits(fst_task *task, int64_t x, fst_out *out)
{
        fst_emit(out, x % 2 ? INT64_MIN : INT64_MAX, x);
        return 0;
}

static int64_t value_of(fst_task *task, fst_bytes name, int64_t value)
{
        return value;
}

/* A task's share is about 1.6 MB: 6 pages of the pool for 200 partitions. */
static fst_context *narrow(void)
{
        return api_context("local[2]", "spark.driver.memory", "32m", "spark.memory.fraction", "0.1", NULL);
}

static void shuffles_more_partitions_than_pages(void **state)
{
        fst_context *sc = narrow();
        fst_rdd *rows = fst_map(fst_range_n(sc, 0, 200000, 4), named, FST_PAIR(BYTES, I64));
        int64_t n;
        assert_int_equal(fst_count(fst_partition_by(rows, 200), &n), 0);
        assert_int_equal(n, 200000);
        assert_int_equal(fst_reduce(fst_map(fst_partition_by(rows, 1000), value_of, FST_I64), fst_fn_sum, &n), 0);
        assert_int_equal(n, 199999LL * 100000);
        assert_int_equal(fst_context_stop(sc), 0);
}

static void drains_full_table_into_reserved_pages(void **state)
{
        fst_context *sc = narrow();
        fst_rdd *rows = fst_map(fst_range_n(sc, 0, 300000, 2), named, FST_PAIR(BYTES, I64));
        int64_t n;
        assert_int_equal(fst_count(fst_reduce_by_key_n(rows, fst_fn_sum, 200), &n), 0);
        assert_int_equal(n, 300000);
        assert_int_equal(fst_context_stop(sc), 0);
}

static void shuffles_many_small_partitions(void **state)
{
        fst_rdd *rows = fst_map(fst_range_n(*state, 0, 300, 1000), limits, FST_PAIR(I64, I64));
        int64_t n;
        assert_int_equal(fst_count(fst_reduce_by_key_n(rows, fst_fn_max, 5000), &n), 0);
        assert_int_equal(n, 2);
}

static void shuffles_rows_larger_than_a_page(void **state)
{
        size_t size = 3000000;
        fst_context *sc = api_context("local[2]", "spark.driver.memory", "32m", NULL);
        fst_rdd *rows = fst_map(fst_range_n(sc, 0, 8, 4), FST_WITH(large, size), FST_PAIR(I64, BYTES));
        fst_iter *iter;
        int64_t x, n = 0;
        fst_bytes text;
        assert_int_equal(fst_collect(fst_partition_by(rows, 3), &iter), 0);
        for (; fst_next(iter, &x, &text); n++) {
                assert_int_equal(text.len, size);
                assert_int_equal(text.data[0], 'a' + x);
                assert_int_equal(text.data[size - 1], 'a' + x);
        }
        assert_int_equal(n, 8);
        size = 40000000; /* more than a task's memory: an error, not a crash */
        rows = fst_map(fst_range_n(sc, 0, 2, 2), FST_WITH(large, size), FST_PAIR(I64, BYTES));
        assert_true(fst_count(fst_partition_by(rows, 3), &n) < 0);
        assert_true(fst_context_stop(sc) < 0);
}

static void shuffles_zeros_and_nans_as_equal_keys(void **state)
{
        fst_rdd *rows = fst_map(fst_range_n(*state, 0, 3000, 5), special, FST_PAIR(F64, I64));
        fst_iter *iter;
        double key;
        int64_t count, n = 0;
        assert_int_equal(fst_collect(fst_reduce_by_key_n(rows, fst_fn_sum, 7), &iter), 0);
        for (; fst_next(iter, &key, &count); n++)
                assert_int_equal(count, key == 0 ? 2000 : 1000);
        assert_int_equal(n, 2);
}

static void shuffles_no_rows(void **state)
{
        int64_t n;
        fst_rdd *none = fst_map(fst_range_n(*state, 5, 5, 3), named, FST_PAIR(BYTES, I64));
        assert_int_equal(fst_count(fst_reduce_by_key(none, fst_fn_sum), &n), 0);
        assert_int_equal(n, 0);
        assert_int_equal(fst_count(fst_coalesce(fst_partition_by(none, 9), 2), &n), 0);
        assert_int_equal(n, 0);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(shuffles_many_small_partitions),
                cmocka_unit_test(shuffles_zeros_and_nans_as_equal_keys),
                cmocka_unit_test(shuffles_no_rows),
        };
        const struct CMUnitTest own_context[] = {
                cmocka_unit_test(shuffles_more_partitions_than_pages),
                cmocka_unit_test(drains_full_table_into_reserved_pages),
                cmocka_unit_test(shuffles_rows_larger_than_a_page),
        };
        int failed = cmocka_run_group_tests(tests, api_setup, api_teardown);
        return failed + cmocka_run_group_tests(own_context, NULL, NULL);
}
