/* Compares aggregation that spills with a plain reference. */
#include "rdd/aggregate/aggregate_fixture.h"

#include "rdd/aggregate/combine_table.h"

#include <stdio.h>

static void spills_bytes_keys(void **state)
{
        struct aggregate_fixture f;
        fixture_init(&f, 16 * PAGE_BLOCK, AGGREGATE_REDUCE, FST_PAIR(BYTES, I64), sum);
        fixture_may_spill(&f);
        bytes_case(&f, 300000, 250000, 4, 30, true);
        assert_true(aggregate_stats(f.a).spills > 1);
        assert_true(aggregate_stats(f.a).spilled_bytes > 0);
        assert_int_equal(aggregate_stats(f.a).rows_in, 300000);
        bytes_case(&f, 100000, 300, 0, 12, true); /* fits */
        assert_int_equal(aggregate_stats(f.a).spills, 0);
        bytes_case(&f, 60, 40, 300, 600000, true); /* rows larger than pages */
        f.crowded = true;
        bytes_case(&f, 20000, 15000, 4, 60, true);
        bytes_case(&f, 60, 40, 300, 600000, true);
        fixture_deinit(&f);
        /* With so little memory, buckets spill again. */
        fixture_init(&f, 5 * PAGE_BLOCK, AGGREGATE_REDUCE, FST_PAIR(BYTES, I64), sum);
        fixture_may_spill(&f);
        f.space.spill_codec = CODEC_NONE;
        bytes_case(&f, 300000, 280000, 5, 60, true);
        bytes_case(&f, 300000, 280000, 4, 9, true);
        fixture_deinit(&f);
}

/* Adds each of @keys numbers @each times, including those in special slots. Each must come out once, with its total. */
static void numbers_case(struct aggregate_fixture *f, int64_t keys, int64_t each)
{
        int64_t key[FST_BATCH_ROWS], value[FST_BATCH_ROWS];
        fst_batch out, batch = {.type = FST_PAIR(I64, I64), .key.i64 = key, .value.i64 = value};
        int64_t *sums = new_array(int64_t, (size_t)keys), n = 0;
        fixture_start(f);
        for (int64_t i = 0; i < keys * each; i++) {
                key[batch.rows] = i % keys ^ (int64_t)NUMBER_FREE;
                value[batch.rows++] = i;
                if (batch.rows < FST_BATCH_ROWS && i + 1 < keys * each)
                        continue;
                fixture_add_all(f, &batch, NULL);
                batch.rows = 0;
        }
        for (; fixture_next_row(f, &out); n += out.rows)
                for (uint32_t i = 0; i < out.rows; i++)
                        sums[out.key.i64[i] ^ (int64_t)NUMBER_FREE] += out.value.i64[i];
        assert_int_equal(n, keys);
        for (int64_t i = 0; i < keys; i++)
                assert_int_equal(sums[i], i * each + keys * (each * (each - 1) / 2));
        free(sums);
}

static void spills_numbers(void **state)
{
        struct aggregate_fixture f;
        fixture_init(&f, 5 * PAGE_BLOCK, AGGREGATE_REDUCE, FST_PAIR(I64, I64), sum);
        fixture_may_spill(&f);
        numbers_case(&f, 1, 5);
        assert_int_equal(aggregate_stats(f.a).spills, 0);
        numbers_case(&f, 200000, 3); /* buckets spill again */
        assert_true(aggregate_stats(f.a).spills > 1);
        numbers_case(&f, 1000, 3);
        fixture_deinit(&f);
}

static void spills_bytes_values(void **state)
{
        enum { KEYS = 5000, EACH = 40 };
        static fst_bytes values[FST_BATCH_ROWS];
        static int64_t keys[FST_BATCH_ROWS];
        static char text[FST_BATCH_ROWS][100];
        fst_out result = {.room = 1, .key.bytes = &joined_row};
        fst_batch out, batch = {.rows = FST_BATCH_ROWS, .type = FST_PAIR(I64, BYTES)};
        struct aggregate_fixture f;
        batch.key.i64 = keys;
        batch.value.bytes = values;
        fixture_init(&f, 16 * PAGE_BLOCK, AGGREGATE_REDUCE, batch.type, FST_FN(append_row));
        fixture_may_spill(&f);
        f.options.out = &result;
        f.options.out_reset = joined_forget;
        fixture_start(&f);
        uint64_t bytes[KEYS] = {0}, seen = 0;
        for (int i = 0; i < KEYS * EACH; i += FST_BATCH_ROWS) {
                for (int j = 0; j < FST_BATCH_ROWS; j++) {
                        size_t len = random_below(100);
                        keys[j] = (int64_t)random_below(KEYS);
                        memset(text[j], (int)(keys[j] % 50) + 'A', len);
                        values[j] = (fst_bytes){text[j], len};
                        bytes[keys[j]] += len;
                }
                fixture_add_all(&f, &batch, NULL);
        }
        while (fixture_next_row(&f, &out))
                for (uint32_t i = 0; i < out.rows; i++, seen++) {
                        fst_bytes v = out.value.bytes[i];
                        assert_int_equal(v.len, bytes[out.key.i64[i]]);
                        for (size_t j = 0; j < v.len; j++)
                                assert_int_equal(v.data[j], out.key.i64[i] % 50 + 'A');
                }
        assert_int_equal(seen, KEYS);
        assert_true(aggregate_stats(f.a).spills > 0);

        /* A failure while rows are on disk. */
        struct fst_error error = FST_ERROR_INIT;
        uint32_t at = 0;
        int r = 0;
        aggregate_reset(f.a);
        fixture_start(&f);
        for (int i = 0; !r; i++, at = 0) {
                if (aggregate_stats(f.a).spills > 1)
                        values[7] = fst_bytes_of("!"), keys[7] = keys[6];
                r = aggregate_add(f.a, &batch, &at, &error);
                for (int j = 0; j < FST_BATCH_ROWS; j++)
                        keys[j] += j % 3 ? 1000 : 0;
                keys[7] = keys[6];
        }
        assert_int_equal(r, -ECANCELED);
        error_deinit(&error);
        fixture_deinit(&f);
}

/* Another consumer of the task needs the memory. */
static void frees_memory_for_others(void **state)
{
        struct memory_consumer other;
        int64_t keys[FST_BATCH_ROWS], values[FST_BATCH_ROWS];
        fst_batch out, batch = {.rows = 1000, .type = FST_PAIR(I64, I64), .key.i64 = keys, .value.i64 = values};
        struct aggregate_fixture f;
        size_t seen = 0;
        fixture_init(&f, 32 * PAGE_BLOCK, AGGREGATE_REDUCE, batch.type, sum);
        fixture_may_spill(&f);
        memory_consumer_init(&other, f.memory, "other", NULL);
        fixture_start(&f);
        for (int64_t i = 0; i < 80; i++) {
                for (int64_t j = 0; j < 1000; j++)
                        keys[j] = values[j] = i % 40 * 1000 + j;
                fixture_add_all(&f, &batch, NULL);
                if (i == 50)
                        while (aggregate_stats(f.a).spills == 0)
                                assert_int_equal(memory_acquire(&other, PAGE_BLOCK), 0);
        }
        while (fixture_next_row(&f, &out))
                for (uint32_t i = 0; i < out.rows; i++, seen++)
                        assert_int_equal(out.value.i64[i], 2 * out.key.i64[i]);
        assert_int_equal(seen, 40000);
        memory_consumer_deinit(&other);
        fixture_deinit(&f);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(spills_bytes_keys),
                cmocka_unit_test(spills_numbers),
                cmocka_unit_test(spills_bytes_values),
                cmocka_unit_test(frees_memory_for_others),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
