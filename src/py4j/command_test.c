/* Commands and values of the Py4J protocol. */
#include "base/error.h"
#include "base/mem.h"
#include "py4j/command.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

static int parse(const char *text, struct py4j_command *command, char **copy, struct fst_error *error)
{
        *copy = mem_strdup(text);
        return py4j_command_parse(*copy, strlen(text), command, error);
}

static void reads_call_with_values_of_each_type(void **state)
{
        (void)state;
        char *text;
        struct py4j_command c;
        assert_int_equal(parse("c\no12\nf\nsa\\nb\\\\c\ni-7\nL9000000000\nbTrue\nd-Infinity\njAAEC\nn\nro3\ne\n", &c,
                               &text, NULL),
                         0);
        assert_int_equal(c.letter, 'c');
        assert_string_equal(c.words[0], "o12");
        assert_string_equal(c.words[1], "f");
        assert_int_equal(c.parts.len, 8);
        assert_string_equal(c.parts.data[0].text, "a\nb\\c");
        assert_int_equal(c.parts.data[1].number, -7);
        assert_int_equal(c.parts.data[2].number, 9000000000);
        assert_true(c.parts.data[3].yes);
        assert_true(isinf(c.parts.data[4].real) && c.parts.data[4].real < 0);
        assert_int_equal(c.parts.data[5].len, 3);
        assert_memory_equal(c.parts.data[5].text, "\0\1\2", 3);
        assert_int_equal(c.parts.data[6].type, PY4J_NULL);
        assert_string_equal(c.parts.data[7].text, "o3");
        py4j_command_deinit(&c);
        free(text);
}

/* The length of an array is asked for by a subcommand that looks like an end. */
static void subcommand_e_does_not_end_command(void **state)
{
        (void)state;
        static const char text[] = "a\ne\no3\ne\nm\nd\no4\ne\n";
        struct py4j_scanner scanner = {0};
        assert_int_equal(py4j_scan(&scanner, text, sizeof(text) - 1), strlen("a\ne\no3\ne\n"));
        char *copy;
        struct py4j_command c;
        assert_int_equal(parse("a\ne\no3\ne\n", &c, &copy, NULL), 0);
        assert_string_equal(c.words[0], "e");
        assert_string_equal(c.words[1], "o3");
        assert_int_equal(c.parts.len, 0);
        py4j_command_deinit(&c);
        free(copy);
}

static void finds_end_in_text_that_arrives_byte_by_byte(void **state)
{
        (void)state;
        static const char text[] = "c\nz:A\nf\nse\ne\n";
        struct py4j_scanner scanner = {0};
        for (size_t n = 1; n < sizeof(text) - 1; n++)
                assert_int_equal(py4j_scan(&scanner, text, n), 0);
        assert_int_equal(py4j_scan(&scanner, text, sizeof(text) - 1), sizeof(text) - 1);
}

static void refuses_malformed_commands(void **state)
{
        (void)state;
        static const struct {
                const char *text, *reason;
        } cases[] = {
                {"xyz\ne\n", "a command does not start with a letter"},
                {"c\no1\nf\nq5\ne\n", "'q' is not a type of Py4J"},
                {"c\no1\nf\ni5x\ne\n", "'5x' is not an integer"},
                {"c\no1\nf\ni3000000000\ne\n", "'3000000000' does not fit 32 bits"},
                {"c\no1\nf\nL99999999999999999999\ne\n", "'99999999999999999999' is not an integer"},
                {"c\no1\nf\nd1.5.5\ne\n", "'1.5.5' is not a number"},
                {"c\no1\nf\nj***\ne\n", "bytes are not in base64"},
                {"c\no1\nf\n\ne\n", "a value has no type"},
                {"c\no1\nf\n", "a command does not end with 'e'"},
                {"c\no1\nf", "a command ends within a line"},
                {"c\no1\nf\ne\nrest\n", "text follows a command"},
        };
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                struct fst_error error = FST_ERROR_INIT;
                struct py4j_command c;
                char *copy;
                assert_int_equal(parse(cases[i].text, &c, &copy, &error), -EINVAL);
                assert_string_equal(error_message(&error), cases[i].reason);
                py4j_command_deinit(&c);
                error_deinit(&error);
                free(copy);
        }
}

static void writes_text_without_line_ends(void **state)
{
        (void)state;
        struct buf out = BUF_INIT;
        struct py4j_value value = py4j_string("a\\b\nc\rd"), again;
        py4j_value_write(&value, &out);
        assert_string_equal(buf_text(&out), "sa\\\\b\\nc\\rd");
        assert_int_equal(py4j_value_parse(out.data, out.len, &again, NULL), 0);
        assert_true(py4j_value_equals(&value, &again));
        py4j_value_deinit(&value);
        py4j_value_deinit(&again);
        buf_deinit(&out);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(reads_call_with_values_of_each_type),
                cmocka_unit_test(subcommand_e_does_not_end_command),
                cmocka_unit_test(finds_end_in_text_that_arrives_byte_by_byte),
                cmocka_unit_test(refuses_malformed_commands),
                cmocka_unit_test(writes_text_without_line_ends),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
