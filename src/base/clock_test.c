/* Conversion of times: limits, and timers that never fire early. */
#include "base/clock.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

static void converts_ms_up_to_146_years(void **state)
{
        assert_true(ms_to_ns(0) == 0);
        assert_true(ms_to_ns(1500) == 1500 * NS_PER_MS);
        assert_true(ms_to_ns(-1) == -NS_PER_MS);
        assert_true(ms_to_ns(INT64_MAX) > INT64_MAX / 2 - NS_PER_SECOND);
        assert_true(ms_to_ns(INT64_MAX) <= INT64_MAX / 2);
        assert_true(ms_to_ns(INT64_MIN) == -ms_to_ns(INT64_MAX));
}

static void rounds_timers_up(void **state)
{
        assert_true(ms_until(5 * NS_PER_MS, NS_PER_MS) == 4);
        assert_true(ms_until(5 * NS_PER_MS + 1, NS_PER_MS) == 5);
        assert_true(ms_until(NS_PER_MS, NS_PER_MS) == 0);
        assert_true(ms_until(INT64_MIN, INT64_MAX) == 0);
        assert_true(ms_until(INT64_MAX, INT64_MIN) == UINT64_MAX / NS_PER_MS + 1);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(converts_ms_up_to_146_years),
                cmocka_unit_test(rounds_timers_up),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
