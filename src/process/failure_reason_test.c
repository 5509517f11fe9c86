/* Tests the remembered reason of a failure: the first one counts until it is cleared. */
#include "process/failure_reason.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

static void assert_reason(const char *expected)
{
        char *text = failure_reason_text();
        if (expected)
                assert_string_equal(text, expected);
        else
                assert_null(text);
        free(text);
}

static void keeps_first_reason_until_cleared(void **state)
{
        assert_reason(NULL);
        failure_reason_add("the disk is full");
        failure_reason_add("the job was cancelled");
        assert_reason("the disk is full");
        failure_reason_clear();
        assert_reason(NULL);
        failure_reason_clear();
        failure_reason_add("the job was cancelled");
        assert_reason("the job was cancelled");
        failure_reason_clear();
}

int main(void)
{
        const struct CMUnitTest tests[] = {cmocka_unit_test(keeps_first_reason_until_cleared)};
        return cmocka_run_group_tests(tests, NULL, NULL);
}
