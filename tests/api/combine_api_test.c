/* Tests fold, aggregate and combine by key, here and with lineage from the wire, in memory and on disk. Cases follow
 * Spark's PairRDDFunctionsSuite. */
#include "api/pair_fixture.h"
#include "rdd/pipeline/key.h"

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

static void combines_values_into_accumulators(void **state)
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

        /* With the right partitioner, one task for each partition does everything. */
        fst_rdd *placed = fst_partition_by(pairs, 4);
        means = fst_aggregate_by_key(placed, &none, add_to_mean, both_means);
        EXPECT(fst_map(means, mean_of, FST_I64), 100603, 203002);
        assert_int_equal(shuffles_until(means, placed), 0);
        assert_ptr_equal(means->partitioner, placed->partitioner);

        /* Other types. */
        fst_rdd *texts = fst_map(fst_range_n(sc, 95, 105, 3), to_texts, FST_PAIR(BYTES, BYTES));
        EXPECT(fst_map(fst_aggregate_by_key_n(texts, &(int64_t){0}, longest, fst_fn_max, 2), longest_of_text, FST_I64), 2,
               12, 23, 33, 43, 53, 63);
        EXPECT(fst_map(fst_combine_by_key(texts, text_length, longest, fst_fn_max, FST_I64), longest_of_text, FST_I64), 2,
               12, 23, 33, 43, 53, 63);
        EXPECT(fst_map(fst_combine_by_key(pairs, halves, add_half, fst_fn_sum, FST_F64), twice_of, FST_I64), 1006, 2030);
        fst_bytes empty = {"", 0};
        EXPECT(fst_map(fst_aggregate_by_key(pairs, &empty, append_digit, append_texts), sum_of_digits, FST_I64), 10006,
               20003);

        /* The zero value is copied, and counts in each partition that has the key. */
        int64_t one = 1, ten = 10;
        fst_rdd *sums = fst_fold_by_key(PAIRS(sc, 1, 1001, 1002, 2003), &ten, fst_fn_sum);
        fst_rdd *products = fst_fold_by_key(pairs, &one, product);
        ten = one = 77;
        EXPECT(folded(sums), 1013, 2013);
        EXPECT(folded(products), 1006, 2200);

        assert_refused(fst_count(fst_fold_by_key(pairs, &none, both_means), &one), -EINVAL,
                       "fold_by_key takes a zero of the values' type, but they are I64 and it is FIXED");
        assert_refused(fst_count(fst_aggregate_by_key(pairs, &none, longest, both_means), &one), -EINVAL,
                       "does not take a value of I64 into FIXED(16)");
        assert_refused(fst_count(fst_combine_by_key(pairs, text_length, add_to_mean, both_means, FST_FIXED(16)), &one),
                       -EINVAL, "does not create FIXED(16) from a value of I64");
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

/* More keys than fit into a table in little memory, on both sides of the shuffle, with few repetitions. */
static void spills_accumulators(void **state)
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

enum { MANY_ROWS = 60000, MANY_KEYS = 1000000 };

static int64_t key_of_many(int64_t x)
{
        return (int64_t)(key_mix((uint64_t)x) % MANY_KEYS);
}

static int many_keys(fst_task *task, int64_t x, fst_out *out)
{
        fst_emit(out, key_of_many(x), x);
        return 0;
}

static int64_t value_of(fst_task *task, int64_t key, int64_t value)
{
        return value;
}

/* Rows of many random numbers go to reduce tasks uncombined, by bucket of their keys (shuffle/buckets/). */
static void combines_many_keys(void **state)
{
        char *seen = new_array(char, MANY_KEYS);
        int64_t keys = 0, n, sum;
        fst_iter *first;
        for (int64_t x = 1; x <= MANY_ROWS; x++) {
                keys += !seen[key_of_many(x)];
                seen[key_of_many(x)] = 1;
        }
        free(seen);
        fst_rdd *sums = fst_reduce_by_key_n(
                fst_map(fst_range_n(*state, 1, MANY_ROWS + 1, 2), many_keys, FST_PAIR(I64, I64)), fst_fn_sum, 3);
        assert_int_equal(fst_count(sums, &n), 0);
        assert_int_equal(n, keys);
        fst_rdd *values = fst_map(sums, value_of, FST_I64);
        assert_int_equal(fst_reduce(values, fst_fn_sum, &sum), 0);
        assert_int_equal(sum, (int64_t)MANY_ROWS * (MANY_ROWS + 1) / 2);
        assert_int_equal(fst_take(values, 5, &first), 0);
        for (n = 0; fst_next(first, &sum); n++)
                assert_in_range(sum, 1, MANY_ROWS * 3);
        assert_int_equal(n, 5);
}

int main(void)
{
        const struct CMUnitTest cases[] = {
                cmocka_unit_test_setup_teardown(combines_values_into_accumulators, loud_setup, api_teardown),
        };
        const struct CMUnitTest more[] = {
                cmocka_unit_test_setup_teardown(combines_many_keys, loud_setup, api_teardown),
                cmocka_unit_test(spills_accumulators),
        };
        return pair_cases_run(cases, ARRAY_SIZE(cases), more, ARRAY_SIZE(more));
}
