/* Tests rows of several columns (firesteel/row.h): what is written is read back, and errors change nothing. */
#include "base/mem.h"

#include <firesteel/firesteel.h>

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

static void columns_are_read_as_they_were_written(void **state)
{
        char space[128], inside[32];
        fst_row_buffer row = fst_row_in(space, sizeof(space)), nested = fst_row_in(inside, sizeof(inside));
        assert_int_equal(fst_row_append_i64(&nested, INT64_MIN), 0);
        assert_int_equal(fst_row_append_i64(&row, -7), 0);
        assert_int_equal(fst_row_append_bytes(&row, (fst_bytes){"a\0b", 3}), 0);
        assert_int_equal(fst_row_append_f64(&row, 2.5), 0);
        assert_int_equal(fst_row_append_bytes(&row, (fst_bytes){NULL, 0}), 0);
        assert_int_equal(fst_row_append_bytes(&row, fst_row_encoded(&nested)), 0);

        fst_row_reader columns = fst_row_columns(fst_row_encoded(&row));
        int64_t i;
        double f;
        fst_bytes text = {NULL, 0};
        assert_true(fst_row_has_next(&columns));
        assert_int_equal(fst_row_next_i64(&columns, &i), 0);
        assert_int_equal(i, -7);
        assert_int_equal(fst_row_next_bytes(&columns, &text), 0);
        assert_int_equal(text.len, 3);
        assert_memory_equal(text.data, "a\0b", 3);
        assert_int_equal(fst_row_next_f64(&columns, &f), 0);
        assert_true(f == 2.5);
        assert_int_equal(fst_row_next_bytes(&columns, &text), 0);
        assert_int_equal(text.len, 0);
        assert_int_equal(fst_row_next_bytes(&columns, &text), 0);
        assert_false(fst_row_has_next(&columns));
        fst_row_reader inner = fst_row_columns(text);
        assert_int_equal(fst_row_next_i64(&inner, &i), 0);
        assert_true(i == INT64_MIN);
        assert_false(fst_row_has_next(&inner));
}

static void another_kind_and_the_end_are_errors_that_change_nothing(void **state)
{
        char space[64];
        fst_row_buffer row = fst_row_in(space, sizeof(space));
        assert_int_equal(fst_row_append_i64(&row, 5), 0);
        fst_row_reader columns = fst_row_columns(fst_row_encoded(&row));
        int64_t i = 1;
        double f = 1;
        fst_bytes text = {"x", 1};
        assert_int_equal(fst_row_next_f64(&columns, &f), -EBADMSG);
        assert_int_equal(fst_row_next_bytes(&columns, &text), -EBADMSG);
        assert_true(f == 1 && text.len == 1);
        assert_int_equal(fst_row_next_i64(&columns, &i), 0);
        assert_int_equal(fst_row_next_i64(&columns, &i), -EBADMSG);
        assert_int_equal(i, 5);
        columns = fst_row_columns((fst_bytes){NULL, 0});
        assert_false(fst_row_has_next(&columns));
        assert_int_equal(fst_row_next_i64(&columns, &i), -EBADMSG);
}

/* Bytes that were not written as a row, cut at each length. */
static void cut_rows_are_errors(void **state)
{
        char space[64];
        fst_row_buffer row = fst_row_in(space, sizeof(space));
        assert_int_equal(fst_row_append_bytes(&row, (fst_bytes){"abc", 3}), 0);
        for (size_t len = 0; len < row.len; len++) {
                char *exact = mem_alloc(len + !len); /* so that AddressSanitizer sees a read beyond */
                memcpy(exact, space, len);
                fst_row_reader columns = fst_row_columns((fst_bytes){exact, len});
                fst_bytes text;
                assert_int_equal(fst_row_next_bytes(&columns, &text), -EBADMSG);
                free(exact);
        }
}

static void a_full_row_stays_as_it_was(void **state)
{
        unsigned char space[32];
        for (size_t room = 0; room < 12; room++) {
                memset(space, 0xee, sizeof(space));
                fst_row_buffer row = fst_row_in(space, room);
                assert_int_equal(fst_row_append_i64(&row, 1), room >= 9 ? 0 : -ENOSPC);
                assert_int_equal(row.len, room >= 9 ? 9 : 0);
                assert_int_equal(space[row.len], 0xee);
                row.len = 0;
                memset(space, 0xee, sizeof(space));
                assert_int_equal(fst_row_append_bytes(&row, (fst_bytes){"abc", 3}), room >= 8 ? 0 : -ENOSPC);
                assert_int_equal(row.len, room >= 8 ? 8 : 0);
                assert_int_equal(space[row.len], 0xee);
        }
        fst_row_buffer row = fst_row_in(space, sizeof(space));
        assert_int_equal(fst_row_append_bytes(&row, (fst_bytes){"", SIZE_MAX}), -ENOSPC);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(columns_are_read_as_they_were_written),
                cmocka_unit_test(another_kind_and_the_end_are_errors_that_change_nothing),
                cmocka_unit_test(cut_rows_are_errors),
                cmocka_unit_test(a_full_row_stays_as_it_was),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
