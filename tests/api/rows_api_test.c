/* Tests rows returned by collect and take: their lifetime, and their release after a failure. */
#include "base/mem.h"
#include "api/api_fixture.h"
#include "driver/context.h"

struct span {
        int64_t low;
        int32_t high;
};

enum { ROWS = 40000 };

static int by_number(fst_task *task, int64_t x, fst_out *out)
{
        struct span span = {.low = x, .high = (int32_t)x + 1};
        fst_emit(out, x, &span);
        return 0;
}

static int by_span(fst_task *task, int64_t x, fst_out *out)
{
        struct span span = {.low = x, .high = (int32_t)x + 1};
        char text[32];
        snprintf(text, sizeof(text), "%lld", (long long)x);
        fst_emit(out, &span, text);
        return 0;
}

static int alone(fst_task *task, int64_t x, fst_out *out)
{
        struct span span = {.low = x, .high = (int32_t)x + 1};
        fst_emit(out, &span);
        return 0;
}

static int broken(fst_task *task, int64_t x, fst_out *out)
{
        if (x == 3000)
                return fst_fail(task, "no");
        fst_emit(out, x);
        return 0;
}

static void check_spans(const void **spans, int64_t n)
{
        for (int64_t i = 0; i < n; i++) {
                struct span span;
                memcpy(&span, spans[i], sizeof(span));
                assert_int_equal(span.low, i);
                assert_int_equal(span.high, i + 1);
        }
}

static void structs_stay_until_the_context_stops(void **state)
{
        static const void *spans[ROWS];
        fst_rdd *numbers = fst_range_n(*state, 0, ROWS, 3);
        fst_iter *rows;
        int64_t key, n = 0;
        assert_int_equal(fst_collect(fst_map(numbers, by_number, FST_PAIR(I64, FIXED(sizeof(struct span)))), &rows), 0);
        for (; fst_next(rows, &key, &spans[n]); n++)
                assert_int_equal(key, n);
        assert_int_equal(n, ROWS);
        check_spans(spans, n);
        assert_false(fst_next(rows, &key, &spans[0]));

        assert_int_equal(fst_take(fst_map(numbers, alone, FST_FIXED(sizeof(struct span))), 30001, &rows), 0);
        for (n = 0; fst_next(rows, &spans[n]);)
                n++;
        assert_int_equal(n, 30001);
        check_spans(spans, n);
}

static void keeps_structs_beside_bytes(void **state)
{
        static const void *spans[ROWS];
        static fst_bytes texts[ROWS];
        fst_rdd *numbers = fst_range_n(*state, 0, ROWS, 3);
        fst_iter *rows;
        int64_t n = 0;
        assert_int_equal(fst_take(fst_map(numbers, by_span, FST_PAIR(FIXED(sizeof(struct span)), BYTES)), 25000, &rows),
                         0);
        while (fst_next(rows, &spans[n], &texts[n]))
                n++;
        assert_int_equal(n, 25000);
        check_spans(spans, n);
        for (int64_t i = 0; i < n; i++) {
                char text[32];
                snprintf(text, sizeof(text), "%lld", (long long)i);
                assert_true(fst_bytes_equal(texts[i], fst_bytes_of(text)));
        }
}

/* The size of a large value in bytes. */
enum { LARGE = 100 << 10 };

static int large(fst_task *task, int64_t x, fst_out *out)
{
        char *text = mem_alloc(LARGE);
        memset(text, (int)('a' + x % 26), LARGE);
        memcpy(text, &x, sizeof(x));
        fst_emit(out, ((fst_bytes){text, LARGE}));
        free(text);
        return 0;
}

/* Reports the rows and bytes of a batch, which must be few. */
static int look_at_batch(fst_task *task, const fst_batch *batch, fst_out *out)
{
        const fst_bytes *rows = batch->type.value ? batch->value.bytes : batch->key.bytes;
        if ((size_t)batch->rows * LARGE > (size_t)8 << 20)
                return fst_fail(task, "%u rows in a batch", batch->rows);
        for (uint32_t i = 0; i < batch->rows; i++) {
                int64_t x;
                memcpy(&x, rows[i].data, sizeof(x));
                if (rows[i].len != LARGE || rows[i].data[LARGE - 1] != 'a' + x % 26)
                        return fst_fail(task, "a row is damaged");
                if (batch->type.value && batch->key.i64[i] != -x)
                        return fst_fail(task, "%lld with the key %lld", (long long)x, (long long)batch->key.i64[i]);
                fst_emit(out, x);
        }
        return 0;
}

static int negative(fst_task *task, int64_t x, fst_out *out)
{
        fst_emit(out, -x, x);
        return 0;
}

static int twice_or_never(fst_task *task, int64_t x, fst_out *out)
{
        if (x % 100 == 50)
                large(task, x, out);
        return x % 100 == 51 ? 0 : large(task, x, out);
}

static void frees_large_rows_early(void **state)
{
        fst_rdd *numbers = fst_range_n(*state, 0, 2000, 1);
        int64_t n;
        assert_int_equal(
                fst_reduce(fst_map_partitions(fst_map(numbers, large, FST_BYTES), look_at_batch, FST_I64), fst_fn_sum, &n),
                0);
        assert_int_equal(n, 1999 * 1000);
        fst_rdd *pairs = fst_map_values(fst_map(numbers, negative, FST_PAIR(I64, I64)), large, FST_BYTES);
        assert_int_equal(fst_reduce(fst_map_partitions(pairs, look_at_batch, FST_I64), fst_fn_sum, &n), 0);
        assert_int_equal(n, 1999 * 1000);
        assert_true(fst_count(fst_map(numbers, twice_or_never, FST_BYTES), &n) < 0);
}

static int large_key(fst_task *task, int64_t x, fst_out *out)
{
        char *text = mem_alloc(LARGE);
        memset(text, '0', LARGE);
        snprintf(text, LARGE, "%08lld", (long long)(x * 7 % 1999));
        fst_emit(out, ((fst_bytes){text, LARGE}));
        free(text);
        return 0;
}

static int64_t inverse(fst_task *task, int64_t x)
{
        return x * 7 % 1999;
}

static void keeps_large_keys_beside_rows(void **state)
{
        fst_rdd *sorted = fst_sort_by_n(fst_range_n(*state, 0, 1999, 1), large_key, FST_BYTES, FST_ASCENDING, 1);
        fst_iter *rows;
        int64_t x, n = 0;
        assert_int_equal(fst_collect(fst_map(sorted, inverse, FST_I64), &rows), 0);
        for (; fst_next(rows, &x); n++)
                assert_int_equal(x, n);
        assert_int_equal(n, 1999);
}

static void frees_rows_of_failed_take(void **state)
{
        fst_context *sc = api_context("local[2]", NULL);
        fst_iter *rows = NULL;
        fst_rdd *rdd = fst_map(fst_range_n(sc, 0, 4000, 4), broken, FST_I64);
        assert_true(fst_take(rdd, 3500, &rows) < 0);
        assert_null(rows);
        assert_null(sc->results);
        assert_int_equal(fst_take(rdd, 1500, &rows), 0);
        assert_non_null(sc->results);
        fst_context_stop(sc);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(structs_stay_until_the_context_stops),
                cmocka_unit_test(keeps_structs_beside_bytes),
                cmocka_unit_test(frees_large_rows_early),
                cmocka_unit_test(keeps_large_keys_beside_rows),
        };
        const struct CMUnitTest own_context[] = {
                cmocka_unit_test(frees_rows_of_failed_take),
        };
        int failed = cmocka_run_group_tests(tests, api_setup, api_teardown);
        return failed + cmocka_run_group_tests(own_context, NULL, NULL);
}
