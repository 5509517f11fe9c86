/*
 * Operators by key through the public interface, in this process and by way of the wire: what they give, in how many
 * partitions, what is shuffled and what need not be. Cases restate the behaviours of Spark's PairRDDFunctionsSuite.
 */
#include "base/mem.h"
#include "driver/api_fixture.h"
#include "driver/wire_fixture.h"
#include "rdd/partitioner.h"
#include "rdd/rdd.h"

#include <math.h>

/* ------------------------------------------------------------------------------------------------------- helpers */

static int loud_setup(void **state)
{
        *state = api_context("local[2]", "spark.log.level", "ERROR", NULL);
        return 0;
}

/* (key, value) as one number each; x → (x / 1000, x mod 1000) */
static int unfold(fst_task *task, int64_t x, fst_out *out)
{
        fst_emit(out, x / 1000, x % 1000);
        return 0;
}

static fst_rdd *pairs_of(fst_context *sc, const int64_t *rows, size_t n, int partitions)
{
        return fst_map(fst_parallelize_n(sc, rows, n, partitions), unfold, FST_PAIR(I64, I64));
}
#define PAIRS(sc, partitions, ...)                                                                                     \
        pairs_of(sc, (const int64_t[]){__VA_ARGS__}, sizeof((const int64_t[]){__VA_ARGS__}) / 8, partitions)

static int by_value(const void *x, const void *y)
{
        int64_t a = *(const int64_t *)x, b = *(const int64_t *)y;
        return (a > b) - (a < b);
}

/* The rows of an RDD of I64, sorted, are these. */
static void expect(fst_rdd *rdd, const int64_t *wanted, size_t n)
{
        fst_iter *rows;
        int64_t got[512], x;
        size_t at = 0;
        assert_int_equal(fst_collect(rdd, &rows), 0);
        while (fst_next(rows, &x)) {
                assert_true(at < 512);
                got[at++] = x;
        }
        qsort(got, at, sizeof(*got), by_value);
        for (size_t i = 0; i < MIN(at, n); i++)
                assert_int_equal(got[i], wanted[i]);
        assert_int_equal(at, n);
}
#define EXPECT(rdd, ...) expect(rdd, (const int64_t[]){__VA_ARGS__}, sizeof((const int64_t[]){__VA_ARGS__}) / 8)

static void expect_none(fst_rdd *rdd)
{
        int64_t n;
        assert_int_equal(fst_count(rdd, &n), 0);
        assert_int_equal(n, 0);
}

/* (key, value) → key × 1000 + value */
static int64_t fold(fst_task *task, int64_t key, int64_t value)
{
        return key * 1000 + value;
}

static fst_rdd *folded(fst_rdd *pairs)
{
        return fst_map(pairs, fold, FST_I64);
}

/* Shuffles between @rdd and @from, at most; -1: it is not made of it. */
static int shuffles_until(const fst_rdd *rdd, const fst_rdd *from)
{
        int below = rdd == from ? 0 : -1;
        for (int i = 0; i < rdd->n_parents && below < 0; i++)
                below = shuffles_until(rdd->parents[i], from);
        return below < 0 || rdd == from ? below : below + (rdd->op == RDD_SHUFFLED);
}

static bool never(fst_task *task, int64_t key, int64_t value)
{
        return false;
}

/* ------------------------------------------------------------------------------------------ keys, values, key_by */

static void keys_and_values(void **state)
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

/* A key, and a pair in bytes */
static int unpack(fst_task *task, int64_t key, fst_bytes row, fst_out *out)
{
        int64_t k, v;
        for (fst_list list = fst_list_of(row, FST_PAIR(I64, I64)); fst_list_next(&list, &k, &v);)
                fst_emit(out, key * 1000000 + k * 1000 + v);
        return 0;
}

static void rows_with_keys_of_their_own(void **state)
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

static int to_texts(fst_task *task, int64_t x, fst_out *out)
{
        char key[24], value[24];
        snprintf(key, sizeof(key), "%lld", (long long)x % 7);
        snprintf(value, sizeof(value), "%lld", (long long)x);
        fst_emit(out, key, value);
        return 0;
}

static int64_t check_texts(fst_task *task, fst_bytes key, fst_bytes value)
{
        char text[24] = {0};
        memcpy(text, value.data, MIN(value.len, sizeof(text) - 1));
        return key.len == 1 ? atoll(text) : -1;
}

static int64_t text_length(fst_task *task, fst_bytes value)
{
        return (int64_t)value.len;
}

static void values_are_flattened(void **state)
{
        fst_context *sc = *state;
        fst_rdd *pairs = fst_partition_by(PAIRS(sc, 2, 1002, 2000, 3003), 3);
        fst_rdd *flat = fst_flat_map_values(pairs, up_to, FST_I64);
        EXPECT(folded(flat), 1000, 1001, 3000, 3001, 3002);
        assert_ptr_equal(flat->partitioner, pairs->partitioner);

        /* More than a batch of one value, and bytes that lie in the row. */
        int64_t n;
        assert_int_equal(fst_count(fst_flat_map_values(PAIRS(sc, 1, 5999, 5999, 6999), up_to, FST_I64), &n), 0);
        assert_int_equal(n, 3 * 999);
        fst_rdd *texts = fst_map(fst_range_n(sc, 100, 3100, 3), to_texts, FST_PAIR(BYTES, BYTES));
        fst_rdd *tails = fst_flat_map_values(texts, text_up_to, FST_BYTES);
        int64_t total = 0, expected = 0;
        assert_int_equal(fst_reduce(fst_map(tails, check_texts, FST_I64), fst_sum, &total), 0);
        for (int64_t x = 100; x < 3100; x++)
                for (int64_t ten = 10; ten <= 10000; ten *= 10)
                        expected += ten / 10 <= x ? x % ten : 0;
        assert_int_equal(total, expected);
        assert_refused(fst_count(fst_flat_map_values(pairs, text_up_to, FST_BYTES), &n), -EINVAL,
                       "takes BYTES, but the values are I64");
        assert_refused(fst_count(fst_flat_map_values(pairs, text_length, FST_I64), &n), -EINVAL,
                       "is not a function that flat_map_values can call");
}

/* ------------------------------------------------------------------------------------------------------ groups */

/* Lists of I64 as one number: in the order in which they are, two digits each; and the key before them. */
static int64_t digits_of_list(fst_task *task, int64_t key, fst_bytes list)
{
        int64_t x, digits = key;
        for (fst_list l = fst_list_of(list, FST_I64); fst_list_next(&l, &x);)
                digits = digits * 100 + x;
        return digits;
}

static void group_by_key_gives_lists(void **state)
{
        fst_context *sc = *state;
        fst_rdd *pairs = PAIRS(sc, 2, 1001, 1002, 1003, 2001);
        fst_rdd *groups = fst_group_by_key(pairs);
        EXPECT(fst_map(groups, digits_of_list, FST_I64), 201, 1010203);
        assert_int_equal(fst_rdd_partitions(groups), 2);
        assert_non_null(groups->partitioner);

        /* duplicates, negative keys, more partitions than keys */
        EXPECT(fst_map(fst_group_by_key(PAIRS(sc, 2, 1001, 1001)), digits_of_list, FST_I64), 10101);
        fst_rdd *many = fst_group_by_key_n(pairs, 10);
        EXPECT(fst_map(many, digits_of_list, FST_I64), 201, 1010203);
        assert_int_equal(fst_rdd_partitions(many), 10);

        /* What is grouped is placed: it is neither shuffled again nor is what it is joined with by its number. */
        assert_int_equal(shuffles_until(fst_group_by_key(groups), groups), 0);
        assert_int_equal(shuffles_until(fst_reduce_by_key_n(many, fst_first, 10), many), 0);
        expect_none(fst_group_by_key(fst_filter(pairs, never)));
}

static int64_t even(fst_task *task, int64_t x)
{
        return x % 2;
}

static int64_t value_mod_2(fst_task *task, int64_t key, int64_t value)
{
        return value % 2;
}

static int64_t digits_of_pairs(fst_task *task, int64_t key, fst_bytes list)
{
        int64_t k, v, digits = key + 5;
        for (fst_list l = fst_list_of(list, FST_PAIR(I64, I64)); fst_list_next(&l, &k, &v);)
                digits = digits * 100 + k * 10 + v;
        return digits;
}

static int text_key(fst_task *task, fst_bytes key, fst_bytes value, fst_out *out)
{
        fst_emit(out, key);
        return 0;
}

/* How many of the elements begin with … and their sum */
static int64_t sum_of_texts(fst_task *task, fst_bytes key, fst_bytes list)
{
        int64_t total = 0;
        fst_bytes k, v;
        fst_list l = fst_list_of(list, FST_PAIR(BYTES, BYTES));
        while (fst_list_next(&l, &k, &v)) {
                if (!fst_bytes_equal(k, key))
                        return INT64_MIN;
                total += check_texts(task, k, v);
        }
        return fst_list_status(&l) ? INT64_MIN : total;
}

static void rows_are_grouped_by_what_is_computed(void **state)
{
        fst_context *sc = *state;
        EXPECT(fst_map(fst_group_by(fst_range_n(sc, 0, 5, 1), even, FST_I64), digits_of_list, FST_I64), 204, 10103);
        fst_rdd *pairs = PAIRS(sc, 1, 1001, 2002, 3003);
        EXPECT(fst_map(fst_group_by(pairs, value_mod_2, FST_I64), digits_of_pairs, FST_I64), 522, 61133);
        fst_rdd *texts = fst_map(fst_range_n(sc, 0, 1000, 3), to_texts, FST_PAIR(BYTES, BYTES));
        fst_rdd *sums = fst_map(fst_group_by_n(texts, text_key, FST_BYTES, 2), sum_of_texts, FST_I64);
        int64_t total, n;
        assert_int_equal(fst_reduce(sums, fst_sum, &total), 0);
        assert_int_equal(total, 999 * 1000 / 2);
        assert_int_equal(fst_count(sums, &n), 0);
        assert_int_equal(n, 7);
        /* As many partitions as the partitioner that the rows have, as in Spark. */
        assert_int_equal(fst_rdd_partitions(fst_group_by(fst_partition_by(pairs, 5), value_mod_2, FST_I64)), 5);
}

/* key, and the first two values */
static int first_two(fst_task *task, int64_t key, fst_iter *values, fst_out *out)
{
        int64_t a = 0, b = 0;
        if (fst_next(values, &a))
                (void)fst_next(values, &b);
        fst_emit(out, key * 10000 + a * 100 + b);
        return 0;
}

static void groups_stream(void **state)
{
        fst_context *sc = *state;
        fst_rdd *pairs = PAIRS(sc, 3, 1001, 2007, 1002, 1003, 3009);
        EXPECT(fst_flat_map_groups(pairs, first_two, FST_I64), 10102, 20700, 30900);
        assert_int_equal(fst_rdd_partitions(fst_flat_map_groups_n(pairs, first_two, FST_I64, 7)), 7);
}

struct tally {
        int64_t rows, sum;
};

static int tally_group(fst_task *task, int64_t key, fst_iter *values, fst_out *out)
{
        struct tally t = {0};
        fst_bytes x;
        while (fst_next(values, &x)) {
                t.rows++;
                t.sum += (int64_t)x.len;
        }
        fst_emit(out, key, &t);
        return fst_iter_status(values);
}

static int skewed(fst_task *task, int64_t x, fst_out *out)
{
        char bytes[400];
        memset(bytes, 'a' + (int)(x % 20), sizeof(bytes));
        fst_emit(out, x % 50 == 0 ? x % 8 : 3, ((fst_bytes){bytes, (size_t)(x % 400)}));
        return 0;
}

/* 10 MB of one key, in a task of some 5 MB. */
static void a_group_may_be_larger_than_memory(void **state)
{
        fst_context *sc = api_context("local[2]", "spark.driver.memory", "32m", "spark.memory.fraction", "0.3",
                                      "spark.log.level", "ERROR", NULL);
        fst_rdd *pairs = fst_map(fst_range_n(sc, 0, 50000, 3), skewed, FST_PAIR(I64, BYTES));
        fst_iter *rows;
        const void *at;
        int64_t key, n = 0, total = 0;
        assert_int_equal(fst_collect(fst_flat_map_groups(pairs, tally_group,
                                                         fst_type_pair(FST_I64, FST_FIXED(sizeof(struct tally)))),
                                     &rows),
                         0);
        while (fst_next(rows, &key, &at)) {
                struct tally t;
                memcpy(&t, at, sizeof(t));
                assert_int_equal(t.rows, key == 3 ? 49000 : 250);
                n++;
                total += t.sum;
        }
        assert_int_equal(n, 5);
        assert_int_equal(total, 50000 / 400 * (399 * 400 / 2));
        assert_refused(fst_count(fst_group_by_key(pairs), &n), -EIO,
                       "fst_flat_map_groups reads them one after another");
        fst_context_stop(sc);
}

/* ------------------------------------------------------------------------------------------------------ cogroup */

/* Two digits for each value of each side, which is separated by 99. */
static int both_sides(fst_task *task, int64_t key, fst_iter *a, fst_iter *b, fst_out *out)
{
        int64_t digits = key, x;
        while (fst_next(a, &x))
                digits = digits * 100 + x;
        digits = digits * 100 + 99;
        while (fst_next(b, &x))
                digits = digits * 100 + x;
        fst_emit(out, digits);
        return 0;
}

static void digits_of_sides(int64_t key, fst_iter *const *groups, int n, fst_out *out)
{
        int64_t digits = key, x;
        for (int k = 0; k < n; k++) {
                while (fst_next(groups[k], &x))
                        digits = digits * 100 + x;
                digits = digits * 100 + 99;
        }
        fst_emit(out, digits);
}

static int three_sides(fst_task *task, int64_t key, fst_iter *const *groups, fst_out *out)
{
        digits_of_sides(key, groups, 3, out);
        return 0;
}

static int four_sides(fst_task *task, int64_t key, fst_iter *const *groups, fst_out *out)
{
        digits_of_sides(key, groups, 4, out);
        return 0;
}

static void cogroups_have_every_key(void **state)
{
        fst_context *sc = *state;
        fst_rdd *a = PAIRS(sc, 2, 1001, 1002, 2001, 3001), *b = PAIRS(sc, 3, 1011, 2012, 2013, 4014);
        EXPECT(fst_cogroup(a, b, both_sides, FST_I64), 30199, 49914, 101029911, 201991213);
        fst_rdd *all[] = {a, b, PAIRS(sc, 1, 1021), PAIRS(sc, 2, 4031, 5032)};
        EXPECT(fst_cogroup_all(sc, all, 3, three_sides, FST_I64), 301999999, 499149999, 2019912139999, 101029911992199);
        EXPECT(fst_cogroup_all(sc, all, 4, four_sides, FST_I64), 30199999999, 59999993299, 4991499993199,
               201991213999999, 10102991199219999);
        assert_int_equal(fst_rdd_partitions(fst_cogroup(a, b, both_sides, FST_I64)), 3);
        assert_refused(fst_count(fst_cogroup_all(sc, all, 0, three_sides, FST_I64), &(int64_t){0}), -EINVAL,
                       "a cogroup of no RDDs has no keys");
        fst_rdd *many[20];
        for (int i = 0; i < 20; i++)
                many[i] = a;
        assert_refused(fst_count(fst_cogroup_all(sc, many, 20, three_sides, FST_I64), &(int64_t){0}), -EINVAL,
                       "takes 1 to 16 RDDs");
}

/* --------------------------------------------------------------------------------------------------- outer joins */

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

static void outer_joins(void **state)
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

/* ------------------------------------------------------------------------------------------------ rows that stay */

static bool is_short(fst_task *task, fst_bytes key, fst_bytes value)
{
        return value.len == 1;
}

static void pairs_without_their_keys(void **state)
{
        fst_context *sc = *state;
        fst_rdd *a = PAIRS(sc, 2, 1001, 2001, 2002, 3001, 4001), *b = PAIRS(sc, 20, 2007, 4008, 4009, 5001);
        fst_rdd *left = fst_subtract_by_key(a, b);
        EXPECT(folded(left), 1001, 3001);
        assert_int_equal(fst_rdd_partitions(left), 2); /* the left one's, however many the right one has */
        assert_non_null(left->partitioner);
        EXPECT(folded(fst_subtract_by_key_n(a, b, 5)), 1001, 3001);

        /* A left side that is placed is not shuffled, and says where rows are. */
        fst_rdd *placed = fst_partition_by(a, 7), *narrow = fst_subtract_by_key(placed, b);
        EXPECT(folded(narrow), 1001, 3001);
        assert_int_equal(shuffles_until(narrow, placed), 0);
        assert_int_equal(fst_rdd_partitions(narrow), 7);
        /* Values of another type do not matter on the right. */
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

static void whole_rows_are_compared(void **state)
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

        /* NaN is NaN here, and there is one zero. */
        int64_t n;
        assert_int_equal(fst_count(fst_distinct(fst_map(twice, to_f64, FST_F64)), &n), 0);
        assert_int_equal(n, 2);
        assert_refused(fst_count(fst_subtract(twice, fst_map(twice, to_f64, FST_F64)), &n), -EINVAL,
                       "subtract needs RDDs of one type, but the rows are I64 and F64");
        assert_refused(fst_count(fst_distinct_n(twice, -1), &n), -EINVAL, "cannot be negative");
}

static void pairs_are_compared_as_a_whole(void **state)
{
        fst_context *sc = *state;
        fst_rdd *a = PAIRS(sc, 3, 1001, 1002, 1001, 2001, 2001), *b = PAIRS(sc, 2, 2001, 1002, 3001);
        EXPECT(folded(fst_distinct(a)), 1001, 1002, 2001);
        EXPECT(folded(fst_subtract(a, b)), 1001, 1001);
        EXPECT(folded(fst_intersection(a, b)), 1002, 2001);

        /* Pairs that are placed have equal ones together. */
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

/* ---------------------------------------------------------------------------------------------------- combining */

struct mean {
        double sum;
        int64_t n;
};

static int add_to_mean(fst_task *task, void *so_far, int64_t value)
{
        struct mean *mean = so_far;
        mean->sum += (double)value;
        mean->n++;
        return value == 999 ? fst_fail(task, "999") : 0;
}

static int both_means(fst_task *task, void *a, const void *b)
{
        struct mean *mean = a, more;
        memcpy(&more, b, sizeof(more));
        mean->sum += more.sum;
        mean->n += more.n;
        return 0;
}

static int one_mean(fst_task *task, int64_t value, fst_out *out)
{
        fst_emit(out, (&(struct mean){(double)value, 1}));
        return 0;
}

static int64_t mean_of(fst_task *task, int64_t key, const void *mean)
{
        struct mean m;
        memcpy(&m, mean, sizeof(m));
        return key * 100000 + (int64_t)m.sum * 100 + m.n;
}

static int64_t longest(fst_task *task, int64_t so_far, fst_bytes value)
{
        return MAX(so_far, (int64_t)value.len);
}

static int64_t longest_of_text(fst_task *task, fst_bytes key, int64_t most)
{
        return (key.data[0] - '0') * 10 + most;
}

static int append_digit(fst_task *task, fst_bytes so_far, int64_t value, fst_out *out)
{
        char text[4096];
        int n = snprintf(text, sizeof(text), "%.*s%lld,", (int)so_far.len, so_far.data, (long long)value);
        fst_emit(out, ((fst_bytes){text, (size_t)n}));
        return 0;
}

static int append_texts(fst_task *task, fst_bytes a, fst_bytes b, fst_out *out)
{
        char text[8192];
        int n = snprintf(text, sizeof(text), "%.*s%.*s", (int)a.len, a.data, (int)b.len, b.data);
        fst_emit(out, ((fst_bytes){text, (size_t)n}));
        return 0;
}

static int64_t sum_of_digits(fst_task *task, int64_t key, fst_bytes text)
{
        int64_t total = key * 10000;
        fst_split pieces = fst_split_of(text, ',');
        for (fst_bytes piece; fst_split_next(&pieces, &piece);)
                total += piece.len > 0 ? piece.data[0] - '0' : 0; /* the first digit of each */
        return total;
}

static int64_t product(fst_task *task, int64_t a, int64_t b)
{
        return a * b;
}

static double halves(fst_task *task, int64_t value)
{
        return (double)value / 2;
}

static double add_half(fst_task *task, double so_far, int64_t value)
{
        return so_far + (double)value / 2;
}

static int64_t twice_of(fst_task *task, int64_t key, double value)
{
        return key * 1000 + (int64_t)(2 * value);
}

static void values_are_taken_into_accumulators(void **state)
{
        fst_context *sc = *state;
        fst_rdd *pairs = PAIRS(sc, 3, 1001, 1002, 2010, 1003, 2020);
        struct mean none = {0};
        fst_rdd *means = fst_aggregate_by_key(pairs, &none, add_to_mean, both_means);
        EXPECT(fst_map(means, mean_of, FST_I64), 100603, 203002);
        assert_int_equal(fst_rdd_partitions(means), 3);
        assert_non_null(means->partitioner);
        EXPECT(fst_map(fst_combine_by_key(pairs, one_mean, add_to_mean, both_means, FST_FIXED(sizeof(struct mean))),
                       mean_of, FST_I64),
               100603, 203002);

        /* Placed as wanted, it is done in one task for each partition. */
        fst_rdd *placed = fst_partition_by(pairs, 4);
        means = fst_aggregate_by_key(placed, &none, add_to_mean, both_means);
        EXPECT(fst_map(means, mean_of, FST_I64), 100603, 203002);
        assert_int_equal(shuffles_until(means, placed), 0);
        assert_ptr_equal(means->partitioner, placed->partitioner);

        /* Other kinds. */
        fst_rdd *texts = fst_map(fst_range_n(sc, 95, 105, 3), to_texts, FST_PAIR(BYTES, BYTES));
        EXPECT(fst_map(fst_aggregate_by_key_n(texts, &(int64_t){0}, longest, fst_max, 2), longest_of_text, FST_I64), 2,
               12, 23, 33, 43, 53, 63);
        EXPECT(fst_map(fst_combine_by_key(texts, text_length, longest, fst_max, FST_I64), longest_of_text, FST_I64), 2,
               12, 23, 33, 43, 53, 63);
        EXPECT(fst_map(fst_combine_by_key(pairs, halves, add_half, fst_sum, FST_F64), twice_of, FST_I64), 1006, 2030);
        fst_bytes empty = {"", 0};
        EXPECT(fst_map(fst_aggregate_by_key(pairs, &empty, append_digit, append_texts), sum_of_digits, FST_I64), 10006,
               20003);

        /* Zero counts in each partition where the key is, and is copied. */
        int64_t one = 1, ten = 10;
        fst_rdd *sums = fst_fold_by_key(PAIRS(sc, 1, 1001, 1002, 2003), &ten, fst_sum);
        fst_rdd *products = fst_fold_by_key(pairs, &one, product);
        ten = one = 77;
        EXPECT(folded(sums), 1013, 2013);
        EXPECT(folded(products), 1006, 2200);

        assert_refused(fst_count(fst_fold_by_key(pairs, &none, both_means), &one), -EINVAL,
                       "fold_by_key takes a zero of the values' type, but they are I64 and it is FIXED");
        assert_refused(fst_count(fst_aggregate_by_key(pairs, &none, longest, both_means), &one), -EINVAL,
                       "does not take a value of I64 into FIXED(16)");
        assert_refused(fst_count(fst_combine_by_key(pairs, text_length, add_to_mean, both_means, FST_FIXED(16)), &one),
                       -EINVAL, "does not make FIXED(16) of a value of I64");
        assert_refused(fst_count(fst_aggregate_by_key(PAIRS(sc, 2, 1999), &none, add_to_mean, both_means), &one), -EIO,
                       "add_to_mean");
}

struct keys {
        int64_t n;
};

static int by_modulus(fst_task *task, int64_t x, fst_out *out)
{
        const struct keys *keys = fst_captured(task);
        fst_emit(out, x % keys->n, x % 1000);
        return 0;
}

static int add_one(fst_task *task, void *so_far, int64_t value)
{
        struct mean *mean = so_far;
        mean->sum += (double)value;
        mean->n++;
        return 0;
}

static bool is_sample(fst_task *task, int64_t key, const void *mean)
{
        return key % 100 == 0;
}

/* More keys than a table holds in little memory, on both sides of the shuffle; and hardly any twice. */
static void accumulators_go_to_disk(void **state)
{
        fst_context *sc = api_context("local[2]", "spark.driver.memory", "32m", "spark.memory.fraction", "0.25", NULL);
        struct mean none = {0};
        for (int repeats = 1; repeats <= 5; repeats += 4) {
                struct keys captured = {200000};
                fst_rdd *numbers = fst_range_n(sc, 0, 200000 * repeats, 3);
                fst_rdd *pairs = fst_map(numbers, FST_WITH(by_modulus, captured), FST_PAIR(I64, I64));
                fst_rdd *means = fst_aggregate_by_key_n(pairs, &none, add_one, both_means, 2);
                fst_iter *rows;
                int64_t n = 0, key;
                const void *mean;
                assert_int_equal(fst_collect(fst_filter(means, is_sample), &rows), 0);
                for (; fst_next(rows, &key, &mean); n++) {
                        struct mean m;
                        memcpy(&m, mean, sizeof(m));
                        assert_int_equal(m.n, repeats);
                        assert_int_equal((int64_t)m.sum, key % 1000 * repeats);
                }
                assert_int_equal(n, 2000);
                assert_int_equal(fst_count(means, &n), 0);
                assert_int_equal(n, 200000);
        }
        fst_context_stop(sc);
}

/* ---------------------------------------------------------------------------------------- where keys belong */

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

static void a_promise_saves_a_shuffle(void **state)
{
        fst_context *sc = *state;
        fst_rdd *a = fst_partition_by(PAIRS(sc, 2, 1001, 2002), 4);
        fst_rdd *joined = fst_preserves_partitioning(fst_join(a, a, same_key, FST_PAIR(I64, I64)));
        fst_rdd *again = fst_reduce_by_key(joined, fst_sum);
        EXPECT(folded(again), 1002, 2004);
        assert_int_equal(shuffles_until(again, a), 0);
        assert_int_equal(shuffles_until(fst_reduce_by_key(fst_join(a, a, same_key, FST_PAIR(I64, I64)), fst_sum), a),
                         1);

        fst_rdd *sums = fst_preserves_partitioning(fst_flat_map_groups(a, group_sum, FST_PAIR(I64, I64)));
        assert_ptr_equal(sums->partitioner, a->partitioner);
        fst_rdd *same = fst_preserves_partitioning(fst_map_partitions(a, as_they_come, FST_PAIR(I64, I64)));
        assert_ptr_equal(same->partitioner, a->partitioner);
        EXPECT(folded(fst_join(sums, same, same_key, FST_PAIR(I64, I64))), 1002, 2004);
        assert_int_equal(shuffles_until(fst_join(sums, same, same_key, FST_PAIR(I64, I64)), a), 0);

        assert_refused(fst_count(fst_preserves_partitioning(fst_map(a, fold, FST_I64)), &(int64_t){0}), -EINVAL,
                       "preserves_partitioning is for what has a function that emits keys");
        assert_refused(fst_count(fst_preserves_partitioning(fst_flat_map_groups(fst_partition_by(texts_of(sc), 2),
                                                                                texts_counted, FST_I64)),
                                 &(int64_t){0}),
                       -EINVAL, "they are of another type");
}

/* Spark's rules: which partitioner is taken, and how many partitions there are without one. */
static void partitioners_are_chosen_as_in_spark(void **state)
{
        fst_context *sc = *state;
        fst_rdd *few = PAIRS(sc, 3, 1001), *many = PAIRS(sc, 12, 1002), *huge = PAIRS(sc, 400, 1003);
        fst_rdd *placed = fst_partition_by(few, 5);
        struct mean none = {0};
        int64_t zero = 0;
        assert_int_equal(fst_rdd_partitions(fst_group_by_key(many)), 12);
        assert_int_equal(fst_rdd_partitions(fst_cogroup(few, many, both_sides, FST_I64)), 12);
        /* An existing one if it has a tenth of the partitions or more; else as many as the largest. */
        assert_int_equal(fst_rdd_partitions(fst_cogroup(placed, many, both_sides, FST_I64)), 5);
        assert_int_equal(fst_rdd_partitions(fst_cogroup(placed, huge, both_sides, FST_I64)), 400);
        fst_rdd *three[] = {few, placed, many};
        assert_int_equal(fst_rdd_partitions(fst_cogroup_all(sc, three, 3, three_sides, FST_I64)), 5);
        fst_rdd *larger = fst_partition_by(many, 7);
        assert_int_equal(fst_rdd_partitions(fst_cogroup(placed, larger, both_sides, FST_I64)), 7);
        /* What is placed stays where it is, by a hash or in order. */
        fst_rdd *sorted = fst_sort_by_key_n(many, FST_ASCENDING, 4);
        fst_rdd *by_key[] = {
                fst_reduce_by_key(placed, fst_sum), fst_fold_by_key(placed, &zero, fst_sum),
                fst_group_by_key(placed),           fst_aggregate_by_key(placed, &none, add_to_mean, both_means),
                fst_subtract_by_key(placed, few),   fst_reduce_by_key(sorted, fst_sum),
                fst_group_by_key(sorted),
        };
        for (size_t i = 0; i < ARRAY_SIZE(by_key); i++) {
                const fst_rdd *from = i < 5 ? placed : sorted;
                assert_int_equal(shuffles_until(by_key[i], from), 0);
                assert_ptr_equal(by_key[i]->partitioner, from->partitioner);
        }
        EXPECT(folded(by_key[5]), 1002);
        assert_int_equal(shuffles_until(fst_reduce_by_key_n(placed, fst_sum, 6), placed), 1);
        assert_refused(fst_count(fst_group_by_key_n(few, -1), &zero), -EINVAL,
                       "Number of partitions cannot be negative");
}

static void default_parallelism_counts(void **state)
{
        fst_context *sc = api_context("local[2]", "spark.default.parallelism", "4", NULL);
        fst_rdd *pairs = PAIRS(sc, 9, 1001, 2002);
        fst_rdd *two = fst_partition_by(pairs, 2);
        assert_int_equal(fst_rdd_partitions(fst_group_by_key(pairs)), 4);
        assert_int_equal(fst_rdd_partitions(fst_reduce_by_key(pairs, fst_sum)), 4);
        assert_int_equal(fst_rdd_partitions(fst_cogroup(pairs, two, both_sides, FST_I64)), 2);
        assert_int_equal(fst_rdd_partitions(fst_intersection(fst_keys(pairs), fst_keys(two))), 4);
        assert_int_equal(fst_rdd_partitions(fst_distinct(pairs)), 9);
        assert_int_equal(fst_rdd_partitions(fst_sort_by_key(pairs, FST_ASCENDING)), 9);
        assert_int_equal(fst_rdd_partitions(fst_sort_by(fst_keys(pairs), fst_identity, FST_I64, FST_DESCENDING)), 9);
        assert_int_equal(fst_rdd_partitions(fst_subtract(pairs, two)), 9);
        assert_int_equal(fst_rdd_partitions(fst_subtract(two, pairs)), 2);
        assert_int_equal(fst_rdd_partitions(fst_subtract_by_key(pairs, two)), 9);
        EXPECT(folded(fst_join(pairs, two, same_key, FST_PAIR(I64, I64))), 1002, 2004);
        fst_context_stop(sc);
}

#define CASES                                                                                                          \
        cmocka_unit_test_setup_teardown(keys_and_values, loud_setup, api_teardown),                                    \
                cmocka_unit_test_setup_teardown(rows_with_keys_of_their_own, loud_setup, api_teardown),                \
                cmocka_unit_test_setup_teardown(values_are_flattened, loud_setup, api_teardown),                       \
                cmocka_unit_test_setup_teardown(group_by_key_gives_lists, loud_setup, api_teardown),                   \
                cmocka_unit_test_setup_teardown(rows_are_grouped_by_what_is_computed, loud_setup, api_teardown),       \
                cmocka_unit_test_setup_teardown(groups_stream, loud_setup, api_teardown),                              \
                cmocka_unit_test_setup_teardown(cogroups_have_every_key, loud_setup, api_teardown),                    \
                cmocka_unit_test_setup_teardown(outer_joins, loud_setup, api_teardown),                                \
                cmocka_unit_test_setup_teardown(pairs_without_their_keys, loud_setup, api_teardown),                   \
                cmocka_unit_test_setup_teardown(whole_rows_are_compared, loud_setup, api_teardown),                    \
                cmocka_unit_test_setup_teardown(pairs_are_compared_as_a_whole, loud_setup, api_teardown),              \
                cmocka_unit_test_setup_teardown(values_are_taken_into_accumulators, loud_setup, api_teardown),         \
                cmocka_unit_test_setup_teardown(a_promise_saves_a_shuffle, loud_setup, api_teardown)

int main(void)
{
        const struct CMUnitTest here[] = {
                CASES,
                cmocka_unit_test_setup_teardown(partitioners_are_chosen_as_in_spark, loud_setup, api_teardown),
                cmocka_unit_test(default_parallelism_counts),
                cmocka_unit_test(a_group_may_be_larger_than_memory),
                cmocka_unit_test(accumulators_go_to_disk),
        };
        const struct CMUnitTest by_the_wire[] = {CASES};
        int failed = cmocka_run_group_tests_name("here", here, NULL, NULL);
        local_backend_set_probe(&by_wire);
        failed += cmocka_run_group_tests_name("by way of the wire", by_the_wire, NULL, NULL);
        local_backend_set_probe(NULL);
        return failed;
}
