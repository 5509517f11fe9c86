/* Compares top, take_ordered and take_ordered_by with sorting all rows, for every kind of row. Cases of RDDSuite. */
#include "base/mem.h"
#include "api/api_fixture.h"

struct point {
        int64_t x, y;
};

static int64_t scatter(fst_task *task, int64_t x)
{
        return (x * 7919) % 1000 - 500;
}

static int to_text(fst_task *task, int64_t x, fst_out *out)
{
        char text[64];
        snprintf(text, sizeof(text), "%s%lld", x % 3 ? "a long common beginning " : "", (long long)x);
        fst_emit(out, text);
        return 0;
}

static int to_pair(fst_task *task, int64_t x, fst_out *out)
{
        fst_emit(out, x % 2 ? "odd" : "even", (double)x);
        return 0;
}

static int to_point(fst_task *task, int64_t x, fst_out *out)
{
        struct point p = {x, -x};
        fst_emit(out, &p);
        return 0;
}

static int64_t y_of(fst_task *task, const void *row)
{
        return ((const struct point *)row)->y;
}

static int64_t value_modulo(fst_task *task, fst_bytes key, double value)
{
        return (int64_t)value % 10;
}

static int64_t digit(fst_task *task, int64_t x)
{
        return x % 10;
}

static int last_letter(fst_task *task, fst_bytes row, fst_out *out)
{
        fst_bytes letter = {row.data + row.len - 1, 1};
        fst_emit(out, letter);
        return 0;
}

static void check_numbers(fst_iter *rows, const int64_t *want, int n)
{
        int64_t x;
        for (int i = 0; i < n; i++) {
                assert_true(fst_next(rows, &x));
                assert_int_equal(x, want[i]);
        }
        assert_false(fst_next(rows, &x));
        assert_int_equal(fst_iter_status(rows), 0);
}
#define WANT(rows, ...) check_numbers(rows, (const int64_t[]){__VA_ARGS__}, sizeof((int64_t[]){__VA_ARGS__}) / 8)

/* ---------------------------------------------------------------------------------------------------------- tests */

static void takes_first_rows_in_order(void **state)
{
        fst_iter *rows;
        int64_t numbers[] = {5, 3, 9, 1, 7, 3, 8};
        fst_rdd *rdd = fst_parallelize_n(*state, numbers, 7, 3);
        assert_int_equal(fst_top(rdd, 3, &rows), 0);
        WANT(rows, 9, 8, 7);
        assert_int_equal(fst_take_ordered(rdd, 4, &rows), 0);
        WANT(rows, 1, 3, 3, 5);
        assert_int_equal(fst_take_ordered(rdd, 100, &rows), 0);
        WANT(rows, 1, 3, 3, 5, 7, 8, 9);
        assert_int_equal(fst_top(rdd, 0, &rows), 0);
        int64_t x;
        assert_false(fst_next(rows, &x));
        assert_int_equal(fst_top(fst_range_n(*state, 4, 4, 2), 3, &rows), 0);
        assert_false(fst_next(rows, &x));
        assert_int_equal(fst_top(rdd, -1, &rows), 0);
        assert_false(fst_next(rows, &x));
        assert_int_equal(fst_take_ordered(rdd, INT64_MIN, &rows), 0);
        assert_false(fst_next(rows, &x));
        assert_int_equal(fst_take(rdd, -1, &rows), 0);
        assert_false(fst_next(rows, &x));
}

static void equals_sorting_for_many_rows(void **state)
{
        fst_iter *rows, *sorted;
        int64_t x, y;
        fst_rdd *rdd = fst_map(fst_range_n(*state, 0, 20000, 7), scatter, FST_I64);
        for (int descending = 0; descending < 2; descending++)
                for (int n = 1; n < 5000; n = n * 3 + 1) {
                        assert_int_equal(fst_collect(fst_sort_by(rdd, fst_fn_identity, FST_I64,
                                                                 descending ? FST_DESCENDING : FST_ASCENDING),
                                                     &sorted),
                                         0);
                        assert_int_equal(descending ? fst_top(rdd, n, &rows) : fst_take_ordered(rdd, n, &rows), 0);
                        for (int i = 0; i < n; i++) {
                                assert_true(fst_next(rows, &x) && fst_next(sorted, &y));
                                assert_int_equal(x, y);
                        }
                        assert_false(fst_next(rows, &x));
                }
}

static void orders_every_kind_of_row(void **state)
{
        fst_iter *rows;
        fst_bytes text;
        double x;
        const void *p = NULL;
        fst_rdd *numbers = fst_range_n(*state, 0, 100, 4);
        assert_int_equal(fst_top(fst_map(numbers, to_text, FST_BYTES), 2, &rows), 0);
        assert_true(fst_next(rows, &text) && fst_bytes_equal(text, fst_bytes_of("a long common beginning 98")));
        assert_true(fst_next(rows, &text) && fst_bytes_equal(text, fst_bytes_of("a long common beginning 97")));
        assert_false(fst_next(rows, &text));
        assert_int_equal(fst_take_ordered(fst_map(numbers, to_pair, FST_PAIR(BYTES, F64)), 51, &rows), 0);
        for (int i = 0; i < 50; i++) {
                assert_true(fst_next(rows, &text, &x) && fst_bytes_equal(text, fst_bytes_of("even")));
                assert_true(x == 2 * i);
        }
        assert_true(fst_next(rows, &text, &x) && fst_bytes_equal(text, fst_bytes_of("odd")) && x == 1);
        assert_int_equal(fst_top(fst_map(numbers, to_point, FST_FIXED(sizeof(struct point))), 1, &rows), 0);
        assert_true(fst_next(rows, &p));
        assert_int_equal(((const struct point *)p)->x, 99); /* by its bytes */
        double doubles[] = {1, -2, __builtin_nan(""), -0.0, 0.0, __builtin_inf()};
        assert_int_equal(fst_top(fst_parallelize_n(*state, doubles, 6, 2), 2, &rows), 0);
        assert_true(fst_next(rows, &x) && x != x);
        assert_true(fst_next(rows, &x) && x == __builtin_inf());
}

static void orders_by_computed_key(void **state)
{
        fst_iter *rows;
        fst_bytes text;
        double x;
        const void *p;
        fst_rdd *numbers = fst_range_n(*state, 0, 100, 7);
        assert_int_equal(fst_take_ordered_by(numbers, 4, digit, FST_I64, FST_DESCENDING, &rows), 0);
        WANT(rows, 9, 19, 29, 39); /* the first of equal keys */
        assert_int_equal(fst_take_ordered_by(numbers, 3, fst_fn_identity, FST_I64, FST_DESCENDING, &rows), 0);
        WANT(rows, 99, 98, 97);
        assert_int_equal(fst_take_ordered_by(fst_map(numbers, to_point, FST_FIXED(sizeof(struct point))), 2, y_of,
                                             FST_I64, FST_ASCENDING, &rows),
                         0);
        assert_true(fst_next(rows, &p) && ((const struct point *)p)->y == -99);
        assert_true(fst_next(rows, &p) && ((const struct point *)p)->y == -98);
        assert_int_equal(fst_take_ordered_by(fst_map(numbers, to_pair, FST_PAIR(BYTES, F64)), 2, value_modulo, FST_I64,
                                             FST_DESCENDING, &rows),
                         0);
        assert_true(fst_next(rows, &text, &x) && fst_bytes_equal(text, fst_bytes_of("odd")) && x == 9);
        assert_true(fst_next(rows, &text, &x) && x == 19);
        assert_false(fst_next(rows, &text, &x));
        assert_int_equal(fst_take_ordered_by(fst_map(numbers, to_text, FST_BYTES), 1, last_letter, FST_BYTES,
                                             FST_ASCENDING, &rows),
                         0);
        assert_true(fst_next(rows, &text) && fst_bytes_equal(text, fst_bytes_of("0")));
        assert_refused(fst_take_ordered_by(numbers, 1, last_letter, FST_BYTES, FST_ASCENDING, &rows), -EINVAL,
                       "last_letter");
        assert_refused(fst_take_ordered_by(numbers, 1, digit, FST_PAIR(I64, I64), FST_ASCENDING, &rows), -EINVAL,
                       "the type of the keys only");
}

/* The limit applies to the result of a task. */
static void limits_results_by_size(void **state)
{
        fst_iter *rows;
        fst_context *sc = api_context("local[2]", "spark.driver.maxResultSize", "1k", NULL);
        assert_int_equal(fst_top(fst_range_n(sc, 0, 10000, 2), 10, &rows), 0);
        assert_int_equal(fst_top(fst_range_n(sc, 0, 10000, 2), 1000, &rows), -EIO);
        assert_int_equal(fst_context_stop(sc), -EIO);
}

int main(void)
{
        const struct CMUnitTest in_processes[] = {
                cmocka_unit_test(takes_first_rows_in_order),
                cmocka_unit_test(orders_every_kind_of_row),
                cmocka_unit_test(orders_by_computed_key),
        };
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(takes_first_rows_in_order),
                cmocka_unit_test(equals_sorting_for_many_rows),
                cmocka_unit_test(orders_every_kind_of_row),
                cmocka_unit_test(orders_by_computed_key),
        };
        const struct CMUnitTest own_context[] = {cmocka_unit_test(limits_results_by_size)};
        /* Task processes must be started before the first thread. */
        int failed = cmocka_run_group_tests(in_processes, api_setup_workers, api_teardown);
        failed += cmocka_run_group_tests(tests, api_setup_loud, api_teardown);
        return failed + cmocka_run_group_tests(own_context, NULL, NULL);
}
