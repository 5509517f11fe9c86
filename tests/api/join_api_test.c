/* Tests union and join through the public interface: which sides are shuffled, the order of rows, keys whose rows
 * exceed memory, and numbers that are equal but not identical. */
#include "base/mem.h"
#include "api/api_fixture.h"
#include "rdd/partitioner.h"
#include "rdd/rdd.h"

#include <math.h>

/* ---------------------------------------------------------------------------------------------------- functions */

struct keys {
        int64_t n;
};

/* x → (x mod n, x) */
static int by_modulus(fst_task *task, int64_t x, fst_out *out)
{
        const struct keys *keys = fst_captured(task);
        fst_emit(out, x % keys->n, x);
        return 0;
}

/* Three digits each for the left and the right value. */
static int digits(fst_task *task, int64_t key, int64_t left, int64_t right, fst_out *out)
{
        fst_emit(out, key * 1000000 + left * 1000 + right);
        return 0;
}

static int products(fst_task *task, int64_t key, int64_t left, int64_t right, fst_out *out)
{
        fst_emit(out, key, left * right);
        return 0;
}

static int sums_of_f64(fst_task *task, double key, double left, double right, fst_out *out)
{
        fst_emit(out, left + right);
        return 0;
}

static int to_f64_pair(fst_task *task, int64_t x, fst_out *out)
{
        fst_emit(out, x % 3 == 0 ? 0.0 : x % 3 == 1 ? -0.0 : NAN, (double)x);
        return 0;
}

static fst_rdd *pairs_of(fst_context *sc, int64_t from, int64_t to, int64_t keys, int partitions)
{
        struct keys captured = {keys};
        return fst_map(fst_range_n(sc, from, to, partitions), FST_WITH(by_modulus, captured), FST_PAIR(I64, I64));
}

static size_t collect_i64(fst_rdd *rdd, int64_t *to, size_t room)
{
        fst_iter *rows;
        size_t n = 0;
        assert_int_equal(fst_collect(rdd, &rows), 0);
        for (int64_t x; fst_next(rows, &x); n++)
                if (n < room)
                        to[n] = x;
        return n;
}

static int shuffles_of(const fst_rdd *joined, const fst_rdd *left, const fst_rdd *right)
{
        fst_rdd **sides = joined->parents;
        return (sides[0] != left) + (sides[1] != right && sides[1] != sides[0]);
}

/* -------------------------------------------------------------------------------------------------------- union */

static void union_has_the_partitions_of_all(void **state)
{
        fst_context *sc = *state;
        fst_rdd *rdds[] = {fst_range_n(sc, 0, 3, 2), fst_range_n(sc, 3, 4, 3), fst_range_n(sc, 4, 10, 1)};
        fst_rdd *all = fst_union_all(sc, rdds, 3);
        int64_t got[10];
        assert_int_equal(fst_rdd_partitions(all), 6);
        assert_int_equal(collect_i64(all, got, 10), 10);
        for (int64_t i = 0; i < 10; i++)
                assert_int_equal(got[i], i);
        fst_rdd *twice = fst_union(all, all);
        assert_int_equal(fst_rdd_partitions(twice), 12);
        assert_int_equal(collect_i64(twice, got, 10), 20);
}

static void union_keeps_a_common_partitioner(void **state)
{
        fst_context *sc = *state;
        fst_rdd *a = fst_partition_by(pairs_of(sc, 0, 100, 10, 3), 4),
                *b = fst_partition_by(pairs_of(sc, 0, 50, 7, 2), 4);
        fst_rdd *placed = fst_union(a, b), *more = fst_union(a, fst_partition_by(b, 5));
        int64_t n;
        assert_int_equal(fst_rdd_partitions(placed), 4);
        assert_ptr_equal(placed->partitioner, a->partitioner);
        assert_int_equal(fst_count(placed, &n), 0);
        assert_int_equal(n, 150);
        assert_int_equal(fst_rdd_partitions(more), 9);
        assert_null(more->partitioner);
        assert_int_equal(fst_count(more, &n), 0);
        assert_int_equal(n, 150);
        assert_int_equal(fst_reduce_by_key_n(placed, fst_fn_sum, 4)->op, RDD_COMBINE);
}

static void unions_of_many_are_computed(void **state)
{
        fst_context *sc = *state;
        enum { MANY = 300 };
        fst_rdd *rdds[MANY];
        int64_t n;
        for (int i = 0; i < MANY; i++)
                rdds[i] = pairs_of(sc, i, i + 10, 3, 1);
        assert_int_equal(fst_count(fst_union_all(sc, rdds, MANY), &n), 0);
        assert_int_equal(n, 10 * MANY);
        assert_int_equal(fst_count(fst_coalesce(fst_union_all(sc, rdds, MANY), 3), &n), 0);
        assert_int_equal(n, 10 * MANY);
}

/* --------------------------------------------------------------------------------------------------------- join */

static void joins_all_pairs_of_rows(void **state)
{
        fst_context *sc = *state;
        /* keys 0 … 2 on the left, 0 … 3 on the right, in one partition */
        fst_rdd *rows = fst_join_n(pairs_of(sc, 0, 6, 3, 2), pairs_of(sc, 0, 8, 4, 3), digits, FST_I64, 1);
        static const int64_t expected[] = {0,       4,       3000,    3004,    1001001, 1001005,
                                           1004001, 1004005, 2002002, 2002006, 2005002, 2005006};
        int64_t got[12];
        assert_int_equal(collect_i64(fst_sort_by(rows, fst_fn_identity, FST_I64, FST_ASCENDING), got, 12), 12);
        assert_memory_equal(got, expected, sizeof(expected));
}

static void sides_that_are_placed_are_not_shuffled(void **state)
{
        fst_context *sc = *state;
        fst_rdd *left = fst_partition_by(pairs_of(sc, 0, 100, 10, 3), 4);
        fst_rdd *right = fst_partition_by(pairs_of(sc, 0, 50, 10, 2), 4), *loose = pairs_of(sc, 0, 50, 10, 2);
        fst_type type = FST_PAIR(I64, I64);
        fst_rdd *few = pairs_of(sc, 0, 50, 10, 5), *fewer = pairs_of(sc, 0, 50, 10, 39),
                *many = pairs_of(sc, 0, 50, 10, 40);
        struct {
                fst_rdd *left, *right;
                int wanted, shuffles, partitions, rows;
        } cases[] = {
                {left, right, 0, 0, 4, 500}, {left, loose, 0, 1, 4, 500},
                {loose, left, 0, 1, 4, 500}, {loose, loose, 0, 1, 2, 250}, /* one shuffle serves both sides */
                {loose, few, 0, 2, 5, 250},  {left, right, 4, 0, 4, 500},
                {left, right, 3, 2, 3, 500}, {left, fewer, 0, 1, 4, 500}, /* 4 partitions are more than a tenth of 39 */
                {left, many, 0, 2, 40, 500},
        };
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                fst_rdd *rdd = fst_join_n(cases[i].left, cases[i].right, products, type, cases[i].wanted);
                int64_t n = -1;
                assert_int_equal(shuffles_of(rdd, cases[i].left, cases[i].right), cases[i].shuffles);
                assert_int_equal(fst_rdd_partitions(rdd), cases[i].partitions);
                assert_int_equal(fst_count(rdd, &n), 0);
                assert_int_equal(n, cases[i].rows);
        }
}

static void joins_reuse_bounds_of_a_sorted_side(void **state)
{
        fst_context *sc = *state;
        fst_rdd *sorted = fst_sort_by_key_n(pairs_of(sc, 0, 1000, 100, 3), FST_DESCENDING, 5);
        fst_rdd *loose = pairs_of(sc, 0, 200, 50, 2);
        fst_rdd *joined = fst_join(loose, sorted, products, FST_PAIR(I64, I64));
        int64_t n;
        assert_int_equal(shuffles_of(joined, loose, sorted), 1);
        assert_ptr_equal(joined->parents[1], sorted);
        assert_ptr_equal(joined->parents[0]->shuffle.like, sorted);
        assert_int_equal(fst_count(fst_sort_by_key(joined, FST_ASCENDING), &n), 0);
        assert_int_equal(n, 50 * 4 * 10);
        /* An RDD that took over the bounds has the same partitioner. */
        fst_rdd *again = fst_join(joined->parents[0], sorted, products, FST_PAIR(I64, I64));
        assert_ptr_equal(again->parents[0], joined->parents[0]);
        assert_int_equal(fst_count(again, &n), 0);
        assert_int_equal(n, 50 * 4 * 10);
}

static void joins_zeros_and_nans_as_equal_keys(void **state)
{
        fst_context *sc = *state;
        fst_rdd *pairs = fst_map(fst_range_n(sc, 0, 30, 3), to_f64_pair, FST_PAIR(F64, F64)); /* 20 zeros, 10 NaNs */
        fst_rdd *sorted = fst_sort_by_key_n(pairs, FST_ASCENDING, 3);
        int64_t n;
        assert_int_equal(fst_count(fst_join(pairs, pairs, sums_of_f64, FST_F64), &n), 0);
        assert_int_equal(n, 20 * 20 + 10 * 10);
        assert_int_equal(fst_count(fst_join(sorted, pairs, sums_of_f64, FST_F64), &n), 0);
        assert_int_equal(n, 20 * 20 + 10 * 10);
}

static void joins_empty_sides(void **state)
{
        fst_context *sc = *state;
        fst_rdd *some = pairs_of(sc, 0, 10, 10, 2), *none = pairs_of(sc, 0, 0, 1, 2),
                *others = pairs_of(sc, 11, 12, 100, 1);
        int64_t n;
        assert_int_equal(fst_count(fst_join(some, none, digits, FST_I64), &n), 0);
        assert_int_equal(n, 0);
        assert_int_equal(fst_count(fst_join(none, some, digits, FST_I64), &n), 0);
        assert_int_equal(n, 0);
        assert_int_equal(fst_count(fst_join(some, others, digits, FST_I64), &n), 0);
        assert_int_equal(n, 0);
}

/* ------------------------------------------------------------------------------------------- more than memory */

#define PADDING 2000

static int pad(fst_task *task, int64_t x, fst_out *out)
{
        const struct keys *keys = fst_captured(task);
        char text[PADDING];
        memset(text, 'a' + (int)(x % 26), sizeof(text));
        memcpy(text, &x, sizeof(x));
        fst_emit(out, x % keys->n, ((fst_bytes){text, sizeof(text)}));
        return 0;
}

static int check_padding(fst_task *task, fst_bytes b, int64_t *x)
{
        memcpy(x, b.data, sizeof(*x));
        if (b.len != PADDING || b.data[PADDING - 1] != 'a' + (char)(*x % 26) || b.data[8] != b.data[PADDING - 1])
                return fst_fail(task, "damaged");
        return 0;
}

static int pair_up(fst_task *task, int64_t key, fst_bytes left, fst_bytes right, fst_out *out)
{
        int64_t a, b;
        if (check_padding(task, left, &a) || check_padding(task, right, &b))
                return -1;
        fst_emit(out, a * 1000000 + b);
        return 0;
}

/* Joins @left rows with @right rows for each of @keys. Both sides' rows of a key exceed a task's memory several times.
 * Checks the order of the result. */
static void join_large(const char *fraction, int64_t keys, int64_t left, int64_t right)
{
        fst_context *sc =
                api_context("local[2]", "spark.driver.memory", "32m", "spark.memory.fraction", fraction, NULL);
        struct keys captured = {keys};
        fst_rdd *a = fst_map(fst_range_n(sc, 0, left * keys, 3), FST_WITH(pad, captured), FST_PAIR(I64, BYTES));
        fst_rdd *b = fst_map(fst_range_n(sc, 0, right * keys, 2), FST_WITH(pad, captured), FST_PAIR(I64, BYTES));
        fst_iter *rows;
        int64_t n = 0;
        bool *seen = new_array(bool, (size_t)(keys * left * right));
        assert_int_equal(fst_collect(fst_join_n(a, b, pair_up, FST_I64, 1), &rows), 0);
        for (int64_t x; fst_next(rows, &x); n++) {
                int64_t l = x / 1000000, r = x % 1000000, at = ((l % keys) * left + l / keys) * right + r / keys;
                assert_int_equal(l % keys, r % keys);
                assert_true(l / keys < left && r / keys < right && !seen[at]);
                seen[at] = true;
        }
        free(seen);
        assert_int_equal(n, keys * left * right);
        assert_int_equal(fst_context_stop(sc), 0);
}

static void joins_keys_larger_than_memory(void **state)
{
        join_large("0.3", 1, 5, 10000); /* 16 MB on the right */
        join_large("0.3", 1, 8000, 5);  /* and on the left */
        join_large("0.3", 2, 3000, 7);
        join_large("0.3", 3, 3, 3000); /* each key's rows are spilled, one key after another */
        join_large("0.3", 9000, 1, 1);
        join_large("0.3", 4, 1, 2500); /* read once, in input order */
}

static void joins_keys_longer_than_a_batch(void **state)
{
        join_large("0.9", 2, 3, 1100);
        join_large("0.9", 1, 1100, 1100);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test_setup_teardown(union_has_the_partitions_of_all, api_setup, api_teardown),
                cmocka_unit_test_setup_teardown(union_keeps_a_common_partitioner, api_setup, api_teardown),
                cmocka_unit_test_setup_teardown(unions_of_many_are_computed, api_setup, api_teardown),
                cmocka_unit_test_setup_teardown(joins_all_pairs_of_rows, api_setup, api_teardown),
                cmocka_unit_test_setup_teardown(sides_that_are_placed_are_not_shuffled, api_setup, api_teardown),
                cmocka_unit_test_setup_teardown(joins_reuse_bounds_of_a_sorted_side, api_setup, api_teardown),
                cmocka_unit_test_setup_teardown(joins_zeros_and_nans_as_equal_keys, api_setup, api_teardown),
                cmocka_unit_test_setup_teardown(joins_empty_sides, api_setup, api_teardown),
                cmocka_unit_test(joins_keys_larger_than_memory),
                cmocka_unit_test(joins_keys_longer_than_a_batch),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
