/* Tests sum, mean, stats, min, max, histogram, first and is_empty: the behaviour of Spark's DoubleRDDSuite and of the
 * numeric actions of JavaAPISuite, and Firesteel's additional types. */
#include "base/mem.h"
#include "api/api_fixture.h"

#include <math.h>

static double to_f64(fst_task *task, int64_t x)
{
        return (double)x;
}

static bool never(fst_task *task, int64_t x)
{
        return false;
}

static fst_rdd *doubles(fst_context *sc, const double *x, size_t n, int partitions)
{
        return fst_parallelize_n(sc, x, n, partitions);
}
#define DOUBLES(...) doubles(*state, (const double[]){__VA_ARGS__}, sizeof((double[]){__VA_ARGS__}) / sizeof(double), 2)

static fst_rdd *nothing(fst_context *sc)
{
        return fst_filter(fst_range_n(sc, 0, 10, 3), never);
}

/* -------------------------------------------------------------------------------------------------- sums and stats */

static void sums_integers_and_floats(void **state)
{
        int64_t sum = -1;
        double total = -1;
        fst_rdd *numbers = fst_range_n(*state, 0, 100001, 7);
        assert_int_equal(fst_sum(numbers, &sum), 0);
        assert_int_equal(sum, 5000050000);
        assert_int_equal(fst_sum(numbers, &total), 0);
        assert_true(total == 5000050000.0);
        assert_int_equal(fst_sum(fst_map(numbers, to_f64, FST_F64), &total), 0);
        assert_true(total == 5000050000.0);
        assert_int_equal(fst_sum(DOUBLES(0.5, 0.25, 4), &total), 0);
        assert_true(total == 4.75);
        assert_int_equal(fst_mean(numbers, &total), 0);
        assert_true(total == 50000);
        int64_t large[] = {INT64_MAX, 1};
        assert_int_equal(fst_sum(fst_parallelize_n(*state, large, 2, 1), &sum), 0);
        assert_int_equal(sum, INT64_MIN);
}

static void near(double a, double b)
{
        if (fabs(a - b) > 1e-9 * fabs(b))
                fail_msg("%.17g is not %.17g", a, b);
}

static void computes_stats(void **state)
{
        struct fst_statistics s;
        assert_int_equal(fst_stats(DOUBLES(1, 2, 3, 4), &s), 0);
        assert_int_equal(s.count, 4);
        assert_true(s.sum == 10 && s.mean == 2.5 && s.min == 1 && s.max == 4);
        near(s.variance, 1.25);
        near(s.stdev, sqrt(1.25));
        near(s.sample_variance, 5.0 / 3);
        near(s.sample_stdev, sqrt(5.0 / 3));
        /* (n * n - 1) / 12 for 0 … n - 1, over many blocks and partitions of different sizes */
        assert_int_equal(fst_stats(fst_union(fst_range_n(*state, 0, 7, 2), fst_range_n(*state, 7, 100000, 3)), &s), 0);
        assert_true(s.count == 100000 && s.min == 0 && s.max == 99999);
        near(s.mean, 49999.5);
        near(s.variance, (1e10 - 1) / 12);
}

/* Squares of numbers far from 0 would lose the differences between them. */
static int64_t far_away(fst_task *task, int64_t x)
{
        return 1000000000 + x % 2;
}

static void stats_are_stable(void **state)
{
        struct fst_statistics s;
        assert_int_equal(fst_stats(fst_map(fst_range_n(*state, 0, 100000, 5), far_away, FST_I64), &s), 0);
        near(s.variance, 0.25);
}

static void equals_spark_without_rows(void **state)
{
        struct fst_statistics s;
        double x = -1;
        int64_t n = -1;
        assert_int_equal(fst_sum(nothing(*state), &x), 0);
        assert_true(x == 0);
        assert_int_equal(fst_sum(nothing(*state), &n), 0);
        assert_int_equal(n, 0);
        assert_int_equal(fst_mean(nothing(*state), &x), 0);
        assert_true(x == 0);
        assert_int_equal(fst_stats(nothing(*state), &s), 0);
        assert_true(s.count == 0 && s.sum == 0 && s.mean == 0 && s.max == -INFINITY && s.min == INFINITY);
        assert_true(isnan(s.variance) && isnan(s.stdev) && isnan(s.sample_variance));
        assert_refused(fst_max(nothing(*state), &n), -ENODATA, "empty collection");
        assert_refused(fst_min(nothing(*state), &n), -ENODATA, "empty collection");
        assert_refused(fst_first(nothing(*state), &n), -ENODATA, "empty collection");
        assert_int_equal(fst_stats(DOUBLES(7), &s), 0);
        assert_true(s.variance == 0 && isnan(s.sample_variance));
}

static void finds_nan_at_every_position(void **state)
{
        struct fst_statistics s;
        for (size_t at = 0; at < 40; at++) {
                double x[40], least, most;
                for (size_t i = 0; i < 40; i++)
                        x[i] = (double)i - 20;
                x[at] = NAN;
                fst_rdd *rdd = doubles(*state, x, 40, 1);
                assert_int_equal(fst_stats(rdd, &s), 0);
                assert_true(s.count == 40 && isnan(s.mean) && isnan(s.min) && isnan(s.max) && isnan(s.sum));
                assert_int_equal(fst_max(rdd, &most), 0);
                assert_true(isnan(most));
                assert_int_equal(fst_min(rdd, &least), 0);
                assert_true(least == (at == 0 ? -19 : -20));
        }
}

/* ------------------------------------------------------------------------------------------------------- extremes */

static void finds_extremes_in_sort_order(void **state)
{
        double x = 1;
        int64_t n;
        assert_int_equal(fst_min(DOUBLES(0.0, 1, -0.0, 2, 3, 4, 5, 6, 7, 8, 9), &x), 0);
        assert_true(x == 0 && signbit(x));
        assert_int_equal(fst_max(DOUBLES(-0.0, -1, -2, -3, -4, -5, -6, -7, -8, 0.0, -9, -0.0), &x), 0);
        assert_true(x == 0 && !signbit(x));
        assert_int_equal(fst_min(DOUBLES(NAN, NAN), &x), 0);
        assert_true(isnan(x));
        assert_int_equal(fst_max(DOUBLES(-INFINITY, -5), &x), 0);
        assert_true(x == -5);
        assert_int_equal(fst_max(fst_range_n(*state, -500, 70000, 3), &n), 0);
        assert_int_equal(n, 69999);
        assert_int_equal(fst_min(fst_range_n(*state, -500, 70000, 3), &n), 0);
        assert_int_equal(n, -500);
        fst_bytes words[] = {{"pear", 4}, {"apple", 5}, {"", 0}, {"z\xff", 2}, {"z", 1}}, word;
        fst_rdd *rdd = fst_parallelize_n(*state, words, 5, 2);
        assert_int_equal(fst_max(rdd, &word), 0);
        assert_true(fst_bytes_equal(word, words[3]));
        assert_int_equal(fst_min(rdd, &word), 0);
        assert_int_equal(word.len, 0);
}

/* Without arguments the names are still functions of the engine. */
static int pair_up(fst_task *task, int64_t x, fst_out *out)
{
        fst_emit(out, x % 3, x);
        return 0;
}

static int64_t reduced(fst_context *sc, fst_fn f)
{
        int64_t key, value, sum = 0;
        fst_iter *rows;
        assert_int_equal(
                fst_collect(fst_reduce_by_key(fst_map(fst_range_n(sc, 0, 9, 2), pair_up, FST_PAIR(I64, I64)), f),
                            &rows),
                0);
        while (fst_next(rows, &key, &value))
                sum += value;
        return sum;
}

static void names_without_arguments_stay_functions(void **state)
{
        fst_fn all[] = {fst_fn_sum, fst_fn_min, fst_fn_max, FST_FN(fst_fn_first)};
        assert_int_equal(reduced(*state, all[0]), 36);
        assert_int_equal(reduced(*state, FST_FN(fst_fn_sum)), 36);
        assert_int_equal(reduced(*state, FST_FN(fst_fn_min)), 0 + 1 + 2);
        assert_int_equal(reduced(*state, FST_FN(fst_fn_max)), 6 + 7 + 8);
        assert_int_equal(reduced(*state, all[1]), 0 + 1 + 2);
        assert_int_equal(reduced(*state, all[2]), 6 + 7 + 8);
        assert_true(reduced(*state, all[3]) >= 3);
        int64_t n;
        assert_int_equal(fst_reduce(fst_range_n(*state, 0, 9, 2), fst_fn_sum, &n), 0);
        assert_int_equal(n, 36);
        assert_int_equal(fst_reduce(fst_range_n(*state, 3, 9, 2), fst_fn_first, &n), 0);
        assert_int_equal(n, 3);
}

/* ------------------------------------------------------------------------------------------------------ histograms */

static void check_counts(fst_rdd *rdd, const double *bounds, int n, const int64_t *counts)
{
        struct fst_buckets h;
        assert_int_equal(fst_histogram_by(rdd, bounds, n, &h), 0);
        assert_int_equal(h.buckets, n - 1);
        for (int i = 0; i < n - 1; i++) {
                assert_true(h.bounds[i] == bounds[i] && h.bounds[i + 1] == bounds[i + 1]);
                assert_int_equal(h.counts[i], counts[i]);
        }
}
#define BOUNDS(...) (const double[]){__VA_ARGS__}, (int)(sizeof((double[]){__VA_ARGS__}) / sizeof(double))
#define COUNTS(...)                                                                                                    \
        (const int64_t[])                                                                                              \
        {                                                                                                              \
                __VA_ARGS__                                                                                            \
        }

/* The cases of DoubleRDDSuite. */
static void histogram_with_given_buckets(void **state)
{
        check_counts(nothing(*state), BOUNDS(0, 10), COUNTS(0));
        check_counts(DOUBLES(1, 2, 3, 4), BOUNDS(0, 10), COUNTS(4));
        check_counts(DOUBLES(10.01, -0.01), BOUNDS(0, 10), COUNTS(0));
        check_counts(DOUBLES(10.01, -0.01), BOUNDS(0, 4, 10), COUNTS(0, 0));
        check_counts(DOUBLES(10.01, -0.01), BOUNDS(0, 4, 5, 10), COUNTS(0, 0, 0));
        check_counts(DOUBLES(1, 2, 3, 5, 6), BOUNDS(0, 5, 10), COUNTS(3, 2));
        check_counts(DOUBLES(1, 2, 3, 5, 6), BOUNDS(0, 5, 11), COUNTS(3, 2));
        check_counts(DOUBLES(-0.01, 0, 1, 2, 3, 5, 6, 11.0, 11.01), BOUNDS(0, 5, 11), COUNTS(4, 3));
        check_counts(DOUBLES(-0.01, 0, 1, 2, 3, 5, 6, 11.01, 12, 199, 200, 200.1), BOUNDS(0, 5, 11, 12, 200),
                     COUNTS(4, 2, 1, 3));
        check_counts(DOUBLES(-0.01, 0, 1, 2, 3, 5, 6, 11.01, 12, 199, 200, 200.1, NAN), BOUNDS(0, 5, 11, 12, 200),
                     COUNTS(4, 2, 1, 3));
        check_counts(DOUBLES(10.01, -0.01, NAN), BOUNDS(-INFINITY, 0, INFINITY), COUNTS(1, 1));
        check_counts(fst_range_n(*state, 0, 100, 3), BOUNDS(10, 20, 50, 99), COUNTS(10, 30, 50));
        struct fst_buckets h;
        const double bounds[] = {3, 1, 1};
        assert_refused(fst_histogram_by(DOUBLES(1), bounds, 1, &h), -EINVAL,
                       "buckets array must have at least two elements");
        assert_refused(fst_histogram_by(DOUBLES(1), bounds, 2, &h), -EINVAL, "buckets should be sorted");
        assert_refused(fst_histogram_by(DOUBLES(1), bounds + 1, 2, &h), -EINVAL, "buckets should be sorted");
}

static void check_even(fst_rdd *rdd, size_t buckets, const double *bounds, int n, const int64_t *counts)
{
        struct fst_buckets h;
        assert_int_equal(fst_histogram(rdd, buckets, &h), 0);
        assert_int_equal(h.buckets, n - 1);
        for (int i = 0; i < n; i++)
                assert_true(h.bounds[i] == bounds[i]);
        for (int i = 0; i < n - 1; i++)
                assert_int_equal(h.counts[i], counts[i]);
}

static void histogram_with_even_buckets(void **state)
{
        struct fst_buckets h;
        check_even(DOUBLES(1, 2, 3, 4), 1, BOUNDS(1, 4), COUNTS(4));
        check_even(DOUBLES(1, 1, 1), 1, BOUNDS(1, 1), COUNTS(3));
        check_even(DOUBLES(1, 1, 1), 5, BOUNDS(1, 1), COUNTS(3));
        check_even(DOUBLES(1, 2), 2, BOUNDS(1, 1.5, 2), COUNTS(1, 1));
        check_even(DOUBLES(1, 2, 3), 2, BOUNDS(1, 2, 3), COUNTS(1, 2));
        check_even(DOUBLES(1, 3, 2), 2, BOUNDS(1, 2, 3), COUNTS(1, 2));
        check_even(fst_range_n(*state, 0, 100, 4), 10,
                   BOUNDS(0, 9.9, 19.8, 99 * 3 / 10.0, 99 * 4 / 10.0, 49.5, 99 * 6 / 10.0, 99 * 7 / 10.0, 99 * 8 / 10.0,
                          99 * 9 / 10.0, 99),
                   COUNTS(10, 10, 10, 10, 10, 10, 10, 10, 10, 10));
        assert_refused(fst_histogram(nothing(*state), 3, &h), -ENODATA, "Histogram on either an empty RDD");
        assert_refused(fst_histogram(DOUBLES(1, INFINITY), 3, &h), -EDOM, "containing +/-infinity or NaN");
        assert_refused(fst_histogram(DOUBLES(-INFINITY, 1), 3, &h), -EDOM, "containing +/-infinity or NaN");
        assert_refused(fst_histogram(DOUBLES(1, NAN), 3, &h), -EDOM, "containing +/-infinity or NaN");
        assert_refused(fst_histogram(DOUBLES(1, 2), 0, &h), -EINVAL, "at least two elements");
        assert_refused(fst_histogram(DOUBLES(1, 2), -1, &h), -EINVAL, "at least two elements");
        assert_refused(fst_histogram(DOUBLES(1, 2), -5, &h), -EINVAL, "a histogram has at most");
}

/* A program compiled against another version of the header passes its own struct size. */
static void fills_structs_of_older_and_newer_programs(void **state)
{
        struct {
                struct fst_statistics stats;
                int64_t later;
        } newer;
        memset(&newer, 0xff, sizeof(newer));
        assert_int_equal(fst_stats_at(DOUBLES(1, 2), &newer.stats, sizeof(newer), FST_HERE("stats")), 0);
        assert_int_equal(newer.stats.count, 2);
        assert_true(newer.stats.sample_stdev == sqrt(0.5));
        assert_int_equal(newer.later, 0);

        struct fst_statistics older;
        memset(&older, 0xff, sizeof(older));
        size_t size = offsetof(struct fst_statistics, variance);
        assert_int_equal(fst_stats_at(DOUBLES(1, 2), &older, size, FST_HERE("stats")), 0);
        assert_true(older.sum == 3 && older.max == 2);
        for (size_t i = size; i < sizeof(older); i++)
                assert_int_equal(((unsigned char *)&older)[i], 0xff);

        struct fst_buckets short_buckets;
        memset(&short_buckets, 0xff, sizeof(short_buckets));
        size = sizeof(short_buckets.buckets);
        assert_int_equal(fst_histogram_at(DOUBLES(1, 2), NULL, 3, &short_buckets, size, FST_HERE("histogram")), 0);
        assert_int_equal(short_buckets.buckets, 2);
        assert_int_equal((intptr_t)short_buckets.bounds, -1);
}

/* -------------------------------------------------------------------------------------------------- first, is_empty */

static int name(fst_task *task, int64_t x, fst_out *out)
{
        char text[32];
        snprintf(text, sizeof(text), "row %lld", (long long)x);
        fst_emit(out, text, x);
        return 0;
}

struct point {
        double x, y;
};

static int point(fst_task *task, int64_t x, fst_out *out)
{
        struct point p = {(double)x, -(double)x};
        fst_emit(out, &p);
        return 0;
}

static bool above_fifty(fst_task *task, int64_t x)
{
        return x > 50;
}

static void first_is_the_first_row(void **state)
{
        int64_t n;
        fst_bytes key;
        struct point p;
        bool empty = true;
        fst_rdd *late = fst_filter(fst_range_n(*state, 0, 100, 10), above_fifty);
        assert_int_equal(fst_first(late, &n), 0);
        assert_int_equal(n, 51);
        assert_int_equal(fst_first(fst_map(late, name, FST_PAIR(BYTES, I64)), &key, &n), 0);
        assert_string_equal(key.data, "row 51");
        assert_int_equal(n, 51);
        assert_int_equal(fst_first(fst_map(late, point, FST_FIXED(sizeof(p))), &p), 0);
        assert_true(p.x == 51 && p.y == -51);
        assert_int_equal(fst_is_empty(late, &empty), 0);
        assert_false(empty);
        assert_int_equal(fst_is_empty(nothing(*state), &empty), 0);
        assert_true(empty);
        assert_refused(fst_first(late, &key), -EINVAL, "first gives I64, but the variables are for BYTES");
        assert_refused(fst_first(late, &n, &n), -EINVAL, "first gives I64, but the variables are for PAIR(I64, I64)");
        assert_refused(fst_sum(fst_map(late, point, FST_FIXED(sizeof(p))), &n), -EINVAL, "sum takes I64 or F64");
        assert_refused(fst_stats(fst_map(late, name, FST_PAIR(BYTES, I64)), &(struct fst_statistics){0}), -EINVAL,
                       "stats takes I64 or F64, not PAIR(BYTES, I64)");
}

/* "countApproxDistinct" of RDDSuite, for every kind of row. */
static int64_t modulo(fst_task *task, int64_t x)
{
        return x % *(const int64_t *)fst_captured(task);
}

static void check_distinct(fst_rdd *rdd, double deviation, double want)
{
        int64_t n;
        assert_int_equal(fst_count_approx_distinct(rdd, deviation, &n), 0);
        if (fabs((double)n - want) > 4 * deviation * want)
                fail_msg("%lld is too far from %g", (long long)n, want);
}

static void estimates_distinct_rows(void **state)
{
        fst_rdd *all = fst_range_n(*state, 0, 60000, 7);
        for (int64_t different = 1; different <= 50000; different = different * 3 + 1) {
                fst_rdd *rdd = fst_map(all, FST_WITH(modulo, different), FST_I64);
                check_distinct(rdd, 0.1, (double)different);
                check_distinct(rdd, 0.01, (double)different);
                check_distinct(fst_map(rdd, name, FST_PAIR(BYTES, I64)), 0.02, (double)different);
                check_distinct(fst_map(rdd, to_f64, FST_F64), 0.02, (double)different);
                check_distinct(fst_map(rdd, point, FST_FIXED(sizeof(struct point))), 0.02, (double)different);
        }
        int64_t n = -1;
        assert_int_equal(fst_count_approx_distinct(nothing(*state), 0.05, &n), 0);
        assert_int_equal(n, 0);
        assert_int_equal(fst_count_approx_distinct(fst_range_n(*state, 0, 4, 2), 0.05, &n), 0);
        assert_int_equal(n, 4);
        assert_refused(fst_count_approx_distinct(all, 0.000001, &n), -EINVAL, "must be greater than 0.000017");
        assert_refused(fst_count_approx_distinct(all, 0.0001, &n), -EINVAL, "registers of each task");
}

int main(void)
{
        const struct CMUnitTest in_processes[] = {
                cmocka_unit_test(sums_integers_and_floats),
                cmocka_unit_test(computes_stats),
                cmocka_unit_test(finds_extremes_in_sort_order),
                cmocka_unit_test(histogram_with_given_buckets),
                cmocka_unit_test(histogram_with_even_buckets),
                cmocka_unit_test(estimates_distinct_rows),
        };
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(sums_integers_and_floats),
                cmocka_unit_test(computes_stats),
                cmocka_unit_test(stats_are_stable),
                cmocka_unit_test(equals_spark_without_rows),
                cmocka_unit_test(finds_nan_at_every_position),
                cmocka_unit_test(finds_extremes_in_sort_order),
                cmocka_unit_test(names_without_arguments_stay_functions),
                cmocka_unit_test(histogram_with_given_buckets),
                cmocka_unit_test(histogram_with_even_buckets),
                cmocka_unit_test(fills_structs_of_older_and_newer_programs),
                cmocka_unit_test(first_is_the_first_row),
                cmocka_unit_test(estimates_distinct_rows),
        };
        /* Task processes must be started before the first thread. */
        int failed = cmocka_run_group_tests(in_processes, api_setup_workers, api_teardown);
        return failed + cmocka_run_group_tests(tests, api_setup_loud, api_teardown);
}
