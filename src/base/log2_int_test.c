/* Compares natural_log with libm. */
#include "base/log2_int.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void near_log(double x)
{
        double expected = log(x), got = natural_log(x);
        if (fabs(got - expected) > 4e-16 * fmax(fabs(expected), 1))
                fail_msg("ln %.17g is %.17g, not %.17g", x, expected, got);
}

static void is_that_of_libm(void **state)
{
        assert_true(natural_log(1) == 0);
        for (double x = 1e-300; x < 1e300; x *= 1.37)
                near_log(x);
        for (int i = 1; i <= 4096; i++) {
                near_log(i / 4096.0);
                near_log(1 + i / 4096.0);
                near_log(1 - i * 0x1p-53);
        }
        near_log(M_SQRT2);
        near_log(M_SQRT1_2);
        near_log(0x1p-1022);
}

int main(void)
{
        const struct CMUnitTest tests[] = {cmocka_unit_test(is_that_of_libm)};
        return cmocka_run_group_tests(tests, NULL, NULL);
}
