/* Command lines and environments. */
#include "base/string_list.h"

#include "base/mem.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static void test_argv(void **state)
{
        (void)state;
        _cleanup_(string_list_deinit) struct string_list words = {0};
        assert_null(string_list_argv(&words)[0]);
        for (int i = 0; i < 20; i++)
                string_list_take(&words, mem_printf("%d", i));
        char **argv = string_list_argv(&words);
        assert_string_equal(argv[19], "19");
        assert_null(argv[20]);
        assert_int_equal(words.len, 20);
}

static void test_variables(void **state)
{
        (void)state;
        _cleanup_(string_list_deinit) struct string_list words = {0};
        string_list_add(&words, "AB=1");
        string_list_set_variable(&words, "A", "2=3");
        assert_string_equal(string_list_variable(&words, "A"), "2=3");
        assert_string_equal(string_list_variable(&words, "AB"), "1");
        string_list_set_variable(&words, "AB", "");
        assert_string_equal(string_list_variable(&words, "AB"), "");
        assert_int_equal(words.len, 2);
        string_list_set_variable(&words, "A", NULL);
        assert_null(string_list_variable(&words, "A"));
        assert_int_equal(words.len, 1);
}

int main(void)
{
        const struct CMUnitTest tests[] = {cmocka_unit_test(test_argv), cmocka_unit_test(test_variables)};
        return cmocka_run_group_tests(tests, NULL, NULL);
}
