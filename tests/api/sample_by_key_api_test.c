/* Compares sample_by_key and sample_by_key_exact with genuine Spark 4.3, and tests count_approx_distinct_by_key; in
 * threads and in task processes, to which keys, fractions and thresholds are sent. */
#include "base/mem.h"
#include "api/api_fixture.h"

#include <math.h>

static int by_third(fst_task *task, int64_t x, fst_out *out)
{
        fst_emit(out, x % 3, x);
        return 0;
}

static int by_word(fst_task *task, int64_t x, fst_out *out)
{
        static const char *const words[] = {"", "a long word, longer than a short key", "b"};
        fst_emit(out, words[x % 3], x);
        return 0;
}

static int by_nothing(fst_task *task, int64_t x, fst_out *out)
{
        fst_emit(out, "", x);
        return 0;
}

static int by_half(fst_task *task, int64_t x, fst_out *out)
{
        fst_emit(out, x % 3 ? (double)(x % 3) / 2 : x % 2 ? 0.0 : -0.0, x);
        return 0;
}

struct place {
        int32_t x, y, z;
};

static int by_place(fst_task *task, int64_t x, fst_out *out)
{
        struct place place = {(int32_t)(x % 3), -7, (int32_t)(x % 3)};
        fst_emit(out, &place, x);
        return 0;
}

struct wanted {
        int64_t rows, checksum; /* checksum: sum of (i + 1) × the i-th value */
        int64_t first[8];
};

static void check_values(fst_rdd *sample, const struct wanted *want)
{
        fst_iter *rows;
        struct wanted got = {0};
        int64_t value;
        assert_int_equal(fst_collect(fst_values(sample), &rows), 0);
        while (fst_next(rows, &value)) {
                if (got.rows < 8)
                        got.first[got.rows] = value;
                got.checksum += ++got.rows * value;
        }
        assert_int_equal(got.rows, want->rows);
        assert_memory_equal(got.first, want->first, sizeof(got.first));
        assert_int_equal(got.checksum, want->checksum);
}

static const int64_t thirds[] = {2, 0, 1};
static const double once[] = {0.9, 0.1, 0.5}, replaced[] = {2.5, 0.3, 1.0};

static fst_rdd *pairs_of(fst_context *sc, int64_t n)
{
        return fst_map(fst_range_n(sc, 0, n, 4), by_third, FST_PAIR(I64, I64));
}

static void takes_pairs_of_spark(void **state)
{
        static const struct {
                int64_t n, seed;
                bool exact, again;
                struct wanted want;
        } cases[] = {
                {400, 42, false, false, {208, 5868955, {2, 5, 7, 10, 11, 14, 16, 17}}},
                {400, 42, false, true, {478, 29764382, {2, 2, 2, 4, 4, 5, 5, 5}}},
                {400, 42, true, false, {201, 5454939, {2, 5, 7, 10, 11, 14, 16, 17}}},
                {400, 42, true, true, {507, 34467826, {2, 2, 2, 2, 3, 4, 6, 8}}},
                {400, -5, false, false, {197, 5240858, {1, 4, 5, 8, 11, 13, 14, 16}}},
                {400, -5, false, true, {531, 38670354, {1, 2, 2, 2, 4, 5, 5, 5}}},
                {400, -5, true, false, {201, 5453919, {1, 4, 5, 8, 11, 13, 14, 16}}},
                {400, -5, true, true, {507, 35597596, {2, 2, 2, 7, 8, 8, 8, 8}}},
                {20000, 42, false, false, {10096, 679173781961, {2, 5, 7, 10, 11, 14, 16, 17}}},
                {20000, 42, false, true, {25904, 4479536481718, {2, 2, 2, 4, 4, 5, 5, 5}}},
                {20000, 42, true, false, {10001, 667082161602, {2, 5, 7, 10, 11, 14, 16, 17}}},
                {20000, 42, true, true, {25333, 4286487651647, {2, 2, 2, 4, 4, 5, 5, 5}}},
                {20000, -5, true, false, {10001, 667118534883, {1, 4, 5, 8, 11, 13, 14, 16}}},
                {20000, -5, true, true, {25333, 4316869315734, {1, 2, 2, 4, 7, 8, 8, 8}}},
        };
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                fst_rdd *pairs = pairs_of(*state, cases[i].n);
                const double *fractions = cases[i].again ? replaced : once;
                fst_rdd *sample =
                        cases[i].exact
                                ? fst_sample_by_key_exact(pairs, cases[i].again, thirds, fractions, 3, cases[i].seed)
                                : fst_sample_by_key(pairs, cases[i].again, thirds, fractions, 3, cases[i].seed);
                check_values(sample, &cases[i].want);
                check_values(sample, &cases[i].want); /* the same again */
        }
}

/* Fractions of 0, 1 and more than 1, with the numbers of genuine Spark. */
static void takes_fractions_of_zero_and_one(void **state)
{
        static const int64_t keys[] = {0, 1, 2};
        static const struct wanted all = {267, 9508037, {0, 1, 3, 4, 6, 7, 9, 10}};
        static const struct wanted several = {401, 20376963, {3, 3, 6, 6, 6, 6, 7, 13}};
        static const struct wanted many = {2815, 1054737171, {0, 0, 0, 0, 0, 0, 0, 0}};
        fst_rdd *pairs = pairs_of(*state, 400);
        check_values(fst_sample_by_key(pairs, false, keys, ((double[]){2, 1, 0}), 3, 1), &all);
        check_values(fst_sample_by_key_exact(pairs, false, keys, ((double[]){1, 1, 0}), 3, 1), &all);
        check_values(fst_sample_by_key_exact(pairs, true, keys, ((double[]){2, 1, 0}), 3, 1), &several);
        check_values(fst_sample_by_key_exact(pairs, true, keys, ((double[]){20, 1, 0.01}), 3, 1), &many);
        fst_map *counts;
        int64_t n;
        fst_rdd *some = fst_sample_by_key(pairs, true, keys, ((double[]){2, 1, 0}), 3, 1);
        assert_int_equal(fst_count_by_key(some, &counts), 0);
        assert_int_equal(fst_map_count(counts), 2);
        assert_true(fst_map_get(counts, 0, &n) && n > 200);
        assert_int_equal(fst_count(fst_sample_by_key_exact(pairs_of(*state, 0), true, keys, replaced, 3, 1), &n), 0);
        assert_int_equal(n, 0);
}

/* Keys of every kind with the exact number of pairs. The last fraction of a key counts. */
static void samples_keys_of_every_type(void **state)
{
        fst_rdd *numbers = fst_range_n(*state, 0, 3000, 3);
        static const fst_bytes words[] = {{"b", 1}, {"", 0}, {"a long word, longer than a short key", 36}, {"b", 1}};
        static const double halves[] = {1, 0, 0.5, NAN};
        static const struct place places[] = {{2, -7, 2}, {0, -7, 0}, {1, -7, 1}};
        static const double last[] = {0.1, 0.2, 0.3, 0.4};
        fst_map *counts;
        int64_t n;
        fst_rdd *named = fst_map(numbers, by_word, FST_PAIR(BYTES, I64));
        assert_int_equal(fst_count_by_key(fst_sample_by_key_exact(named, false, words, last, 4, 9), &counts), 0);
        assert_true(fst_map_get(counts, "", &n) && n == 200);
        assert_true(fst_map_get(counts, words[2], &n) && n == 300);
        assert_true(fst_map_get(counts, "b", &n) && n == 400);

        fst_rdd *nameless = fst_map(numbers, by_nothing, FST_PAIR(BYTES, I64));
        assert_int_equal(fst_count(fst_sample_by_key_exact(nameless, false, &words[1], once, 1, 9), &n), 0);
        assert_int_equal(n, 2700);

        fst_rdd *halved = fst_map(numbers, by_half, FST_PAIR(F64, I64));
        assert_int_equal(fst_count_by_key(fst_sample_by_key_exact(halved, false, halves, last, 4, 9), &counts), 0);
        assert_true(fst_map_get(counts, 1.0, &n) && n == 100);
        assert_true(fst_map_get(counts, 0.0, &n) && n == 200); /* of both zeros */
        assert_true(fst_map_get(counts, 0.5, &n) && n == 300);

        fst_rdd *placed = fst_map(numbers, by_place, FST_PAIR(FIXED(sizeof(struct place)), I64));
        assert_int_equal(fst_count_by_key(fst_sample_by_key_exact(placed, false, places, last, 3, 9), &counts), 0);
        assert_true(fst_map_get(counts, &places[0], &n) && n == 100);
        assert_true(fst_map_get(counts, &places[1], &n) && n == 200);
        assert_true(fst_map_get(counts, &places[2], &n) && n == 300);
}

/* Thousands of keys, each with a fraction. */
static void samples_many_keys(void **state)
{
        enum { KEYS = 5000 };
        int64_t *keys = new_array(int64_t, KEYS), n;
        double *fractions = new_array(double, KEYS);
        for (int64_t i = 0; i < KEYS; i++) {
                keys[i] = i;
                fractions[i] = i % 2;
        }
        fst_rdd *each = fst_zip(fst_range_n(*state, 0, KEYS, 3), fst_range_n(*state, 0, KEYS, 3));
        assert_int_equal(fst_count(fst_sample_by_key(each, false, keys, fractions, KEYS, 3), &n), 0);
        assert_int_equal(n, KEYS / 2);
        assert_int_equal(fst_count(fst_sample_by_key_exact(each, true, keys, fractions, KEYS, 3), &n), 0);
        assert_int_equal(n, KEYS / 2);
        free(keys);
        free(fractions);
}

static void rejects_missing_and_negative_fractions(void **state)
{
        fst_rdd *pairs = pairs_of(*state, 400);
        static const double negative[] = {0.1, -0.1, 0.1}, none[] = {NAN, 1, 1};
        static const double endless[] = {INFINITY, 1, 1}, *no_fractions = NULL;
        static const double keys[] = {0, 1, 2};
        const int64_t *no_keys = NULL;
        int64_t n;
        assert_refused(fst_count(fst_sample_by_key(pairs, false, thirds, once, 2, 1), &n), -EIO,
                       "key not found: 1 (sample_by_key has no fraction for it)");
        assert_refused(fst_count(fst_sample_by_key_exact(pairs, false, thirds, once, 2, 1), &n), -EIO,
                       "key not found: 1");
        assert_refused(fst_count(fst_sample_by_key(pairs, false, thirds, negative, 3, 1), &n), -EINVAL,
                       "Negative sampling rates.");
        assert_refused(fst_count(fst_sample_by_key(pairs, true, thirds, none, 3, 1), &n), -EINVAL,
                       "Negative sampling rates.");
        assert_refused(fst_count(fst_sample_by_key(pairs, true, thirds, endless, 3, 1), &n), -EINVAL,
                       "sample_by_key was given the fraction inf");
        assert_refused(fst_count(fst_sample_by_key(pairs, true, thirds, no_fractions, 3, 1), &n), -EINVAL,
                       "sample_by_key was given NULL instead of 3 fractions");
        assert_refused(fst_count(fst_sample_by_key(pairs, true, no_keys, once, 3, 1), &n), -EINVAL,
                       "sample_by_key was given NULL instead of 3 keys");
        assert_refused(fst_count(fst_sample_by_key(pairs, false, keys, once, 3, 1), &n), -EINVAL,
                       "fractions for keys that are F64, but the pairs are PAIR(I64, I64)");
        assert_refused(fst_count(fst_sample_by_key(fst_keys(pairs), false, thirds, once, 3, 1), &n), -EINVAL,
                       "sample_by_key needs pairs, but the rows are I64");
}

/* Equal keys stay together, so nothing is shuffled again. */
static void sample_keeps_the_partitioner(void **state)
{
        fst_rdd *placed = fst_partition_by(pairs_of(*state, 400), 3);
        fst_rdd *sample = fst_sample_by_key(placed, false, thirds, once, 3, 42);
        const char *lineage = fst_to_debug_string(fst_reduce_by_key_n(sample, fst_fn_sum, 3));
        assert_non_null(strstr(lineage, "sample_by_key"));
        assert_null(strstr(strstr(lineage, "+-(") + 1, "+-(")); /* only the shuffle of partition_by */
}

/* ------------------------------------------------------------------------------------ count_approx_distinct_by_key */

static int by_third_repeated(fst_task *task, int64_t x, fst_out *out)
{
        fst_emit(out, x % 3, x % (100 * (x % 3 + 1)));
        return 0;
}

static int as_text(fst_task *task, int64_t x, fst_out *out)
{
        char text[64];
        snprintf(text, sizeof(text), "the value %lld", (long long)x);
        fst_emit(out, text);
        return 0;
}

static double as_double(fst_task *task, int64_t x)
{
        return (double)x / 4;
}

static int as_place(fst_task *task, int64_t x, fst_out *out)
{
        struct place place = {(int32_t)x, 0, 1};
        fst_emit(out, &place);
        return 0;
}

/* Key 0 has all of 0 … 99, because 3 does not divide 100; key 1 has 200 values; key 2 has every third of 300. */
static void check_distinct(fst_rdd *pairs, double deviation)
{
        static const double exact[] = {100, 200, 100};
        fst_rdd *counts = fst_count_approx_distinct_by_key_n(pairs, deviation, 2);
        fst_iter *rows;
        int64_t key, n, seen = 0;
        assert_int_equal(fst_rdd_partitions(counts), 2);
        assert_int_equal(fst_collect(counts, &rows), 0);
        while (fst_next(rows, &key, &n)) {
                if (fabs((double)n - exact[key]) > 4 * deviation * exact[key])
                        fail_msg("key %lld has %lld values", (long long)key, (long long)n);
                seen |= 1 << key;
        }
        assert_int_equal(seen, 7);
}

static void estimates_distinct_values_by_key(void **state)
{
        fst_rdd *pairs = fst_map(fst_range_n(*state, 0, 20000, 4), by_third_repeated, FST_PAIR(I64, I64));
        check_distinct(pairs, 0.05);
        check_distinct(pairs, 0.01);
        check_distinct(pairs, 0.2);
        check_distinct(fst_map_values(pairs, as_double, FST_F64), 0.05);
        check_distinct(fst_map_values(pairs, as_text, FST_BYTES), 0.05);
        check_distinct(fst_map_values(pairs, as_place, FST_FIXED(sizeof(struct place))), 0.05);
        assert_int_equal(fst_rdd_partitions(fst_count_approx_distinct_by_key(pairs, 0.05)), 4);
        int64_t n;
        fst_rdd *placed = fst_partition_by(pairs, 5); /* combined without a shuffle */
        assert_int_equal(fst_rdd_partitions(fst_count_approx_distinct_by_key(placed, 0.05)), 5);
        assert_int_equal(fst_count(fst_count_approx_distinct_by_key(placed, 0.05), &n), 0);
        assert_int_equal(n, 3);
        assert_refused(fst_count(fst_count_approx_distinct_by_key(pairs, 0.00001), &n), -EINVAL,
                       "accuracy (1e-05) must be greater than 0.000017");
        assert_refused(fst_count(fst_count_approx_distinct_by_key(pairs, 0.004), &n), -EINVAL, "ask for 0.0041");
        assert_refused(fst_count(fst_count_approx_distinct_by_key(fst_keys(pairs), 0.05), &n), -EINVAL,
                       "needs pairs, but the rows are I64");
        assert_int_equal(fst_count(fst_count_approx_distinct_by_key(pairs, 0.00413), &n), 0);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(takes_pairs_of_spark),
                cmocka_unit_test(takes_fractions_of_zero_and_one),
                cmocka_unit_test(samples_keys_of_every_type),
                cmocka_unit_test(samples_many_keys),
                cmocka_unit_test(rejects_missing_and_negative_fractions),
                cmocka_unit_test(sample_keeps_the_partitioner),
                cmocka_unit_test(estimates_distinct_values_by_key),
        };
        int r = cmocka_run_group_tests_name("in worker processes", tests, api_setup_workers, api_teardown);
        return cmocka_run_group_tests_name("in threads", tests, api_setup_loud, api_teardown) + r;
}
