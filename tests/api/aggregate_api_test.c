/* Tests fold and aggregate: where the zero value counts, every type of rows and results, invalid functions, and the
 * order. */
#include "base/mem.h"
#include "api/api_fixture.h"

/* ------------------------------------------------------------------------------------------------------- functions */

static int64_t add(fst_task *task, int64_t a, int64_t b)
{
        return a + b;
}

static int append(fst_task *task, fst_bytes a, fst_bytes b, fst_out *out)
{
        char text[4096];
        memcpy(text, a.data, a.len);
        memcpy(text + a.len, b.data, b.len);
        fst_bytes both = {text, a.len + b.len};
        fst_emit(out, both);
        return 0;
}

static int append_number(fst_task *task, fst_bytes so_far, int64_t x, fst_out *out)
{
        char text[4096];
        int n = snprintf(text, sizeof(text), "%.*s%lld,", (int)so_far.len, so_far.data, (long long)x);
        fst_bytes all = {text, (size_t)n};
        fst_emit(out, all);
        return 0;
}

static int64_t add_length(fst_task *task, int64_t so_far, fst_bytes row)
{
        return so_far + (int64_t)row.len;
}

static int64_t count_above(fst_task *task, int64_t so_far, double row)
{
        return so_far + (row > *(const double *)fst_captured(task));
}

static double add_halves(fst_task *task, double so_far, int64_t row)
{
        return so_far + (double)row / 2;
}

static double add_doubles(fst_task *task, double a, double b)
{
        return a + b;
}

struct point {
        int64_t x, y;
};

struct tally {
        int64_t rows, x, y;
        double z;
};

static int make_point(fst_task *task, int64_t x, fst_out *out)
{
        struct point p = {x, -x};
        fst_emit(out, &p);
        return 0;
}

static int take_point(fst_task *task, void *so_far, const void *row)
{
        struct tally *t = so_far;
        const struct point *p = row;
        t->rows++;
        t->x += p->x;
        t->y += p->y;
        return 0;
}

static int make_pair(fst_task *task, int64_t x, fst_out *out)
{
        fst_emit(out, x % 2 ? "odd" : "even", (double)x);
        return 0;
}

static int take_pair(fst_task *task, void *so_far, fst_bytes key, double value)
{
        struct tally *t = so_far;
        t->rows++;
        t->x += (int64_t)key.len;
        t->z += value;
        return 0;
}

static int join_tallies(fst_task *task, void *so_far, const void *other)
{
        struct tally *a = so_far;
        const struct tally *b = other;
        a->rows += b->rows;
        a->x += b->x;
        a->y += b->y;
        a->z += b->z;
        return 0;
}

static int64_t refuse(fst_task *task, int64_t a, int64_t b)
{
        fst_fail(task, "not with me");
        return a;
}

static int make_text(fst_task *task, int64_t x, fst_out *out)
{
        char text[32];
        snprintf(text, sizeof(text), "%lld,", (long long)x);
        fst_emit(out, text);
        return 0;
}

/* ----------------------------------------------------------------------------------------------------------- tests */

/* As in Spark's fold and aggregate: the zero counts in each partition and once more. */
static void applies_zero_in_each_partition_and_once_more(void **state)
{
        int64_t zero = 100, ten = 10, sum;
        assert_int_equal(fst_fold(fst_range_n(*state, 0, 10, 4), &zero, add, &sum), 0);
        assert_int_equal(sum, 45 + 500);
        assert_int_equal(fst_fold(fst_range_n(*state, 0, 10, 3), &ten, fst_fn_sum, &sum), 0);
        assert_int_equal(sum, 45 + 40);
        assert_int_equal(fst_aggregate(fst_range_n(*state, 0, 10, 2), &zero, add, fst_fn_sum, &sum), 0);
        assert_int_equal(sum, 45 + 300);
}

static void returns_zero_without_rows(void **state)
{
        int64_t zero = 7, result = 0;
        fst_bytes nothing = fst_bytes_of(""), text;
        assert_int_equal(fst_fold(fst_range_n(*state, 5, 5, 3), &zero, fst_fn_max, &result), 0);
        assert_int_equal(result, 7);
        assert_int_equal(fst_aggregate(fst_range_n(*state, 5, 5, 1), &nothing, append_number, append, &text), 0);
        assert_int_equal(text.len, 0);
        assert_refused(fst_reduce(fst_range_n(*state, 5, 5, 3), add, &result), -ENODATA, "empty collection");
}

/* The function is not commutative: only the right order gives this result. */
static void combines_partitions_in_order(void **state)
{
        fst_bytes nothing = fst_bytes_of(""), dash = fst_bytes_of("-"), text;
        const char *all = "0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,";
        for (int i = 0; i < 10; i++) {
                assert_int_equal(fst_aggregate(fst_range_n(*state, 0, 25, 7), &nothing, append_number, append, &text),
                                 0);
                assert_string_equal(text.data, all);
                assert_int_equal(text.len, strlen(all));
        }
        fst_rdd *texts = fst_map(fst_range_n(*state, 0, 4, 2), make_text, FST_BYTES);
        assert_int_equal(fst_fold(texts, &dash, append, &text), 0);
        assert_string_equal(text.data, "--0,1,-2,3,");
}

static void aggregates_every_type(void **state)
{
        int64_t zero = 0, n;
        double none = 0, total, limit = 4.5;
        struct tally empty = {0}, all;
        fst_rdd *numbers = fst_range_n(*state, 0, 1000, 5);
        assert_int_equal(fst_aggregate(fst_map(numbers, make_text, FST_BYTES), &zero, add_length, fst_fn_sum, &n), 0);
        assert_int_equal(n, 10 * 2 + 90 * 3 + 900 * 4);
        assert_int_equal(fst_aggregate(numbers, &none, add_halves, add_doubles, &total), 0);
        assert_true(total == 999.0 * 1000 / 4);
        double doubles[] = {1, 4.25, 4.75, 5, 100};
        assert_int_equal(fst_aggregate(fst_parallelize_n(*state, doubles, 5, 3), &zero, FST_WITH(count_above, limit),
                                       fst_fn_sum, &n),
                         0);
        assert_int_equal(n, 3);
        fst_rdd *points = fst_map(numbers, make_point, FST_FIXED(sizeof(struct point)));
        assert_int_equal(fst_aggregate(points, &empty, take_point, join_tallies, &all), 0);
        assert_true(all.rows == 1000 && all.x == 499500 && all.y == -499500);
        fst_rdd *pairs = fst_map(numbers, make_pair, FST_PAIR(BYTES, F64));
        assert_int_equal(fst_aggregate(pairs, &empty, take_pair, join_tallies, &all), 0);
        assert_true(all.rows == 1000 && all.x == 3500 && all.z == 499500);
}

static void rejects_functions_that_do_not_fit(void **state)
{
        int64_t zero = 0, n = -1;
        double none = 0, x = -1;
        fst_rdd *numbers = fst_range_n(*state, 0, 10, 2);
        assert_refused(fst_aggregate(numbers, &zero, count_above, fst_fn_sum, &n), -EINVAL,
                       "does not take rows of I64 into I64");
        assert_refused(fst_aggregate(numbers, &none, add_halves, add, &x), -EINVAL,
                       "does not take rows of F64 into F64");
        assert_refused(fst_fold(numbers, &none, fst_fn_sum, &x), -EINVAL, "does not take rows of I64 into F64");
        assert_refused(fst_fold(numbers, &zero, fst_fn_sum, &x), -EINVAL, "gives I64, but the variable is for F64");
        assert_refused(fst_fold(numbers, &zero, refuse, &n), -EIO, "not with me");
        assert_int_equal(n, -1);
        assert_true(x == -1);
}

/* The combining function fails on the driver. */
static void reports_failure_of_combination_on_driver(void **state)
{
        int64_t zero = 0, n = -1;
        assert_refused(fst_aggregate(fst_range_n(*state, 0, 10, 2), &zero, add, refuse, &n), -EIO, "not with me");
        assert_int_equal(n, -1);
}

static int64_t fail_first(fst_task *task, int64_t so_far, int64_t row)
{
        if (row == 7 && fst_task_attempt(task) == 0)
                fst_fail(task, "once");
        return so_far + row;
}

static void counts_repeated_task_once(void **state)
{
        int64_t zero = 0, n;
        assert_int_equal(fst_aggregate(fst_range_n(*state, 0, 10, 4), &zero, fail_first, add, &n), 0);
        assert_int_equal(n, 45);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(applies_zero_in_each_partition_and_once_more),
                cmocka_unit_test(returns_zero_without_rows),
                cmocka_unit_test(combines_partitions_in_order),
                cmocka_unit_test(aggregates_every_type),
                cmocka_unit_test(rejects_functions_that_do_not_fit),
                cmocka_unit_test(reports_failure_of_combination_on_driver),
                cmocka_unit_test(counts_repeated_task_once),
        };
        const struct CMUnitTest in_processes[] = {
                cmocka_unit_test(applies_zero_in_each_partition_and_once_more),
                cmocka_unit_test(combines_partitions_in_order),
                cmocka_unit_test(aggregates_every_type),
        };
        /* Task processes must be started before the first thread. */
        int failed = cmocka_run_group_tests(in_processes, api_setup_workers, api_teardown);
        return failed + cmocka_run_group_tests(tests, api_setup_loud, api_teardown);
}
