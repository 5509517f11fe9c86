/* Tests the table of fst_show for each type of rows. */
#include "base/mem.h"
#include "api/api_fixture.h"

/* The output of the call. The caller frees it. */
static char *show_printed(fst_rdd *rdd, int64_t n, int status)
{
        char path[] = "/tmp/firesteel-test-XXXXXX";
        fflush(stdout);
        int was = dup(STDOUT_FILENO), file = mkstemp(path);
        unlink(path);
        dup2(file, STDOUT_FILENO);
        int r = fst_show(rdd, n);
        fflush(stdout);
        off_t size = lseek(file, 0, SEEK_END);
        char *text = calloc((size_t)size + 1, 1);
        ssize_t got = pread(file, text, (size_t)size, 0);
        dup2(was, STDOUT_FILENO);
        close(was);
        close(file);
        assert_int_equal(got, size);
        assert_int_equal(r, status);
        return text;
}

#define SHOWS(rdd, n, text)                                                                                            \
        do {                                                                                                           \
                char *printed_ = show_printed((rdd), (n), 0);                                                          \
                assert_string_equal(printed_, (text));                                                                 \
                free(printed_);                                                                                        \
        } while (0)

static int word_pair(fst_task *task, int64_t x, fst_out *out)
{
        fst_emit(out, x == 1 ? "one" : "a word of more than twenty characters", (double)x / 2);
        return 0;
}

static int odd_text(fst_task *task, int64_t x, fst_out *out)
{
        static const char *const texts[] = {"a\tb\n\x1b", "żółć", "", "ąąąąąąąąąąąąąąąąąąąąą"};
        fst_emit(out, texts[x]);
        return 0;
}

static int as_struct(fst_task *task, int64_t x, fst_out *out)
{
        struct {
                uint8_t bytes[2];
        } s = {{(uint8_t)x, 255}};
        fst_emit(out, &s);
        return 0;
}

static int fails(fst_task *task, int64_t x, fst_out *out)
{
        return fst_fail(task, "no");
}

static void aligns_numbers_right(void **state)
{
        SHOWS(fst_range_n(*state, 9, 12, 2), 20, "+-----+\n|value|\n+-----+\n|    9|\n|   10|\n|   11|\n+-----+\n");
}

static void prints_pairs_in_two_columns(void **state)
{
        SHOWS(fst_flat_map(fst_range_n(*state, 1, 3, 1), word_pair, FST_PAIR(BYTES, F64)), 2,
              "+--------------------+-----+\n"
              "|                 key|value|\n"
              "+--------------------+-----+\n"
              "|                 one|  0.5|\n"
              "|a word of more th...|  1.0|\n"
              "+--------------------+-----+\n");
}

static void escapes_control_characters(void **state)
{
        SHOWS(fst_flat_map(fst_range_n(*state, 0, 4, 1), odd_text, FST_BYTES), 9,
              "+--------------------+\n"
              "|               value|\n"
              "+--------------------+\n"
              "|          a\\tb\\n\\x1B|\n"
              "|                żółć|\n"
              "|                    |\n"
              "|ąąąąąąąąąąąąąąąąą...|\n"
              "+--------------------+\n");
}

static void prints_structs_as_bytes(void **state)
{
        SHOWS(fst_flat_map(fst_range_n(*state, 1, 2, 1), as_struct, FST_FIXED(2)), 1,
              "+-------+\n|  value|\n+-------+\n|[01 FF]|\n+-------+\n");
}

static void notes_omitted_rows(void **state)
{
        SHOWS(fst_range_n(*state, 0, 9, 2), 1, "+-----+\n|value|\n+-----+\n|    0|\n+-----+\nonly showing top 1 row\n");
        SHOWS(fst_range_n(*state, 0, 9, 2), 0, "+-----+\n|value|\n+-----+\n+-----+\nonly showing top 0 rows\n");
        SHOWS(fst_range_n(*state, 0, 9, 2), -5, "+-----+\n|value|\n+-----+\n+-----+\nonly showing top 0 rows\n");
        SHOWS(fst_range_n(*state, 0, 1, 2), INT64_MAX, "+-----+\n|value|\n+-----+\n|    0|\n+-----+\n");
        SHOWS(fst_range_n(*state, 0, 0, 2), 3, "+-----+\n|value|\n+-----+\n+-----+\n");
}

static void prints_nothing_after_failure(void **state)
{
        char *printed = show_printed(fst_flat_map(fst_range(*state, 0, 3), fails, FST_I64), 3, -EIO);
        assert_string_equal(printed, "");
        free(printed);
        printed = show_printed(NULL, 3, -EINVAL);
        assert_string_equal(printed, "");
        free(printed);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(aligns_numbers_right), cmocka_unit_test(prints_pairs_in_two_columns),
                cmocka_unit_test(escapes_control_characters),  cmocka_unit_test(prints_structs_as_bytes),
                cmocka_unit_test(notes_omitted_rows),     cmocka_unit_test(prints_nothing_after_failure),
        };
        return cmocka_run_group_tests(tests, api_setup, api_teardown);
}
