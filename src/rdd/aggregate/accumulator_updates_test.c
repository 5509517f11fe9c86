/* Tests accumulator updates: totals, and the encoded form with every kind of damage. */
#include "rdd/aggregate/accumulator_updates.h"

#include "base/buf.h"
#include "base/error.h"
#include "base/mem.h"
#include "unit/cases.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

static const fst_accumulator integers = {1, FST_ACCUMULATOR_I64, 32}, floats = {2, FST_ACCUMULATOR_F64, 32},
                             own = {3, FST_ACCUMULATOR_OWN, 5}, list = {4, FST_ACCUMULATOR_LIST, 0};

static struct accumulator_updates *some(void)
{
        struct accumulator_updates *u = NULL;
        for (int i = -3; i < 5; i++)
                accumulator_add_i64(&accumulator_updates_of(&u, integers)->i64, i);
        accumulator_add_f64(&accumulator_updates_of(&u, floats)->f64, 0.5);
        accumulator_add_f64(&accumulator_updates_of(&u, floats)->f64, -INFINITY);
        memcpy(accumulator_updates_of(&u, own)->own, "abcde", 5);
        assert_int_equal(accumulator_add_blob(&accumulator_updates_of(&u, list)->list, (fst_bytes){"blob", 4}), 0);
        assert_int_equal(accumulator_add_blob(&accumulator_updates_of(&u, list)->list, (fst_bytes){NULL, 0}), 0);
        return u;
}

static void adds_up_totals(void **state)
{
        fst_totals_i64 a = {0}, b = {0};
        accumulator_merge_i64(&a, &b);
        assert_int_equal(a.count, 0);
        accumulator_add_i64(&b, 7);
        accumulator_merge_i64(&a, &b);
        assert_int_equal(a.min, 7);
        assert_int_equal(a.max, 7);
        accumulator_add_i64(&b, -2);
        accumulator_merge_i64(&a, &b);
        assert_int_equal(a.count, 3);
        assert_int_equal(a.sum, 12);
        assert_int_equal(a.min, -2);
        accumulator_add_i64(&a, INT64_MAX); /* wraps without a trap */
        assert_int_equal(a.sum, INT64_MIN + 11);
}

static void round_trips(void **state)
{
        struct accumulator_updates *u = some(), *v = NULL;
        struct buf bytes = BUF_INIT, again = BUF_INIT;
        accumulator_updates_encode(u, &bytes);
        assert_int_equal(accumulator_updates_decode(bytes.data, bytes.len, &v, NULL), 0);
        assert_int_equal(v->n, 4);
        assert_int_equal(v->data[0].i64.sum, 4);
        assert_int_equal(v->data[0].i64.min, -3);
        assert_int_equal(v->data[1].f64.count, 2);
        assert_true(isinf(v->data[1].f64.min));
        assert_memory_equal(v->data[2].own, "abcde", 5);
        assert_int_equal(v->data[3].list.n, 2);
        fst_bytes *blobs = accumulator_list_blobs(&v->data[3].list);
        assert_memory_equal(blobs[0].data, "blob", 4);
        assert_int_equal(blobs[1].len, 0);
        free(blobs);
        accumulator_updates_encode(v, &again);
        assert_int_equal(bytes.len, again.len);
        assert_memory_equal(bytes.data, again.data, bytes.len);
        for (size_t cut = 0; cut < bytes.len; cut++) {
                struct fst_error error = FST_ERROR_INIT;
                struct accumulator_updates *none = NULL;
                assert_int_equal(accumulator_updates_decode(bytes.data, cut, &none, &error), -EBADMSG);
                assert_non_null(error.message);
                assert_null(none);
                error_deinit(&error);
        }
        buf_putc(&bytes, 0);
        struct accumulator_updates *none = NULL;
        assert_int_equal(accumulator_updates_decode(bytes.data, bytes.len, &none, NULL), -EBADMSG);
        accumulator_updates_free(u);
        accumulator_updates_free(v);
        buf_deinit(&bytes);
        buf_deinit(&again);
}

static void encodes_empty_table(void **state)
{
        struct buf bytes = BUF_INIT;
        struct accumulator_updates *u = NULL;
        accumulator_updates_encode(NULL, &bytes);
        assert_int_equal(bytes.len, 4);
        assert_int_equal(accumulator_updates_decode(bytes.data, bytes.len, &u, NULL), 0);
        assert_null(u);
        buf_deinit(&bytes);
}

static void encodes_golden_bytes(void **state)
{
        static const unsigned char expected[] = {1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 32, 0,
                                                 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 9, 0, 0, 0, 0, 0, 0,  0,
                                                 9, 0, 0, 0, 0, 0, 0, 0, 9, 0, 0, 0, 0, 0, 0, 0};
        struct accumulator_updates *u = NULL;
        struct buf bytes = BUF_INIT;
        accumulator_add_i64(&accumulator_updates_of(&u, integers)->i64, 9);
        accumulator_updates_encode(u, &bytes);
        assert_int_equal(bytes.len, sizeof(expected));
        assert_memory_equal(bytes.data, expected, sizeof(expected));
        accumulator_updates_free(u);
        buf_deinit(&bytes);
}

/* Changes one byte of the header: an unknown kind, a size that does not fit the kind, a duplicate id. */
static void rejects_damaged_updates(void **state)
{
        static const struct {
                size_t at;
                unsigned char value;
        } changes[] = {{12, 0}, {12, 3}, {12, 9}, {16, 31}, {16, 33}, {4, 0}, {0, 200}, {52, 1}, {3, 255}};
        struct accumulator_updates *u = NULL;
        struct buf bytes = BUF_INIT;
        accumulator_add_i64(&accumulator_updates_of(&u, integers)->i64, 9);
        accumulator_add_i64(&accumulator_updates_of(&u, (fst_accumulator){2, FST_ACCUMULATOR_I64, 32})->i64, 9);
        accumulator_updates_encode(u, &bytes);
        for (size_t i = 0; i < ARRAY_SIZE(changes); i++) {
                CASE_LABEL("%zu of changes: at %zu", i, changes[i].at);
                struct accumulator_updates *none = NULL;
                char before = bytes.data[changes[i].at];
                bytes.data[changes[i].at] = (char)changes[i].value;
                int r = accumulator_updates_decode(bytes.data, bytes.len, &none, NULL);
                if (r == 0) /* a struct of the application may have 32 bytes, too */
                        assert_int_equal(changes[i].at, 12);
                else
                        assert_int_equal(r, -EBADMSG);
                accumulator_updates_free(none);
                bytes.data[changes[i].at] = before;
        }
        accumulator_updates_free(u);
        buf_deinit(&bytes);
}

static void rejects_too_many_accumulators(void **state)
{
        struct accumulator_updates *u = NULL;
        for (int64_t id = 1; id <= MAX_ACCUMULATOR_UPDATES; id++)
                assert_non_null(accumulator_updates_of(&u, (fst_accumulator){id, FST_ACCUMULATOR_I64, 32}));
        assert_null(accumulator_updates_of(&u, (fst_accumulator){1 << 20, FST_ACCUMULATOR_I64, 32}));
        accumulator_updates_free(u);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(adds_up_totals),          cmocka_unit_test(round_trips),
                cmocka_unit_test(encodes_empty_table),     cmocka_unit_test(encodes_golden_bytes),
                cmocka_unit_test(rejects_damaged_updates), cmocka_unit_test(rejects_too_many_accumulators),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
