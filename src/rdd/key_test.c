/* Tests the encoder of composite keys (firesteel/key.h): the order of the bytes equals the order of the columns. */
#include "base/mem.h"

#include <firesteel/firesteel.h>

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <cmocka.h>

enum { COLUMNS = 3, ROUNDS = 200000, TEXT = 6 };

struct column {
        enum fst_kind kind;
        enum fst_order order;
};

struct cell {
        int64_t i64;
        double f64;
        char text[TEXT];
        size_t len;
};

static uint64_t random_next(uint64_t *state)
{
        *state = *state * 6364136223846793005u + 1442695040888963407u;
        return *state >> 33;
}

/* Random values that are often equal, and values at the limits of their types. */
static struct cell random_cell(uint64_t *state)
{
        static const int64_t integers[] = {INT64_MIN, INT64_MIN + 1, -257, -256, -1, 0, 1, 255, 256, INT64_MAX};
        static const double floats[] = {-INFINITY, -1e300, -1.5, -1.0,  -5e-324,  -0.0, 0.0,
                                        5e-324,    1.0,    1.5,  1e300, INFINITY, NAN};
        static const char bytes[] = {0, 1, 'a', '\x7f', '\x80', '\xff'};
        struct cell cell = {.i64 = integers[random_next(state) % ARRAY_SIZE(integers)],
                            .f64 = floats[random_next(state) % ARRAY_SIZE(floats)],
                            .len = random_next(state) % TEXT};
        if (random_next(state) % 4 == 0)
                cell.i64 = (int64_t)(random_next(state) << 33 ^ random_next(state));
        if (random_next(state) % 8 == 0)
                cell.f64 = -NAN;
        for (size_t i = 0; i < cell.len; i++)
                cell.text[i] = bytes[random_next(state) % ARRAY_SIZE(bytes)];
        return cell;
}

/* Java's Double.compare. */
static int compare_doubles(double a, double b)
{
        if (isnan(a) || isnan(b))
                return (isnan(a) != 0) - (isnan(b) != 0);
        if (a != b)
                return a < b ? -1 : 1;
        return (signbit(b) != 0) - (signbit(a) != 0);
}

static int compare_cells(const struct cell *a, const struct cell *b, struct column column)
{
        int order = column.kind == FST_KIND_I64 ? (a->i64 > b->i64) - (a->i64 < b->i64)
                    : column.kind == FST_KIND_F64
                            ? compare_doubles(a->f64, b->f64)
                            : fst_bytes_compare((fst_bytes){a->text, a->len}, (fst_bytes){b->text, b->len});
        return column.order == FST_DESCENDING ? -order : order;
}

static int append_cell(fst_key_buffer *key, const struct cell *cell, struct column column)
{
        switch (column.kind) {
        case FST_KIND_I64:
                return fst_key_append_i64(key, cell->i64, column.order);
        case FST_KIND_F64:
                return fst_key_append_f64(key, cell->f64, column.order);
        default:
                return fst_key_append_bytes(key, (fst_bytes){cell->text, cell->len}, column.order);
        }
}

static int sign(int x)
{
        return (x > 0) - (x < 0);
}

static void encodes_keys_in_the_order_of_columns(void **state)
{
        static const enum fst_kind kinds[] = {FST_KIND_I64, FST_KIND_F64, FST_KIND_BYTES};
        uint64_t random = 11;
        for (int round = 0; round < ROUNDS; round++) {
                unsigned char space[2][COLUMNS * (2 * TEXT + 2)];
                fst_key_buffer keys[2] = {fst_key_in(space[0], sizeof(space[0])),
                                          fst_key_in(space[1], sizeof(space[1]))};
                int order = 0;
                for (int i = 0; i < COLUMNS; i++) {
                        struct column column = {kinds[random_next(&random) % ARRAY_SIZE(kinds)],
                                                random_next(&random) % 2 ? FST_ASCENDING : FST_DESCENDING};
                        struct cell a = random_cell(&random), b = random_next(&random) % 2 ? a : random_cell(&random);
                        order = order ? order : compare_cells(&a, &b, column);
                        assert_int_equal(append_cell(&keys[0], &a, column), 0);
                        assert_int_equal(append_cell(&keys[1], &b, column), 0);
                }
                assert_int_equal(sign(fst_bytes_compare(fst_key_encoded(&keys[0]), fst_key_encoded(&keys[1]))),
                                 sign(order));
        }
}

static void does_not_append_to_a_full_key(void **state)
{
        unsigned char space[32];
        struct column columns[] = {
                {FST_KIND_I64, FST_ASCENDING}, {FST_KIND_F64, FST_DESCENDING}, {FST_KIND_BYTES, FST_ASCENDING}};
        const size_t sizes[] = {8, 8, 2 + 4 + 1};
        struct cell cell = {.i64 = -3, .f64 = 2.5, .text = {'a', 0, 'b', 'c'}, .len = 4};
        for (size_t c = 0; c < ARRAY_SIZE(columns); c++) {
                for (size_t room = 0; room < sizes[c] + 2; room++) {
                        memset(space, 0xee, sizeof(space));
                        fst_key_buffer key = fst_key_in(space, room + 1);
                        key.data[key.len++] = 'k';
                        bool fits = room >= sizes[c];
                        assert_int_equal(append_cell(&key, &cell, columns[c]), fits ? 0 : -ENOSPC);
                        assert_int_equal(key.len, 1 + (fits ? sizes[c] : 0));
                        assert_int_equal(space[key.len], 0xee);
                }
        }
}

static void encodes_empty_key(void **state)
{
        fst_key_buffer key = fst_key_in(NULL, 0);
        assert_int_equal(fst_key_encoded(&key).len, 0);
        assert_int_equal(fst_key_append_bytes(&key, (fst_bytes){NULL, 0}, FST_ASCENDING), -ENOSPC);
        assert_int_equal(key.len, 0);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(encodes_keys_in_the_order_of_columns),
                cmocka_unit_test(does_not_append_to_a_full_key),
                cmocka_unit_test(encodes_empty_key),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
