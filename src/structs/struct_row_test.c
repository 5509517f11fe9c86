/* Tests rows of structs as bytes: they come back, their order is that of the columns, and damaged ones are refused. */
#include "base/mem.h"
#include "structs/struct_row.h"

#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <cmocka.h>

struct mixed_row {
        int32_t small;
        bool flag;
        int64_t number;
        fst_bytes first;
        double real;
        fst_bytes last;
};
FST_FIELDS(mixed_row, first, number, real, small, flag, last);

static const struct struct_type *record_type(void)
{
        return struct_type_of(FST_STRUCT(mixed_row).key_size);
}

static fst_bytes written(const struct mixed_row *r, char space[static 256])
{
        int64_t len = fst_struct_write(r, FST_STRUCT(mixed_row), space, 256);
        assert_in_range(len, 23, 256);
        return (fst_bytes){space, (size_t)len};
}

static void rows_are_read_as_they_were_written(void **state)
{
        static const struct mixed_row rows[] = {
                {-7, true, INT64_MIN, {"Ann", 3}, 61.5, {"x", 1}},
                {INT32_MAX, false, INT64_MAX, {NULL, 0}, -1e300, {NULL, 0}},
                {INT32_MIN, true, 0, {"a\0b\0", 4}, 0.25, {"\0\0\xff", 3}},
        };
        for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
                char space[256], texts[256];
                struct mixed_row r;
                memset(&r, 0xaa, sizeof(r));
                fst_bytes row = written(&rows[i], space);
                assert_int_equal(fst_struct_read(row, FST_STRUCT(mixed_row), &r, texts), 0);
                assert_int_equal(r.small, rows[i].small);
                assert_int_equal(r.flag, rows[i].flag);
                assert_true(r.number == rows[i].number);
                assert_true(r.real == rows[i].real);
                assert_true(fst_bytes_equal(r.first, rows[i].first));
                assert_true(fst_bytes_equal(r.last, rows[i].last));
        }
}

static void encoding_is_golden(void **state)
{
        static const unsigned char golden[] = {'A',  0,    0xff, 0,    0,                      /* first */
                                               0x80, 0,    0,    0,    0,    0,    0,    1,    /* number */
                                               0x40, 0x0f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, /* real: -1 */
                                               0x7f, 0xff, 0xff, 0xff,                         /* small: -1 */
                                               1,    'z',  0};                                 /* flag, last */
        const struct mixed_row r = {-1, true, 1, {"A\0", 2}, -1, {"z\0", 2}};
        char space[256];
        fst_bytes row = written(&r, space);
        assert_int_equal(row.len, sizeof(golden));
        assert_memory_equal(row.data, golden, sizeof(golden));
}

static int compare_f64(double a, double b)
{
        if (isnan(a) || isnan(b))
                return !!isnan(a) - !!isnan(b);
        return (a > b) - (a < b);
}

static int compare_records(const struct mixed_row *a, const struct mixed_row *b)
{
        int r = fst_bytes_compare(a->first, b->first);
        r = r ? r : (a->number > b->number) - (a->number < b->number);
        r = r ? r : compare_f64(a->real, b->real);
        r = r ? r : (a->small > b->small) - (a->small < b->small);
        r = r ? r : a->flag - b->flag;
        r = r ? r : fst_bytes_compare(a->last, b->last);
        return (r > 0) - (r < 0);
}

static void order_of_bytes_is_the_order_of_columns(void **state)
{
        static const fst_bytes texts[] = {{"", 0},     {"a", 1},     {"a\0", 2}, {"a\1", 2},
                                          {"a\0a", 3}, {"a\xff", 2}, {"b", 1}};
        static const double reals[] = {-INFINITY, -1.5, -0.0, 0.0, 5e-324, 2, INFINITY, NAN, -NAN};
        static const int64_t numbers[] = {INT64_MIN, -1, 0, 255, 256, INT64_MAX};
        unsigned seed = 1;
        for (int i = 0; i < 20000; i++) {
                struct mixed_row r[2];
                char space[2][256];
                fst_bytes row[2];
                for (int k = 0; k < 2; k++) {
                        r[k] = (struct mixed_row){(int32_t)numbers[rand_r(&seed) % 5],
                                                  rand_r(&seed) % 2,
                                                  numbers[(unsigned)rand_r(&seed) % 2 * 3],
                                                  texts[(unsigned)rand_r(&seed) % ARRAY_SIZE(texts)],
                                                  reals[(unsigned)rand_r(&seed) % ARRAY_SIZE(reals)],
                                                  texts[(unsigned)rand_r(&seed) % ARRAY_SIZE(texts)]};
                        row[k] = written(&r[k], space[k]);
                }
                int have = fst_bytes_compare(row[0], row[1]);
                assert_int_equal((have > 0) - (have < 0), compare_records(&r[0], &r[1]));
        }
}

static void zeros_are_equal_and_nans_too(void **state)
{
        char a[256], b[256];
        struct mixed_row r = {.real = -0.0}, s = {.real = 0.0};
        assert_true(fst_bytes_equal(written(&r, a), written(&s, b)));
        r.real = -NAN;
        s.real = NAN;
        assert_true(fst_bytes_equal(written(&r, a), written(&s, b)));
}

static void rejects_every_truncated_row(void **state)
{
        const struct mixed_row r = {1, true, 2, {"a\0bc", 4}, 3, {NULL, 0}};
        char space[256], texts[256];
        struct mixed_row to = {.number = 77};
        fst_bytes row = written(&r, space);
        for (size_t len = 0; len < row.len; len++) {
                char *exact = malloc(len + 1); /* so that AddressSanitizer sees reads behind it */
                memcpy(exact, row.data, len);
                exact = realloc(exact, len ? len : 1);
                assert_int_equal(fst_struct_read(((fst_bytes){exact, len}), FST_STRUCT(mixed_row), &to, texts),
                                 -EBADMSG);
                free(exact);
        }
        assert_int_equal(to.number, 77);
}

static void rejects_other_types_and_sizes(void **state)
{
        struct mixed_row r = {0};
        char space[256];
        int64_t x = 0;
        assert_int_equal(fst_struct_write(&x, FST_STRUCT(mixed_row), space, sizeof(space)), -EINVAL);
        assert_int_equal(fst_struct_write(&r, FST_BYTES, space, sizeof(space)), -EINVAL);
        assert_int_equal(fst_struct_read(((fst_bytes){space, 0}), FST_PAIR(STRUCT(mixed_row), I64), &r, space),
                         -EINVAL);
        memset(space, 7, sizeof(space));
        assert_int_equal(fst_struct_write(&r, FST_STRUCT(mixed_row), space, 22), 23);
        assert_int_equal(space[0], 7);
}

static void rows_print_as_tuples(void **state)
{
        const struct mixed_row r = {-3, false, 30, {"A\0n", 3}, 61.5, {"end", 3}};
        char space[256], text[512];
        fst_bytes row = written(&r, space);
        size_t most = struct_row_text_size(record_type(), row);
        size_t len = (size_t)(struct_row_print(record_type(), row, text) - text);
        assert_in_range(len, 1, most);
        assert_int_equal(len, strlen("(A.n,30,61.5,-3,false,end)"));
        assert_memory_equal(text, "(A\0n,30,61.5,-3,false,end)", len);
        len = (size_t)(struct_row_print(record_type(), (fst_bytes){"x", 1}, text) - text);
        assert_memory_equal(text, "(?)", len);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(rows_are_read_as_they_were_written),
                cmocka_unit_test(encoding_is_golden),
                cmocka_unit_test(order_of_bytes_is_the_order_of_columns),
                cmocka_unit_test(zeros_are_equal_and_nans_too),
                cmocka_unit_test(rejects_every_truncated_row),
                cmocka_unit_test(rejects_other_types_and_sizes),
                cmocka_unit_test(rows_print_as_tuples),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
