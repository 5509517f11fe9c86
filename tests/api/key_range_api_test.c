/* Compares filter_by_range with filter for each kind of key, and checks that only partitions with such keys are
 * computed. */
#include "base/mem.h"
#include "api/api_fixture.h"

#include <math.h>

enum { ROWS = 400 };

static int64_t scattered(int64_t x)
{
        return (x * 7919) % ROWS;
}

static int as_pair(fst_task *task, int64_t x, fst_out *out)
{
        fst_emit(out, scattered(x), x);
        return 0;
}

static int by_double(fst_task *task, int64_t x, fst_out *out)
{
        fst_emit(out, x == 0 ? NAN : x == 1 ? -0.0 : x == 2 ? 0.0 : (double)scattered(x) / 2 - 100, x);
        return 0;
}

static int by_text(fst_task *task, int64_t x, fst_out *out)
{
        char text[64];
        snprintf(text, sizeof(text), "a common beginning %03d", (int)scattered(x));
        fst_emit(out, text, x);
        return 0;
}

static int by_nothing(fst_task *task, int64_t x, fst_out *out)
{
        fst_emit(out, "", x);
        return 0;
}

struct place {
        unsigned char high, low, rest;
};

static int by_place(fst_task *task, int64_t x, fst_out *out)
{
        struct place place = {(unsigned char)(scattered(x) >> 8), (unsigned char)scattered(x), 1};
        fst_emit(out, &place, x);
        return 0;
}

/* Counts the computed rows in the accumulator. */
static int64_t counted(fst_task *task, int64_t value)
{
        const fst_accumulator *computed = fst_captured(task);
        fst_accumulate(task, *computed, 1);
        return value;
}

static int64_t count(fst_rdd *rdd)
{
        int64_t n = -1;
        assert_int_equal(fst_count(rdd, &n), 0);
        return n;
}

static fst_rdd *pairs(fst_context *sc)
{
        return fst_map(fst_range_n(sc, 0, ROWS, 4), as_pair, FST_PAIR(I64, I64));
}

static void filters_keys_by_bounds(void **state)
{
        fst_rdd *rdd = pairs(*state);
        fst_iter *rows;
        int64_t key, value, next = 100;
        assert_int_equal(count(fst_filter_by_range(rdd, 100, 150)), 51);
        assert_int_equal(fst_collect(fst_sort_by_key(fst_filter_by_range(rdd, 100, 150), FST_ASCENDING), &rows), 0);
        while (fst_next(rows, &key, &value)) {
                assert_int_equal(key, next++);
                assert_int_equal(scattered(value), key);
        }
        assert_int_equal(next, 151);
        assert_int_equal(count(fst_filter_by_range(rdd, 390, 1000)), 10);
        assert_int_equal(count(fst_filter_by_range(rdd, 150, 100)), 0);
        assert_int_equal(count(fst_filter_by_range(rdd, INT64_MIN, INT64_MAX)), ROWS);
        assert_int_equal(fst_rdd_partitions(fst_filter_by_range(rdd, 1, 2)), 4);
}

static void compares_doubles_in_sort_order(void **state)
{
        fst_rdd *rdd = fst_map(fst_range_n(*state, 0, ROWS, 4), by_double, FST_PAIR(F64, I64));
        fst_rdd *sorted = fst_sort_by_key_n(rdd, FST_ASCENDING, 7);
        fst_rdd *both[] = {rdd, sorted};
        for (int i = 0; i < 2; i++) {
                int64_t least = count(fst_filter_by_range(both[i], -INFINITY, -0.5));
                assert_int_equal(count(fst_filter_by_range(both[i], -INFINITY, -0.0)), least + 1);
                assert_int_equal(count(fst_filter_by_range(both[i], -0.0, -0.0)), 1);
                assert_int_equal(count(fst_filter_by_range(both[i], NAN, NAN)), 1);
                assert_int_equal(count(fst_filter_by_range(both[i], -INFINITY, INFINITY)), ROWS - 1);
                assert_int_equal(count(fst_filter_by_range(both[i], -INFINITY, NAN)), ROWS);
        }
}

static void compares_text_and_structs_by_bytes(void **state)
{
        fst_rdd *named = fst_map(fst_range_n(*state, 0, ROWS, 4), by_text, FST_PAIR(BYTES, I64));
        fst_rdd *placed =
                fst_map(fst_range_n(*state, 0, ROWS, 4), by_place, FST_PAIR(FIXED(sizeof(struct place)), I64));
        fst_rdd *nameless = fst_map(fst_range_n(*state, 0, ROWS, 4), by_nothing, FST_PAIR(BYTES, I64));
        assert_int_equal(count(fst_filter_by_range(nameless, "", "")), ROWS);
        struct place low = {0, 250, 0}, high = {1, 9, 1};
        for (int i = 0; i < 3; i++) {
                assert_int_equal(count(fst_filter_by_range(named, "a common beginning 017", "a common beginning 02")),
                                 3);
                assert_int_equal(count(fst_filter_by_range(named, "", "b")), ROWS);
                assert_int_equal(count(fst_filter_by_range(named, "b", "c")), 0);
                assert_int_equal(count(fst_filter_by_range(placed, &low, &high)), 16);
                named = fst_sort_by_key_n(named, i ? FST_DESCENDING : FST_ASCENDING, 5);
                placed = fst_sort_by_key_n(placed, i ? FST_DESCENDING : FST_ASCENDING, 5);
        }
}

/* The number of rows of @ranges that are computed to find the @found rows with keys @low … @high. */
static int64_t computed_for(fst_context *sc, fst_rdd *ranges, int64_t low, int64_t high, int64_t found)
{
        fst_accumulator computed = fst_accumulator_i64(sc, NULL);
        fst_rdd *values = fst_map_values(ranges, FST_WITH(counted, computed), FST_I64); /* keeps the partitioner */
        fst_rdd *some = fst_filter_by_range(values, low, high);
        assert_int_equal(count(some), found);
        assert_int_equal(fst_rdd_partitions(some), fst_rdd_partitions(ranges));
        return fst_accumulator_sum_i64(sc, computed);
}

static void skips_partitions_outside_the_range(void **state)
{
        fst_rdd *ascending = fst_sort_by_key_n(pairs(*state), FST_ASCENDING, 8);
        fst_rdd *descending = fst_partition_by_range(pairs(*state), 8, FST_DESCENDING);
        fst_rdd *hashed = fst_partition_by(pairs(*state), 8);
        fst_rdd *placed[] = {ascending, descending};
        for (int i = 0; i < 2; i++) {
                int64_t few = computed_for(*state, placed[i], 100, 110, 11);
                assert_in_range(few, 11, ROWS / 2);
                assert_in_range(computed_for(*state, placed[i], 390, 1000, 10), 10, ROWS / 2);
                assert_in_range(computed_for(*state, placed[i], -5, 250, 251), 251, ROWS - 1);
                assert_int_equal(computed_for(*state, placed[i], 0, ROWS, ROWS), ROWS);
                assert_in_range(computed_for(*state, placed[i], 50, 49, 0), 0, ROWS / 2);
        }
        assert_int_equal(computed_for(*state, hashed, 100, 110, 11), ROWS);
        assert_int_equal(computed_for(*state, pairs(*state), 100, 110, 11), ROWS);
}

/* It keeps its partitioner: operators by key do not shuffle it. */
static void filter_keeps_the_partitioner(void **state)
{
        fst_rdd *some = fst_filter_by_range(fst_partition_by(pairs(*state), 3), 7, 70);
        const char *lineage = fst_to_debug_string(fst_reduce_by_key_n(some, fst_fn_sum, 3));
        assert_non_null(strstr(lineage, "filter_by_range"));
        assert_null(strstr(strstr(lineage, "+-(") + 1, "+-("));
}

static void rejects_bounds_of_another_type(void **state)
{
        int64_t n;
        assert_refused(fst_count(fst_filter_by_range(pairs(*state), 1.0, 2), &n), -EINVAL,
                       "the keys of PAIR(I64, I64) are not F64");
        assert_refused(fst_count(fst_filter_by_range(pairs(*state), 1, "2"), &n), -EINVAL, "are not BYTES");
        assert_refused(fst_count(fst_filter_by_range(fst_keys(pairs(*state)), 1, 2), &n), -EINVAL,
                       "filter_by_range needs pairs, but the rows are I64");
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(filters_keys_by_bounds),
                cmocka_unit_test(compares_doubles_in_sort_order),
                cmocka_unit_test(compares_text_and_structs_by_bytes),
                cmocka_unit_test(skips_partitions_outside_the_range),
                cmocka_unit_test(filter_keeps_the_partitioner),
                cmocka_unit_test(rejects_bounds_of_another_type),
        };
        int r = cmocka_run_group_tests_name("in worker processes", tests, api_setup_workers, api_teardown);
        return cmocka_run_group_tests_name("in threads", tests, api_setup_loud, api_teardown) + r;
}
