/* Tests operators by key through the public interface, here and with lineage from the wire: results, numbers of
 * partitions, and shuffles. Cases follow Spark's PairRDDFunctionsSuite. */
#include "api/pair_fixture.h"

#include "rdd/partitioner.h"

#include <math.h>

/* -------------------------------------------------------------------------------------------- keys, values, key_by */

static void separates_keys_and_values(void **state)
{
        fst_context *sc = *state;
        fst_rdd *pairs = PAIRS(sc, 2, 1001, 2002, 1003);
        EXPECT(fst_keys(pairs), 1, 1, 2);
        EXPECT(fst_values(pairs), 1, 2, 3);
        assert_null(fst_keys(fst_partition_by(pairs, 3))->partitioner);
        assert_refused(fst_count(fst_keys(fst_range(sc, 0, 1)), &(int64_t){0}), -EINVAL, "keys needs pairs");
        assert_refused(fst_count(fst_values(fst_range(sc, 0, 1)), &(int64_t){0}), -EINVAL, "values needs pairs");
}

static int64_t last_digit(fst_task *task, int64_t x)
{
        return x % 10;
}

static int64_t value_of(fst_task *task, int64_t key, int64_t value)
{
        return value;
}

/* a key, and a pair in bytes */
static int unpack(fst_task *task, int64_t key, fst_bytes row, fst_out *out)
{
        int64_t k, v;
        for (fst_list list = fst_list_of(row, FST_PAIR(I64, I64)); fst_list_next(&list, &k, &v);)
                fst_emit(out, key * 1000000 + k * 1000 + v);
        return 0;
}

static void key_by_computed_keys(void **state)
{
        fst_context *sc = *state;
        EXPECT(folded(fst_key_by(fst_range_n(sc, 8, 12, 2), last_digit, FST_I64)), 10, 1011, 8008, 9009);
        fst_rdd *pairs = PAIRS(sc, 2, 1001, 2002);
        fst_rdd *keyed = fst_key_by(pairs, value_of, FST_I64);
        assert_int_equal(fst_rdd_type(keyed).value, FST_KIND_BYTES);
        EXPECT(fst_flat_map(keyed, unpack, FST_I64), 1001001, 2002002);
}

static int up_to(fst_task *task, int64_t value, fst_out *out)
{
        for (int64_t i = 0; i < value; i++)
                fst_emit(out, i);
        return 0;
}

static int text_up_to(fst_task *task, fst_bytes value, fst_out *out)
{
        for (size_t i = 0; i < value.len; i++)
                fst_emit(out, ((fst_bytes){value.data + i, value.len - i}));
        return 0;
}

static void flat_maps_values(void **state)
{
        fst_context *sc = *state;
        fst_rdd *pairs = fst_partition_by(PAIRS(sc, 2, 1002, 2000, 3003), 3);
        fst_rdd *flat = fst_flat_map_values(pairs, up_to, FST_I64);
        EXPECT(folded(flat), 1000, 1001, 3000, 3001, 3002);
        assert_ptr_equal(flat->partitioner, pairs->partitioner);

        /* More than a batch from one value, and bytes that point into the row. */
        int64_t n;
        assert_int_equal(fst_count(fst_flat_map_values(PAIRS(sc, 1, 5999, 5999, 6999), up_to, FST_I64), &n), 0);
        assert_int_equal(n, 3 * 999);
        fst_rdd *texts = fst_map(fst_range_n(sc, 100, 3100, 3), to_texts, FST_PAIR(BYTES, BYTES));
        fst_rdd *tails = fst_flat_map_values(texts, text_up_to, FST_BYTES);
        int64_t total = 0, expected = 0;
        assert_int_equal(fst_reduce(fst_map(tails, check_texts, FST_I64), fst_fn_sum, &total), 0);
        for (int64_t x = 100; x < 3100; x++)
                for (int64_t ten = 10; ten <= 10000; ten *= 10)
                        expected += ten / 10 <= x ? x % ten : 0;
        assert_int_equal(total, expected);
        assert_refused(fst_count(fst_flat_map_values(pairs, text_up_to, FST_BYTES), &n), -EINVAL,
                       "takes BYTES, but the values are I64");
        assert_refused(fst_count(fst_flat_map_values(pairs, text_length, FST_I64), &n), -EINVAL,
                       "is not a function that flat_map_values can call");
}

/* ----------------------------------------------------------------------------------------------------- outer joins */

static int left_digits(fst_task *task, int64_t key, int64_t l, const int64_t *r, fst_out *out)
{
        fst_emit(out, key * 10000 + l * 100 + (r ? *r : 99));
        return 0;
}

static int right_digits(fst_task *task, int64_t key, const int64_t *l, int64_t r, fst_out *out)
{
        fst_emit(out, key * 10000 + (l ? *l : 99) * 100 + r);
        return 0;
}

static int full_digits(fst_task *task, int64_t key, const int64_t *l, const int64_t *r, fst_out *out)
{
        fst_emit(out, key * 10000 + (l ? *l : 99) * 100 + (r ? *r : 99));
        return 0;
}

static void joins_with_missing_sides(void **state)
{
        fst_context *sc = *state;
        fst_rdd *a = PAIRS(sc, 2, 1001, 1002, 2001, 3001), *b = PAIRS(sc, 2, 1011, 2012, 2013, 4014);
        EXPECT(fst_left_outer_join(a, b, left_digits, FST_I64), 10111, 10211, 20112, 20113, 30199);
        EXPECT(fst_right_outer_join(a, b, right_digits, FST_I64), 10111, 10211, 20112, 20113, 49914);
        EXPECT(fst_full_outer_join(a, b, full_digits, FST_I64), 10111, 10211, 20112, 20113, 30199, 49914);
        EXPECT(fst_full_outer_join_n(a, b, full_digits, FST_I64, 9), 10111, 10211, 20112, 20113, 30199, 49914);
        fst_rdd *none = fst_filter(a, never);
        EXPECT(fst_left_outer_join(a, none, left_digits, FST_I64), 10199, 10299, 20199, 30199);
        expect_none(fst_right_outer_join(a, none, right_digits, FST_I64));
        EXPECT(fst_full_outer_join(none, b, full_digits, FST_I64), 19911, 29912, 29913, 49914);
        assert_refused(fst_count(fst_left_outer_join(a, b, right_digits, FST_I64), &(int64_t){0}), -EINVAL,
                       "in left_outer_join it is never missing");
}

/* -------------------------------------------------------------------------------------------------- rows that stay */

static bool is_short(fst_task *task, fst_bytes key, fst_bytes value)
{
        return value.len == 1;
}

static void subtracts_by_key(void **state)
{
        fst_context *sc = *state;
        fst_rdd *a = PAIRS(sc, 2, 1001, 2001, 2002, 3001, 4001), *b = PAIRS(sc, 20, 2007, 4008, 4009, 5001);
        fst_rdd *left = fst_subtract_by_key(a, b);
        EXPECT(folded(left), 1001, 3001);
        assert_int_equal(fst_rdd_partitions(left), 2); /* as the left side, independent of the right side */
        assert_non_null(left->partitioner);
        EXPECT(folded(fst_subtract_by_key_n(a, b, 5)), 1001, 3001);

        /* A left side with a partitioner is not shuffled, and the result keeps the partitioner. */
        fst_rdd *placed = fst_partition_by(a, 7), *narrow = fst_subtract_by_key(placed, b);
        EXPECT(folded(narrow), 1001, 3001);
        assert_int_equal(shuffles_until(narrow, placed), 0);
        assert_int_equal(fst_rdd_partitions(narrow), 7);
        /* The type of the values on the right does not matter. */
        fst_rdd *texts = fst_map(fst_range(sc, 100, 107), to_texts, FST_PAIR(BYTES, BYTES));
        fst_rdd *digits =
                fst_map_values(fst_filter(fst_map(fst_range(sc, 0, 3), to_texts, FST_PAIR(BYTES, BYTES)), is_short),
                               text_length, FST_I64);
        int64_t n;
        assert_int_equal(fst_count(fst_subtract_by_key(texts, digits), &n), 0);
        assert_int_equal(n, 4);
}

static int64_t halve(fst_task *task, int64_t x)
{
        return x / 2;
}

static double to_f64(fst_task *task, int64_t x)
{
        return x % 3 == 0 ? NAN : x % 3 == 1 ? 0.0 : -0.0;
}

static void compares_whole_rows(void **state)
{
        fst_context *sc = *state;
        fst_rdd *twice = fst_map(fst_range_n(sc, 0, 12, 3), halve, FST_I64);
        EXPECT(fst_distinct(twice), 0, 1, 2, 3, 4, 5);
        assert_int_equal(fst_rdd_partitions(fst_distinct(twice)), 3);
        EXPECT(fst_distinct_n(twice, 10), 0, 1, 2, 3, 4, 5);
        assert_int_equal(fst_rdd_partitions(fst_distinct_n(twice, 10)), 10);
        EXPECT(fst_subtract(twice, fst_range_n(sc, 3, 100, 9)), 0, 0, 1, 1, 2, 2);
        assert_int_equal(fst_rdd_partitions(fst_subtract(twice, fst_range_n(sc, 3, 100, 9))), 3);
        EXPECT(fst_intersection(twice, fst_range_n(sc, 3, 100, 9)), 3, 4, 5);
        assert_int_equal(fst_rdd_partitions(fst_intersection(twice, fst_range_n(sc, 3, 100, 9))), 9);
        assert_null(fst_distinct(twice)->partitioner);
        expect_none(fst_subtract(twice, twice));
        EXPECT(fst_intersection(twice, twice), 0, 1, 2, 3, 4, 5);

        /* All NaNs are one key, and both zeros are. */
        int64_t n;
        assert_int_equal(fst_count(fst_distinct(fst_map(twice, to_f64, FST_F64)), &n), 0);
        assert_int_equal(n, 2);
        assert_refused(fst_count(fst_subtract(twice, fst_map(twice, to_f64, FST_F64)), &n), -EINVAL,
                       "subtract needs RDDs of one type, but the rows are I64 and F64");
        assert_refused(fst_count(fst_distinct_n(twice, -1), &n), -EINVAL, "cannot be negative");
}

static void compares_whole_pairs(void **state)
{
        fst_context *sc = *state;
        fst_rdd *a = PAIRS(sc, 3, 1001, 1002, 1001, 2001, 2001), *b = PAIRS(sc, 2, 2001, 1002, 3001);
        EXPECT(folded(fst_distinct(a)), 1001, 1002, 2001);
        EXPECT(folded(fst_subtract(a, b)), 1001, 1001);
        EXPECT(folded(fst_intersection(a, b)), 1002, 2001);

        /* Pairs with a partitioner have equal ones in one partition. */
        fst_rdd *placed = fst_partition_by(a, 4), *distinct = fst_distinct(placed);
        EXPECT(folded(distinct), 1001, 1002, 2001);
        assert_int_equal(shuffles_until(distinct, placed), 0);
        assert_ptr_equal(distinct->partitioner, placed->partitioner);
        assert_int_equal(shuffles_until(fst_distinct_n(placed, 5), placed), 1);

        int64_t n;
        fst_rdd *texts = fst_map(fst_range(sc, 0, 300), to_texts, FST_PAIR(BYTES, BYTES));
        fst_rdd *more = fst_map(fst_range(sc, 290, 310), to_texts, FST_PAIR(BYTES, BYTES));
        assert_int_equal(fst_count(fst_distinct(fst_union(texts, more)), &n), 0);
        assert_int_equal(n, 310);
        assert_int_equal(fst_count(fst_intersection(texts, more), &n), 0);
        assert_int_equal(n, 10);
}

/* ----------------------------------------------------------------------------------------------- where keys belong */

static int same_key(fst_task *task, int64_t key, int64_t l, int64_t r, fst_out *out)
{
        fst_emit(out, key, l + r);
        return 0;
}

static int group_sum(fst_task *task, int64_t key, fst_iter *values, fst_out *out)
{
        int64_t total = 0, x;
        while (fst_next(values, &x))
                total += x;
        fst_emit(out, key, total);
        return 0;
}

static int as_they_come(fst_task *task, fst_iter *rows, fst_out *out)
{
        int64_t key, value;
        while (fst_next(rows, &key, &value))
                fst_emit(out, key, value);
        return fst_iter_status(rows);
}

static fst_rdd *texts_of(fst_context *sc)
{
        return fst_map(fst_range(sc, 0, 20), to_texts, FST_PAIR(BYTES, BYTES));
}

static int texts_counted(fst_task *task, fst_bytes key, fst_iter *values, fst_out *out)
{
        fst_bytes value;
        int64_t n = 0;
        while (fst_next(values, &value))
                n++;
        fst_emit(out, n);
        return 0;
}

static void preserved_partitioning_saves_a_shuffle(void **state)
{
        fst_context *sc = *state;
        fst_rdd *a = fst_partition_by(PAIRS(sc, 2, 1001, 2002), 4);
        fst_rdd *joined = fst_preserves_partitioning(fst_join(a, a, same_key, FST_PAIR(I64, I64)));
        fst_rdd *again = fst_reduce_by_key(joined, fst_fn_sum);
        EXPECT(folded(again), 1002, 2004);
        assert_int_equal(shuffles_until(again, a), 0);
        assert_int_equal(shuffles_until(fst_reduce_by_key(fst_join(a, a, same_key, FST_PAIR(I64, I64)), fst_fn_sum), a),
                         1);

        fst_rdd *sums = fst_preserves_partitioning(fst_flat_map_groups(a, group_sum, FST_PAIR(I64, I64)));
        assert_ptr_equal(sums->partitioner, a->partitioner);
        fst_rdd *same = fst_preserves_partitioning(fst_map_partitions(a, as_they_come, FST_PAIR(I64, I64)));
        assert_ptr_equal(same->partitioner, a->partitioner);
        EXPECT(folded(fst_join(sums, same, same_key, FST_PAIR(I64, I64))), 1002, 2004);
        assert_int_equal(shuffles_until(fst_join(sums, same, same_key, FST_PAIR(I64, I64)), a), 0);

        assert_refused(fst_count(fst_preserves_partitioning(fst_map(a, fold, FST_I64)), &(int64_t){0}), -EINVAL,
                       "preserves_partitioning needs an operator whose function emits keys");
        assert_refused(fst_count(fst_preserves_partitioning(fst_flat_map_groups(fst_partition_by(texts_of(sc), 2),
                                                                                texts_counted, FST_I64)),
                                 &(int64_t){0}),
                       -EINVAL, "emits another key type");
}

/* Spark's rules for the choice of a partitioner, and for the number of partitions without one. */
static void chooses_partitioners_like_spark(void **state)
{
        fst_context *sc = *state;
        fst_rdd *few = PAIRS(sc, 3, 1001), *many = PAIRS(sc, 12, 1002), *huge = PAIRS(sc, 400, 1003);
        fst_rdd *placed = fst_partition_by(few, 5);
        struct mean none = {0};
        int64_t zero = 0;
        assert_int_equal(fst_rdd_partitions(fst_group_by_key(many)), 12);
        assert_int_equal(fst_rdd_partitions(fst_cogroup(few, many, both_sides, FST_I64)), 12);
        /* An existing one if it has at least a tenth of the partitions. Otherwise as many as the largest. */
        assert_int_equal(fst_rdd_partitions(fst_cogroup(placed, many, both_sides, FST_I64)), 5);
        assert_int_equal(fst_rdd_partitions(fst_cogroup(placed, huge, both_sides, FST_I64)), 400);
        fst_rdd *three[] = {few, placed, many};
        assert_int_equal(fst_rdd_partitions(fst_cogroup_all(sc, three, 3, three_sides, FST_I64)), 5);
        fst_rdd *larger = fst_partition_by(many, 7);
        assert_int_equal(fst_rdd_partitions(fst_cogroup(placed, larger, both_sides, FST_I64)), 7);
        /* An RDD with a partitioner, hash or range, is not shuffled. */
        fst_rdd *sorted = fst_sort_by_key_n(many, FST_ASCENDING, 4);
        fst_rdd *by_key[] = {
                fst_reduce_by_key(placed, fst_fn_sum), fst_fold_by_key(placed, &zero, fst_fn_sum),
                fst_group_by_key(placed),           fst_aggregate_by_key(placed, &none, add_to_mean, both_means),
                fst_subtract_by_key(placed, few),   fst_reduce_by_key(sorted, fst_fn_sum),
                fst_group_by_key(sorted),
        };
        for (size_t i = 0; i < ARRAY_SIZE(by_key); i++) {
                const fst_rdd *from = i < 5 ? placed : sorted;
                assert_int_equal(shuffles_until(by_key[i], from), 0);
                assert_ptr_equal(by_key[i]->partitioner, from->partitioner);
        }
        EXPECT(folded(by_key[5]), 1002);
        assert_int_equal(shuffles_until(fst_reduce_by_key_n(placed, fst_fn_sum, 6), placed), 1);
        assert_refused(fst_count(fst_group_by_key_n(few, -1), &zero), -EINVAL,
                       "Number of partitions cannot be negative");
}

static void applies_default_parallelism(void **state)
{
        fst_context *sc = api_context("local[2]", "spark.default.parallelism", "4", NULL);
        fst_rdd *pairs = PAIRS(sc, 9, 1001, 2002);
        fst_rdd *two = fst_partition_by(pairs, 2);
        assert_int_equal(fst_rdd_partitions(fst_group_by_key(pairs)), 4);
        assert_int_equal(fst_rdd_partitions(fst_reduce_by_key(pairs, fst_fn_sum)), 4);
        assert_int_equal(fst_rdd_partitions(fst_cogroup(pairs, two, both_sides, FST_I64)), 2);
        assert_int_equal(fst_rdd_partitions(fst_intersection(fst_keys(pairs), fst_keys(two))), 4);
        assert_int_equal(fst_rdd_partitions(fst_distinct(pairs)), 9);
        assert_int_equal(fst_rdd_partitions(fst_sort_by_key(pairs, FST_ASCENDING)), 9);
        assert_int_equal(fst_rdd_partitions(fst_sort_by(fst_keys(pairs), fst_fn_identity, FST_I64, FST_DESCENDING)), 9);
        assert_int_equal(fst_rdd_partitions(fst_subtract(pairs, two)), 9);
        assert_int_equal(fst_rdd_partitions(fst_subtract(two, pairs)), 2);
        assert_int_equal(fst_rdd_partitions(fst_subtract_by_key(pairs, two)), 9);
        EXPECT(folded(fst_join(pairs, two, same_key, FST_PAIR(I64, I64))), 1002, 2004);
        fst_context_stop(sc);
}

int main(void)
{
        const struct CMUnitTest cases[] = {
                cmocka_unit_test_setup_teardown(separates_keys_and_values, loud_setup, api_teardown),
                cmocka_unit_test_setup_teardown(key_by_computed_keys, loud_setup, api_teardown),
                cmocka_unit_test_setup_teardown(flat_maps_values, loud_setup, api_teardown),
                cmocka_unit_test_setup_teardown(joins_with_missing_sides, loud_setup, api_teardown),
                cmocka_unit_test_setup_teardown(subtracts_by_key, loud_setup, api_teardown),
                cmocka_unit_test_setup_teardown(compares_whole_rows, loud_setup, api_teardown),
                cmocka_unit_test_setup_teardown(compares_whole_pairs, loud_setup, api_teardown),
                cmocka_unit_test_setup_teardown(preserved_partitioning_saves_a_shuffle, loud_setup, api_teardown),
        };
        const struct CMUnitTest more[] = {
                cmocka_unit_test_setup_teardown(chooses_partitioners_like_spark, loud_setup, api_teardown),
                cmocka_unit_test(applies_default_parallelism),
        };
        return pair_cases_run(cases, ARRAY_SIZE(cases), more, ARRAY_SIZE(more));
}
