/*
 * Compares aggregation with a plain reference, which records rows as (key, value), sorts them, and combines neighbours.
 */
#include "rdd/aggregate/aggregate_fixture.h"

#include "rdd/aggregate/combine_table.h"
#include "rdd/pipeline/key.h"
#include "unit/cases.h"

#include <math.h>
#include <stdio.h>

static void counts_bytes_keys(void **state)
{
        struct aggregate_fixture f;
        fixture_init(&f, 256 << 20, AGGREGATE_MAP, FST_PAIR(BYTES, I64), sum);
        bytes_case(&f, 5000, 700, 0, 8, true);
        bytes_case(&f, 5000, 700, 15, 17, true);
        bytes_case(&f, 60000, 30000, 0, 40, true);
        bytes_case(&f, 3000, 1, 0, 0, true); /* only the empty key */
        bytes_case(&f, 200000, 200000, 4, 12, true);
        bytes_case(&f, 10, 10, 300, 70000, true);
        fixture_deinit(&f);
}

/* Numbers of keys around the sizes at which tables grow. */
static void grows_around_table_sizes(void **state)
{
        for (size_t keys = 1400; keys <= 1700; keys += 17) {
                struct aggregate_fixture f;
                fixture_init(&f, 64 << 20, AGGREGATE_REDUCE, FST_PAIR(BYTES, I64), sum);
                bytes_case(&f, keys * 8, keys, 6, 6, true);
                fixture_deinit(&f);
        }
}

/* On the map side, a full table yields partial rows and then takes the rest. */
static void drains_when_full(void **state)
{
        struct aggregate_fixture f;
        fixture_init(&f, 16 * PAGE_BLOCK, AGGREGATE_MAP, FST_PAIR(BYTES, I64), sum);
        bytes_case(&f, 300000, 250000, 4, 30, false);
        assert_true(aggregate_stats(f.a).keys > 100000);
        assert_int_equal(aggregate_stats(f.a).spills, 0);
        fixture_deinit(&f);
}

/* Writes @n pieces of up to @longest letters to @text, and their ends. */
static void pieces_make(char *text, uint32_t *ends, uint32_t n, size_t keys, size_t longest)
{
        uint32_t at = 0;
        ends[0] = UINT32_MAX;
        for (uint32_t i = 0; i < n; i++) {
                uint64_t key = random_below(keys);
                size_t len = 2 + key % (longest - 1);
                for (size_t j = 0; j < len; j++)
                        text[at++] = (char)('a' + (key >> (4 * (j % 4)) & 15));
                ends[i + 1] = at++;
        }
}

/* Compares pieces of a text with the same rows. Returns how often the table was full. */
static size_t combines_pieces_as_rows(struct aggregate_fixture *f, size_t keys, size_t longest, size_t batches)
{
        enum { PIECES = 900 };
        size_t drains = 0;
        struct fst_error error = FST_ERROR_INIT;
        struct entries expected = {0}, got = {0};
        uint32_t ends[1 + PIECES];
        char *text = mem_zero(PIECES * (longest + 1) + 16);
        fixture_start(f);
        for (size_t i = 0; i < batches; i++) {
                const struct piece_ends pieces = {
                        .text = text, .ends = ends + 1, .n = PIECES, .pairs = true, .number = (int64_t)i - 2};
                uint32_t at = 0;
                int r;
                pieces_make(text, ends, PIECES, keys, longest);
                for (uint32_t j = 0; j < PIECES; j++)
                        entries_add(&expected, piece_at(&pieces, j), pieces.number);
                for (; (r = aggregate_add_pieces(f->a, &pieces, &at, &error)) == FST_AGGREGATE_E_FULL; drains++)
                        assert_true(fixture_drain(f, &got) > 0);
                if (r)
                        fail_msg("%d: %s", r, error_message(&error));
                assert_int_equal(at, PIECES);
        }
        assert_int_equal(aggregate_stats(f->a).rows_in, batches * PIECES);
        fixture_drain(f, &got);
        entries_combine(&expected);
        entries_combine(&got);
        entries_equal(&expected, &got);
        entries_deinit(&expected);
        entries_deinit(&got);
        free(text);
        return drains;
}

static void combines_pieces_of_a_text(void **state)
{
        struct aggregate_fixture f;
        fixture_init(&f, 64 << 20, AGGREGATE_MAP, FST_PAIR(BYTES, I64), sum);
        assert_int_equal(combines_pieces_as_rows(&f, 3000, 12, 30), 0);
        assert_int_equal(combines_pieces_as_rows(&f, 3000, 40, 30), 0);
        fixture_deinit(&f);
        fixture_init(&f, 10 * PAGE_BLOCK, AGGREGATE_MAP, FST_PAIR(BYTES, I64), sum);
        assert_true(combines_pieces_as_rows(&f, 20000, 300, 60) > 0);
        fixture_deinit(&f);
}

static void rejects_row_larger_than_memory(void **state)
{
        struct aggregate_fixture f;
        struct fst_error error = FST_ERROR_INIT;
        size_t size = 20 << 20;
        char *key = mem_zero(size);
        fst_bytes view = {key, size};
        int64_t value = 1;
        uint32_t at = 0;
        fixture_init(&f, 16 * PAGE_BLOCK, AGGREGATE_MAP, FST_PAIR(BYTES, I64), sum);
        fixture_start(&f);
        fst_batch batch = {.rows = 1, .type = f.options.type, .key.bytes = &view, .value.i64 = &value};
        assert_int_equal(aggregate_add(f.a, &batch, &at, &error), -ENOMEM);
        assert_non_null(strstr(error_message(&error), "too large"));
        error_deinit(&error);
        free(key);
        fixture_deinit(&f);
}

/* -------------------------------------------------------------------------------------------- kinds and functions */

static void combines_number_keys(void **state)
{
        struct aggregate_fixture f;
        double nan2 = -__builtin_nan("7");
        double keys[] = {0.0, -0.0, 1.5, NAN, nan2, -INFINITY, 1.5};
        int64_t values[] = {1, 2, 3, 4, 5, 6, INT64_MAX};
        fst_batch out, batch = {.rows = 7, .type = FST_PAIR(F64, I64), .key.f64 = keys, .value.i64 = values};
        fixture_init(&f, 8 << 20, AGGREGATE_REDUCE, batch.type, sum);
        fixture_start(&f);
        fixture_add_all(&f, &batch, NULL);
        assert_int_equal(fixture_next_row(&f, &out), 4);
        for (uint32_t i = 0; i < 4; i++) {
                double key = out.key.f64[i];
                int64_t expected = key == 0.0 ? 3 : key == 1.5 ? INT64_MIN + 2 : isnan(key) ? 9 : 6;
                assert_int_equal(out.value.i64[i], expected);
                assert_false(key == 0.0 && signbit(key));
        }
        assert_int_equal(fixture_next_row(&f, &out), 0);
        uint64_t hashes[7];
        hash_keys(&batch, hashes);
        assert_true(hashes[0] == hashes[1]);
        assert_true(hashes[3] == hashes[4]);
        assert_true(hashes[0] != hashes[2]);
        fixture_deinit(&f);

        int64_t numbers[] = {INT64_MIN, 0, -1, INT64_MIN, 0, 0};
        double halves[] = {0.5, 0.25, 1, 0.5, 0.25, 0.25};
        batch = (fst_batch){.rows = 6, .type = FST_PAIR(I64, F64), .key.i64 = numbers, .value.f64 = halves};
        fixture_init(&f, 8 << 20, AGGREGATE_MAP, batch.type, sum);
        fixture_start(&f);
        fixture_add_all(&f, &batch, NULL);
        assert_int_equal(fixture_next_row(&f, &out), 3);
        for (uint32_t i = 0; i < 3; i++)
                assert_true(out.value.f64[i] == (out.key.i64[i] == 0 ? 0.75 : 1.0));
        fixture_deinit(&f);
}

static int64_t bigger_square(fst_task *task, int64_t a, int64_t b)
{
        int64_t offset = task->captured ? *(const int64_t *)task->captured : 0;
        return (a * a > b * b ? a : b) + offset;
}

static double quotient(fst_task *task, double a, double b)
{
        return a / b;
}

static void combines_numbers(void **state)
{
        const struct {
                fst_fn f;
                int64_t expected;
        } cases[] = {{sum, -4},
                     {min, -9},
                     {max, 5},
                     {first, 5},
                     {FST_FN(bigger_square), -9},
                     {fst_fn_with(FST_FN(bigger_square), &(int64_t){0}, sizeof(int64_t)), -9}};
        int64_t keys[] = {1, 1, 1}, values[] = {5, -9, 0};
        fst_batch out, batch = {.rows = 3, .type = FST_PAIR(I64, I64), .key.i64 = keys, .value.i64 = values};
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                CASE_LABEL("%zu of cases: expected %lld", i, (long long)cases[i].expected);
                struct aggregate_fixture f;
                fixture_init(&f, 8 << 20, AGGREGATE_MAP, batch.type, cases[i].f);
                f.task.captured = "kept";
                fixture_start(&f);
                fixture_add_all(&f, &batch, NULL);
                assert_string_equal(f.task.captured, "kept");
                assert_int_equal(fixture_next_row(&f, &out), 1);
                assert_int_equal(out.value.i64[0], cases[i].expected);
                fixture_deinit(&f);
        }
        const struct {
                fst_fn f;
                double expected;
        } doubles[] = {{min, -0.0}, {max, NAN}, {first, 0.0}, {FST_FN(quotient), NAN}};
        double halves[] = {0.0, -0.0, NAN};
        batch = (fst_batch){.rows = 3, .type = FST_PAIR(I64, F64), .key.i64 = keys, .value.f64 = halves};
        for (size_t i = 0; i < ARRAY_SIZE(doubles); i++) {
                CASE_LABEL("%zu of doubles: expected %g", i, doubles[i].expected);
                struct aggregate_fixture f;
                fixture_init(&f, 8 << 20, AGGREGATE_MAP, batch.type, doubles[i].f);
                fixture_start(&f);
                fixture_add_all(&f, &batch, NULL);
                assert_int_equal(fixture_next_row(&f, &out), 1);
                double got = out.value.f64[0], expected = doubles[i].expected;
                assert_true(isnan(expected) ? isnan(got) : got == expected && !signbit(got) == !signbit(expected));
                fixture_deinit(&f);
        }
}

struct point {
        int64_t x, y, n;
};

static int add_points(fst_task *task, void *a, const void *b)
{
        struct point *p = a;
        const struct point *q = b;
        if (q->n < 0)
                return -EDOM;
        p->x += q->x;
        p->y += q->y;
        p->n += q->n;
        return 0;
}

static int add_small(fst_task *task, void *a, const void *b)
{
        *(int32_t *)a += *(const int32_t *)b;
        return 0;
}

static void combines_fixed(void **state)
{
        static struct point points[1000];
        static char keys[1000][20];
        fst_type type = {.key = FST_KIND_FIXED, .key_size = 20, .value = FST_KIND_FIXED, .value_size = sizeof(*points)};
        fst_batch out, batch = {.rows = 1000, .type = type, .key.fixed = keys[0], .value.fixed = (char *)points};
        struct aggregate_fixture f;
        for (int i = 0; i < 1000; i++) {
                points[i] = (struct point){i, -i, 1};
                memset(keys[i], i % 10, sizeof(keys[i]));
        }
        fixture_init(&f, 8 << 20, AGGREGATE_REDUCE, type, FST_FN(add_points));
        fixture_start(&f);
        fixture_add_all(&f, &batch, NULL);
        assert_int_equal(fixture_next_row(&f, &out), 10);
        for (int i = 0; i < 10; i++) {
                const struct point *p = (const struct point *)out.value.fixed + i;
                int key = out.key.fixed[20 * i + 19];
                assert_true(p->n == 100);
                assert_true(p->x == 100 * key + 10 * 4950);
                assert_true(p->y == -p->x);
        }
        assert_int_equal(fixture_next_row(&f, &out), 0);

        struct fst_error error = FST_ERROR_INIT;
        uint32_t at = 0;
        points[700].n = -1;
        assert_int_equal(aggregate_add(f.a, &batch, &at, &error), -EDOM);
        assert_int_equal(at, 700);
        assert_non_null(strstr(error_message(&error), "add_points"));
        error_deinit(&error);
        fixture_deinit(&f);

        static int32_t small[] = {1, 2, 3, 40};
        int64_t numbers[] = {7, 7, 7, 8};
        type = (fst_type){.key = FST_KIND_I64, .key_size = 8, .value = FST_KIND_FIXED, .value_size = 4};
        batch = (fst_batch){.rows = 4, .type = type, .key.i64 = numbers, .value.fixed = (char *)small};
        fixture_init(&f, 8 << 20, AGGREGATE_REDUCE, type, FST_FN(add_small));
        fixture_start(&f);
        fixture_add_all(&f, &batch, NULL);
        assert_int_equal(fixture_next_row(&f, &out), 2);
        for (int i = 0; i < 2; i++)
                assert_int_equal(((int32_t *)out.value.fixed)[i], out.key.i64[i] == 7 ? 6 : 40);
        fixture_deinit(&f);
}

static void combines_bytes(void **state)
{
        static fst_bytes values[1000];
        static int64_t keys[1000];
        fst_out result = {.room = 1, .key.bytes = &joined_row};
        fst_batch out, batch = {.rows = 1000, .type = FST_PAIR(I64, BYTES), .key.i64 = keys, .value.bytes = values};
        struct aggregate_fixture f;
        struct fst_error error = FST_ERROR_INIT;
        uint32_t at = 0;
        for (int i = 0; i < 1000; i++) {
                keys[i] = i % 7;
                values[i] = (fst_bytes){&"abcdefghijklmnopqrstuvwxyz"[i % 7], (size_t)i % 3};
        }
        fixture_init(&f, 16 << 20, AGGREGATE_REDUCE, batch.type, FST_FN(append_row));
        f.options.out = &result;
        f.options.out_reset = joined_forget;
        fixture_start(&f);
        for (int i = 0; i < 50; i++)
                fixture_add_all(&f, &batch, NULL);
        assert_int_equal(fixture_next_row(&f, &out), 7);
        size_t total = 0;
        for (int i = 0; i < 7; i++) {
                fst_bytes v = out.value.bytes[i];
                total += v.len;
                for (size_t j = 0; j < v.len; j++)
                        assert_true(v.data[j] == 'a' + out.key.i64[i] || v.data[j] == 'b' + out.key.i64[i]);
        }
        assert_int_equal(total, 50 * 999);
        assert_int_equal(fixture_next_row(&f, &out), 0);

        values[500] = fst_bytes_of("!");
        assert_int_equal(aggregate_add(f.a, &batch, &at, &error), -ECANCELED);
        assert_int_equal(at, 500);
        error_deinit(&error);
        fixture_deinit(&f);

        fixture_init(&f, 16 << 20, AGGREGATE_REDUCE, batch.type, FST_FN(append_row));
        f.options.out = &result;
        f.options.out_reset = joined_forget;
        fixture_start(&f);
        values[500] = fst_bytes_of("?");
        at = 0;
        assert_int_equal(aggregate_add(f.a, &batch, &at, &error), -EINVAL);
        assert_non_null(strstr(error_message(&error), "0 rows"));
        error_deinit(&error);
        fixture_deinit(&f);
}

static void keeps_distinct_rows(void **state)
{
        struct aggregate_fixture f;
        int64_t keys[1000];
        fst_batch out, batch = {.rows = 1000, .type = FST_I64, .key.i64 = keys};
        for (int i = 0; i < 1000; i++)
                keys[i] = i % 333;
        fixture_init(&f, 8 << 20, AGGREGATE_MAP, batch.type, first);
        fixture_start(&f);
        fixture_add_all(&f, &batch, NULL);
        assert_int_equal(fixture_next_row(&f, &out), 333);
        fixture_deinit(&f);
}

static void refuses_functions(void **state)
{
        struct fst_error error = FST_ERROR_INIT;
        struct aggregate_fixture f;
        fixture_init(&f, 8 << 20, AGGREGATE_MAP, FST_PAIR(I64, BYTES), sum);
        assert_int_equal(aggregate_start(f.a, &f.options, &error), -EINVAL);
        assert_non_null(strstr(error_message(&error), "fst_fn_sum"));
        f.options.combine = FST_FN(bigger_square);
        assert_int_equal(aggregate_start(f.a, &f.options, &error), -EINVAL);
        f.options.type = FST_PAIR(BYTES, I64);
        assert_int_equal(aggregate_start(f.a, &f.options, &error), 0);
        error_deinit(&error);
        fixture_deinit(&f);
}

static void reports_when_keys_rarely_repeat(void **state)
{
        for (int repeat = 0; repeat < 2; repeat++) {
                struct aggregate_fixture f;
                int64_t keys[FST_BATCH_ROWS], values[FST_BATCH_ROWS] = {0};
                fst_batch batch = {.rows = 1000, .type = FST_PAIR(I64, I64), .key.i64 = keys, .value.i64 = values};
                fixture_init(&f, 64 << 20, AGGREGATE_MAP, batch.type, sum);
                fixture_start(&f);
                for (int i = 0; i < 400; i++) {
                        for (int j = 0; j < 1000; j++)
                                keys[j] = (i * 1000 + j) / (repeat + 1);
                        assert_true(aggregate_reduces(f.a));
                        fixture_add_all(&f, &batch, NULL);
                }
                assert_int_equal(aggregate_reduces(f.a), repeat);
                fixture_deinit(&f);
        }
}

/* Keys at the end of readable memory must not be read beyond it, on either side of the inline length. */
static void reads_no_key_beyond_its_page(void **state)
{
        char page[4096] __attribute__((aligned(4096)));
        for (size_t i = 0; i < sizeof(page); i++)
                page[i] = (char)random_below(256);
        for (size_t len = 0; len <= KEY_INLINE; len++) {
                struct short_key key = {0, 0}, got = key_load(page + sizeof(page) - len, len);
                memcpy(&key, page + sizeof(page) - len, len);
                assert_memory_equal(&got, &key, sizeof(key));
                got = key_load(page + 100, len);
                key = (struct short_key){0, 0};
                memcpy(&key, page + 100, len);
                assert_memory_equal(&got, &key, sizeof(key));
        }
        struct short_key none = key_load(NULL, 0);
        assert_true(none.lo == 0);
        assert_true(none.hi == 0);
}

/* Short, similar keys must hash as well as random numbers: the number of equal 32-bit halves and the fullest of 4,096
 * bins stay within chance, and every input bit changes about half of the output. */
static void hashes_short_keys_evenly(void **state)
{
        enum { KEYS = 1 << 16 };
        uint32_t bins[2][4096];
        for (int shift = 0; shift < 64; shift += 8) {
                memset(bins, 0, sizeof(bins));
                for (uint64_t i = 0; i < KEYS; i++) {
                        uint64_t hash = key_hash_short((struct short_key){i << shift, i >> (64 - MAX(shift, 1))}, 8);
                        bins[0][hash >> 52]++;
                        bins[1][hash_partition(hash, 4096)]++;
                }
                for (int b = 0; b < 2; b++) {
                        double chi = 0;
                        for (int i = 0; i < 4096; i++)
                                chi += pow((double)bins[b][i] - KEYS / 4096.0, 2) / (KEYS / 4096.0);
                        if (shift <= 48) { /* above, i has fewer bits than there are bins */
                                assert_true(chi > 4095 - 7 * 90.5);
                                assert_true(chi < 4095 + 7 * 90.5);
                        }
                }
        }
        for (int bit = 0; bit < 128; bit++) {
                uint64_t flips = 0;
                for (int i = 0; i < 1000; i++) {
                        struct short_key key = {random_below(UINT64_MAX), random_below(UINT64_MAX)}, other = key;
                        if (bit < 64)
                                other.lo ^= 1ull << bit;
                        else
                                other.hi ^= 1ull << (bit - 64);
                        flips += (uint64_t)__builtin_popcountll(key_hash_short(key, 16) ^ key_hash_short(other, 16));
                }
                assert_true(flips > 31000);
                assert_true(flips < 33000);
        }
}

/* A smaller table of the other side takes the rows in the order of the first table without long searches. */
static void takes_rows_in_another_tables_order(void **state)
{
        struct aggregate_fixture map, reduce;
        int64_t keys[FST_BATCH_ROWS], values[FST_BATCH_ROWS] = {0};
        fst_batch out,
                batch = {.rows = FST_BATCH_ROWS, .type = FST_PAIR(I64, I64), .key.i64 = keys, .value.i64 = values};
        fixture_init(&map, 256 << 20, AGGREGATE_MAP, batch.type, sum);
        fixture_init(&reduce, 256 << 20, AGGREGATE_REDUCE, batch.type, sum);
        fixture_start(&map);
        fixture_start(&reduce);
        size_t n = 0;
        for (int i = 0; i < 500; i++) {
                for (int j = 0; j < FST_BATCH_ROWS; j++)
                        keys[j] = i * FST_BATCH_ROWS + j;
                fixture_add_all(&map, &batch, NULL);
        }
        /* With the same order this would take minutes, and the test would time out. */
        while (fixture_next_row(&map, &out)) {
                fixture_add_all(&reduce, &out, NULL);
                n += out.rows;
        }
        assert_int_equal(n, 500 * FST_BATCH_ROWS);
        fixture_deinit(&map);
        fixture_deinit(&reduce);
}

/* All keys hash to the last slots: searches wrap around, and reading by bucket still finds each key once. */
static void finds_keys_that_hash_to_the_last_slots(void **state)
{
        enum { KEYS = 700 };
        static int64_t keys[KEYS], values[KEYS];
        struct memory_manager *manager = memory_manager_new(16 << 20, 0.5);
        struct memory_task *task = memory_task_new(manager);
        struct memory_consumer consumer;
        struct combine_table t = {.seed = 1};
        struct aggregate_options options = {.type = FST_PAIR(I64, I64), .combine = sum};
        int64_t number = 0;
        memory_consumer_init(&consumer, task, "table", NULL);
        assert_int_equal(table_init(&t, &options, &consumer, NULL), 0);
        assert_int_equal(table_start(&t, 0), 0);
        for (int n = 0; n < KEYS; number++) {
                uint64_t hash;
                hash_keys(&(fst_batch){.rows = 1, .type = FST_I64, .key.i64 = &number}, &hash);
                if (hash >> 54 == (n < KEYS / 2 ? 1023 : n < KEYS / 4 * 3 ? 63 : 700)) {
                        keys[n] = number;
                        values[n++] = 1;
                }
        }
        for (int repeat = 0; repeat < 2; repeat++)
                for (uint32_t done = 0; done < KEYS;) {
                        fst_batch batch = {.rows = MIN(KEYS - done, 350u), .type = options.type};
                        uint32_t at = 0;
                        batch.key.i64 = keys + done;
                        batch.value.i64 = values + done;
                        assert_int_equal(table_add(&t, TABLE_VALUES, &batch, &at, NULL), 0);
                        done += batch.rows;
                }
        assert_int_equal(t.capacity, 2048);
        size_t found = 0;
        int64_t key_column[100], value_column[100], total = 0;
        for (uint32_t b = 0; b < TABLE_BUCKETS; b++)
                for (size_t pos = 0;;) {
                        fst_batch out = {.type = options.type, .key.i64 = key_column, .value.i64 = value_column};
                        uint32_t rows = table_read_bucket(&t, b, &pos, 100, &out);
                        if (!rows)
                                break;
                        found += rows;
                        for (uint32_t i = 0; i < rows; i++) {
                                assert_int_equal(value_column[i], 2);
                                total += key_column[i];
                        }
                }
        assert_int_equal(found, KEYS);
        for (int i = 0; i < KEYS; i++)
                total -= keys[i];
        assert_int_equal(total, 0);
        table_release(&t);
        table_free(&t);
        memory_consumer_deinit(&consumer);
        memory_task_free(task);
        memory_manager_free(manager);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(counts_bytes_keys),
                cmocka_unit_test(grows_around_table_sizes),
                cmocka_unit_test(drains_when_full),
                cmocka_unit_test(combines_pieces_of_a_text),
                cmocka_unit_test(rejects_row_larger_than_memory),
                cmocka_unit_test(combines_number_keys),
                cmocka_unit_test(combines_numbers),
                cmocka_unit_test(combines_fixed),
                cmocka_unit_test(combines_bytes),
                cmocka_unit_test(keeps_distinct_rows),
                cmocka_unit_test(refuses_functions),
                cmocka_unit_test(reports_when_keys_rarely_repeat),
                cmocka_unit_test(reads_no_key_beyond_its_page),
                cmocka_unit_test(hashes_short_keys_evenly),
                cmocka_unit_test(takes_rows_in_another_tables_order),
                cmocka_unit_test(finds_keys_that_hash_to_the_last_slots),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
