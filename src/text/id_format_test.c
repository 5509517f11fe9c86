#include "text/id_format.h"

#include "base/error.h"
#include "base/mem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <cmocka.h>

static const struct id_argument args[] = {{.text = "20231101"}, {.text = "host"}, {.number = 42}};

static void is(const char *pattern, const char *expected)
{
        _cleanup_(buf_deinit) struct buf id = BUF_INIT;

        assert_int_equal(id_pattern_format(&id, pattern, args, 3, NULL), 0);
        assert_string_equal(buf_text(&id), expected);
}

static void is_refused(const char *pattern, const char *because)
{
        _cleanup_(buf_deinit) struct buf id = BUF_INIT;
        _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;

        assert_int_equal(id_pattern_format(&id, pattern, args, 3, &error), -EINVAL);
        assert_string_equal(error_message(&error), because);
        assert_int_equal(id.len, 0);
}

static void patterns_are_javas(void **state)
{
        is("worker-%s-%s-%d", "worker-20231101-host-42");
        is("%3$05d/%1$s%%", "00042/20231101%");
        is("%2$6s|%2$-6s|%3$s", "  host|host  |42");
        is("", "");
        is("fixed", "fixed");
        is_refused("a b", "Whitespace is not allowed.");
        is_refused("%s%s%s%s", "it uses 4 values, but only 3 exist");
        is_refused("x%d", "%d stands for value 1, which is not a number");
        is_refused("x%f", "the text after a % is not a valid conversion of an id (use %s, %d or %04d)");
        is_refused("x%", "a % at the end is not a valid conversion of an id (use %s, %d or %04d)");
        is_refused("%3$0d", "the text after a % is not a valid conversion of an id (use %s, %d or %04d)");
        is_refused("%99999999999d", "the text after a % is not a valid conversion of an id (use %s, %d or %04d)");
        is_refused("%0$s", "the text after a % is not a valid conversion of an id (use %s, %d or %04d)");
}

int main(void)
{
        const struct CMUnitTest tests[] = {cmocka_unit_test(patterns_are_javas)};
        return cmocka_run_group_tests(tests, NULL, NULL);
}
