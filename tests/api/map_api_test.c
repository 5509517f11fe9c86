/* Tests maps on the driver: count_by_key, count_by_value, collect_as_map, reduce_by_key_locally; and lookup. */
#include "base/mem.h"
#include "api/api_fixture.h"
#include "driver/events/app_status.h"
#include "driver/context.h"

struct place {
        int32_t x, y;
};

static int by_digit(fst_task *task, int64_t x, fst_out *out)
{
        fst_emit(out, x % 10, x);
        return 0;
}

static int by_text(fst_task *task, int64_t x, fst_out *out)
{
        char key[80], value[80];
        snprintf(key, sizeof(key), "a key that fits no register %lld", (long long)x % 100);
        snprintf(value, sizeof(value), "v%lld", (long long)x);
        fst_emit(out, key, value);
        return 0;
}

static int by_place(fst_task *task, int64_t x, fst_out *out)
{
        struct place p = {(int32_t)(x % 3), 7};
        fst_emit(out, &p, (double)x);
        return 0;
}

static int text_of(fst_task *task, int64_t x, fst_out *out)
{
        char text[40];
        snprintf(text, sizeof(text), "%lld", (long long)x % 7);
        fst_emit(out, text);
        return 0;
}

static int place_of(fst_task *task, int64_t x, fst_out *out)
{
        struct place p = {(int32_t)(x % 3), 7};
        fst_emit(out, &p);
        return 0;
}

static int64_t last(fst_task *task, int64_t a, int64_t b)
{
        return b;
}

static int place_key(fst_task *task, int64_t key, int partitions)
{
        return (int)(key % partitions);
}

/* ---------------------------------------------------------------------------------------------------------- tests */

static void counts_rows_by_key(void **state)
{
        fst_map *counts;
        int64_t n = -1;
        assert_int_equal(
                fst_count_by_key(fst_map(fst_range_n(*state, 0, 1005, 4), by_digit, FST_PAIR(I64, I64)), &counts), 0);
        assert_int_equal(fst_map_count(counts), 10);
        for (int key = 0; key < 10; key++) {
                assert_true(fst_map_get(counts, key, &n));
                assert_int_equal(n, key < 5 ? 101 : 100);
        }
        assert_false(fst_map_get(counts, 10, &n));
        assert_false(fst_map_get(counts, -1, &n));
        int64_t key, sum = 0;
        for (int again = 0; again < 2; again++) {
                fst_iter *rows = fst_map_rows(counts);
                while (fst_next(rows, &key, &n))
                        sum += n;
        }
        assert_int_equal(sum, 2010);
        assert_refused(fst_count_by_key(fst_range_n(*state, 0, 3, 1), &counts), -EINVAL, "count_by_key needs pairs");
}

static void counts_rows_by_value(void **state)
{
        fst_map *counts;
        int64_t n;
        fst_rdd *numbers = fst_range_n(*state, 0, 700, 5);
        assert_int_equal(fst_count_by_value(fst_map(numbers, text_of, FST_BYTES), &counts), 0);
        assert_int_equal(fst_map_count(counts), 7);
        assert_true(fst_map_get(counts, "6", &n) && n == 100);
        assert_true(fst_map_get(counts, fst_bytes_of("0"), &n) && n == 100);
        assert_false(fst_map_get(counts, "7", &n));
        assert_int_equal(fst_count_by_value(fst_map(numbers, place_of, FST_FIXED(sizeof(struct place))), &counts), 0);
        struct place there = {2, 7}, nowhere = {2, 8};
        assert_true(fst_map_get(counts, &there, &n) && n == 233);
        assert_false(fst_map_get(counts, &nowhere, &n));
        double doubles[] = {0.0, -0.0, 1, __builtin_nan(""), -__builtin_nan(""), 1};
        assert_int_equal(fst_count_by_value(fst_parallelize_n(*state, doubles, 6, 3), &counts), 0);
        assert_int_equal(fst_map_count(counts), 3);
        assert_true(fst_map_get(counts, 0.0, &n) && n == 2);
        assert_true(fst_map_get(counts, __builtin_nan(""), &n) && n == 2);
        assert_int_equal(fst_count_by_value(fst_range_n(*state, 5, 5, 2), &counts), 0);
        assert_int_equal(fst_map_count(counts), 0);
        assert_false(fst_map_get(counts, 5, &n));
        assert_false(fst_next(fst_map_rows(counts), &n, &n));
        assert_refused(fst_count_by_value(fst_map(numbers, by_digit, FST_PAIR(I64, I64)), &counts), -EINVAL,
                       "does not count pairs");
}

static void collect_as_map_keeps_the_last_value(void **state)
{
        fst_map *map;
        int64_t value;
        fst_bytes text;
        assert_int_equal(
                fst_collect_as_map(fst_map(fst_range_n(*state, 0, 1000, 7), by_digit, FST_PAIR(I64, I64)), &map), 0);
        assert_int_equal(fst_map_count(map), 10);
        for (int key = 0; key < 10; key++)
                assert_true(fst_map_get(map, key, &value) && value == 990 + key);
        assert_int_equal(
                fst_collect_as_map(fst_map(fst_range_n(*state, 0, 50000, 3), by_text, FST_PAIR(BYTES, BYTES)), &map),
                0);
        assert_int_equal(fst_map_count(map), 100);
        assert_true(fst_map_get(map, "a key that fits no register 42", &text));
        assert_true(fst_bytes_equal(text, fst_bytes_of("v49942")));
        struct place there = {1, 7};
        double x;
        assert_int_equal(fst_collect_as_map(fst_map(fst_range_n(*state, 0, 10, 3), by_place,
                                                    fst_type_pair(FST_FIXED(sizeof(struct place)), FST_F64)),
                                            &map),
                         0);
        assert_true(fst_map_get(map, &there, &x) && x == 7);
}

static bool get_wrongly(fst_map *map, int which)
{
        double x;
        int64_t n;
        return which ? fst_map_get(map, 1, &x) : fst_map_get(map, "1", &n);
}

static void rejects_maps_of_other_types(void **state)
{
        fst_map *map;
        assert_int_equal(fst_collect_as_map(fst_map(fst_range_n(*state, 0, 10, 1), by_digit, FST_PAIR(I64, I64)), &map),
                         0);
        assert_refused(get_wrongly(map, 0), false, "the keys of PAIR(I64, I64) are not BYTES");
        assert_refused(get_wrongly(map, 1), false, "gives I64, but the variable is for F64");
}

static void reduces_values_in_order(void **state)
{
        fst_map *map;
        int64_t value;
        fst_rdd *pairs = fst_map(fst_range_n(*state, 0, 1000, 7), by_digit, FST_PAIR(I64, I64));
        assert_int_equal(fst_reduce_by_key_locally(pairs, fst_fn_sum, &map), 0);
        assert_int_equal(fst_map_count(map), 10);
        for (int key = 0; key < 10; key++)
                assert_true(fst_map_get(map, key, &value) && value == 49500 + 100 * key);
        for (int i = 0; i < 5; i++) {
                assert_int_equal(fst_reduce_by_key_locally(pairs, last, &map), 0);
                for (int key = 0; key < 10; key++)
                        assert_true(fst_map_get(map, key, &value) && value == 990 + key);
        }
        assert_int_equal(fst_reduce_by_key_locally(fst_map(fst_range_n(*state, 0, 0, 2), by_digit, FST_PAIR(I64, I64)),
                                                   fst_fn_sum, &map),
                         0);
        assert_int_equal(fst_map_count(map), 0);
        assert_refused(fst_reduce_by_key_locally(fst_range_n(*state, 0, 3, 1), fst_fn_sum, &map), -EINVAL, "needs pairs");
}

/* ---------------------------------------------------------------------------------------------------------- lookup */

static int64_t jobs_tasks(fst_context *sc, int job)
{
        struct job_status status;
        while (!app_status_job(sc->app_status, job, &status) || status.state == JOB_RUNNING)
                usleep(1000);
        return status.tasks - status.skipped_tasks;
}

static void check_values(fst_rdd *pairs, int64_t key, int64_t first, int64_t step, int n)
{
        fst_iter *values;
        int64_t x;
        assert_int_equal(fst_lookup(pairs, key, &values), 0);
        for (int i = 0; i < n; i++) {
                assert_true(fst_next(values, &x));
                assert_int_equal(x, first + i * step);
        }
        assert_false(fst_next(values, &x));
}

/* "lookup" of PairRDDFunctionsSuite, for every kind of key. */
static void looks_up_values_of_a_key(void **state)
{
        fst_iter *values;
        fst_bytes text;
        double x;
        fst_rdd *pairs = fst_map(fst_range_n(*state, 0, 100, 7), by_digit, FST_PAIR(I64, I64));
        check_values(pairs, 3, 3, 10, 10);
        check_values(pairs, 11, 0, 0, 0);
        assert_int_equal(fst_lookup(fst_map(fst_range_n(*state, 0, 10, 2), by_text, FST_PAIR(BYTES, BYTES)),
                                    "a key that fits no register 4", &values),
                         0);
        assert_true(fst_next(values, &text) && fst_bytes_equal(text, fst_bytes_of("v4")));
        assert_false(fst_next(values, &text));
        struct place there = {1, 7};
        fst_rdd *places = fst_map(fst_range_n(*state, 0, 6, 2), by_place,
                                  fst_type_pair(FST_FIXED(sizeof(struct place)), FST_F64));
        assert_int_equal(fst_lookup(places, &there, &values), 0);
        assert_true(fst_next(values, &x) && x == 1 && fst_next(values, &x) && x == 4 && !fst_next(values, &x));
        assert_refused(fst_lookup(pairs, "3", &values), -EINVAL, "the keys of PAIR(I64, I64) are not BYTES");
        assert_refused(fst_lookup(fst_range_n(*state, 0, 6, 2), 3, &values), -EINVAL, "lookup needs pairs");
}

static void looks_up_in_one_partition(void **state)
{
        fst_context *sc = api_context("local[2]", "spark.log.level", "OFF", NULL);
        fst_rdd *pairs = fst_map(fst_range_n(sc, 0, 100, 3), by_digit, FST_PAIR(I64, I64));
        fst_rdd *hashed = fst_partition_by(pairs, 5);
        check_values(hashed, 4, 4, 10, 10);
        assert_int_equal(jobs_tasks(sc, 0), 3 + 1);
        check_values(fst_partition_by_function(pairs, 5, place_key), 4, 4, 10, 10);
        assert_int_equal(jobs_tasks(sc, 1), 3 + 1);
        check_values(fst_sort_by_key_n(pairs, FST_ASCENDING, 4), 4, 4, 10, 10);
        assert_int_equal(jobs_tasks(sc, 2), 3); /* the sample */
        assert_int_equal(jobs_tasks(sc, 3), 3 + 1);
        check_values(pairs, 4, 4, 10, 10);
        assert_int_equal(jobs_tasks(sc, 4), 3);
        assert_int_equal(fst_context_stop(sc), 0);
}

int main(void)
{
        const struct CMUnitTest in_processes[] = {
                cmocka_unit_test(counts_rows_by_key),
                cmocka_unit_test(reduces_values_in_order),
                cmocka_unit_test(looks_up_values_of_a_key),
        };
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(counts_rows_by_key),    cmocka_unit_test(counts_rows_by_value),
                cmocka_unit_test(collect_as_map_keeps_the_last_value), cmocka_unit_test(rejects_maps_of_other_types),
                cmocka_unit_test(reduces_values_in_order),  cmocka_unit_test(looks_up_values_of_a_key),
        };
        const struct CMUnitTest own_context[] = {cmocka_unit_test(looks_up_in_one_partition)};
        /*
         * Task processes must be started before the first thread.
         *
         */
        int failed = cmocka_run_group_tests(in_processes, api_setup_workers, api_teardown);
        failed += cmocka_run_group_tests(tests, api_setup_loud, api_teardown);
        return failed + cmocka_run_group_tests(own_context, NULL, NULL);
}
