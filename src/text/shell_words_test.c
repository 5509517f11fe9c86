/* Spark's CommandBuilderUtilsSuite restated, with further cases. */
#include "text/shell_words.h"

#include "base/error.h"
#include "base/mem.h"
#include "base/string_list.h"
#include "unit/cases.h"

/* cmocka.h needs these before it */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define MAX_WORDS 6

static void test_valid_strings(void **state)
{
        static const struct {
                const char *text, *words[MAX_WORDS];
        } cases[] = {
                {"a b c d e", {"a", "b", "c", "d", "e"}},
                {"a 'b c' \"d\" e", {"a", "b c", "d", "e"}},
                {"a 'b\\\"c' \"'d'\" e", {"a", "b\\\"c", "'d'", "e"}},
                {"a 'b\"c' \"\\\"d\\\"\" e", {"a", "b\"c", "\"d\"", "e"}},
                {" a b c \\\\ ", {"a", "b", "c", "\\"}},
                {"", {NULL}},
                {NULL, {NULL}},
                {" \t\n", {NULL}},
                {"aaa", {"aaa"}},
                {"  a   b\t c ", {"a", "b", "c"}},
                {"a 'b c' d", {"a", "b c", "d"}},
                {"'b c'", {"b c"}},
                {"a \"b c\" d", {"a", "b c", "d"}},
                {"a 'b\" c' \"d' e\"", {"a", "b\" c", "d' e"}},
                {"a\t'b\nc'\nd", {"a", "b\nc", "d"}},
                {"a \"b\\\\c\"", {"a", "b\\c"}},
                {"a \"b\\\"c\"", {"a", "b\"c"}},
                {"a 'b\\\"c'", {"a", "b\\\"c"}},
                {"'a'b", {"ab"}},
                {"'a''b'", {"ab"}},
                {"\"a\"\"b\"", {"ab"}},
                {"''", {""}},
                {"\"\" ''", {"", ""}},
                {"a\u2003b\u00a0c", {"a", "b\u00a0c"}}, /* an em space separates words, a no-break space does not */
                {"\\ a", {" a"}},
        };
        (void)state;
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                CASE_LABEL("%zu of cases: text \"%s\"", i, cases[i].text ? cases[i].text : "(none)");
                _cleanup_(option_words_deinit) struct option_words words = {0};
                assert_int_equal(option_string_split(cases[i].text, &words, NULL), 0);
                size_t n = 0;
                for (; n < MAX_WORDS && cases[i].words[n]; n++) {
                        assert_true(n < words.len);
                        assert_string_equal(words.data[n], cases[i].words[n]);
                }
                assert_int_equal(words.len, n);
        }
}

static void test_open_strings(void **state)
{
        static const char *const texts[] = {"\\", "\"abcde", "'abcde", "a b 'c", "\"a\\\"", "a '\\"};
        (void)state;
        for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
                _cleanup_(option_words_deinit) struct option_words words = {0};
                _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
                _cleanup_free_ char *message = mem_printf("Invalid option string: %s", texts[i]);
                option_words_add(&words, "before");
                assert_int_equal(option_string_split(texts[i], &words, &error), -EINVAL);
                assert_string_equal(error_message(&error), message);
                assert_int_equal(words.len, 1);
        }
}

static void splits_commands_like_containers(void **state)
{
        static const struct {
                const char *text, *words[4];
        } cases[] = {
                {NULL, {NULL}},
                {" \t\n", {NULL}},
                {"a 'b c'\"d \\\"e\"  f", {"a", "b cd \"e", "f"}},
                {"a\\ b '\\c'", {"a\\", "b", "\\c"}},
                {"'' x", {"", "x"}},
                {"a 'b", {"a", "b"}},
                {"\"a\\", {"a"}},
        };
        for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
                struct string_list found = {0};
                size_t n = 0;
                command_string_split(cases[i].text, &found);
                for (; cases[i].words[n]; n++) {
                        assert_true(n < found.len);
                        assert_string_equal(found.data[n], cases[i].words[n]);
                }
                assert_int_equal(found.len, n);
                string_list_deinit(&found);
        }
}

static void test_quoting_for_python(void **state)
{
        static const char *const cases[][2] = {{"abc", "\"abc\""},
                                               {"a b c", "\"a b c\""},
                                               {"a \"b\" c", "\"a \\\"b\\\" c\""},
                                               {"", "\"\""},
                                               {"a\\b", "\"a\\\\b\""}};
        (void)state;
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                _cleanup_free_ char *quoted = option_string_quote(cases[i][0]);
                _cleanup_(option_words_deinit) struct option_words words = {0};
                assert_string_equal(quoted, cases[i][1]);
                assert_int_equal(option_string_split(quoted, &words, NULL), 0);
                assert_int_equal(words.len, 1);
                assert_string_equal(words.data[0], cases[i][0]);
        }
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_valid_strings),
                cmocka_unit_test(test_open_strings),
                cmocka_unit_test(splits_commands_like_containers),
                cmocka_unit_test(test_quoting_for_python),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
