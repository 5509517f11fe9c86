/* Drawn secrets and their comparison. */
#include "net/secret.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static void draws_hexadecimal_texts(void **state)
{
        char a[SECRET_TEXT], b[SECRET_TEXT], small[33], large[600];
        assert_int_equal(secret_draw(a, sizeof(a)), 0);
        assert_int_equal(secret_draw(b, sizeof(b)), 0);
        assert_int_equal(secret_draw(small, sizeof(small)), 0);
        assert_int_equal(strspn(a, "0123456789abcdef"), 64);
        assert_int_equal(strlen(a), 64);
        assert_int_equal(strlen(small), 32);
        assert_string_not_equal(a, b);
        assert_int_equal(secret_draw(large, sizeof(large)), -EINVAL);
}

static void compares_whole_texts(void **state)
{
        assert_true(secret_equals("abc", 3, "abc"));
        assert_true(secret_equals("abcd", 3, "abc"));
        assert_false(secret_equals("abd", 3, "abc"));
        assert_false(secret_equals("ab", 2, "abc"));
        assert_false(secret_equals("abcd", 4, "abc"));
        assert_false(secret_equals("ab\0", 3, "ab"));
        assert_false(secret_equals(NULL, 0, "abc"));
        assert_true(secret_equals(NULL, 0, ""));
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(draws_hexadecimal_texts),
                cmocka_unit_test(compares_whole_texts),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
