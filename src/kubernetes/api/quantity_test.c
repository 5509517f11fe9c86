/* Parses and compares quantities. */
#include "kubernetes/api/quantity.h"

#include "base/error.h"
#include "base/mem.h"
#include "unit/cases.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

static void compares_quantities(void **state)
{
        static const struct {
                const char *a, *b;
                int order;
        } pairs[] = {
                {"1", "1000m", 0},
                {"0.1", "100m", 0},
                {"1500m", "2", -1},
                {"1Gi", "1G", 1},
                {"4e9", "4G", 0},
                {"1k", "1000", 0},
                {"1Ki", "1024", 0},
                {"0.5", "499m", 1},
                {"1Ei", "1024Pi", 0},
                {"-1", "0", -1},
                {"1000000n", "1m", 0},
                {"2", "10", -1},
                {"1e2000000000", "1e20", 1},
                {"-1e99", "-1E", -1},
                {"1e-99", "0", 0},
                {"1e-2147483649", "1", -1},
        };
        for (size_t i = 0; i < ARRAY_SIZE(pairs); i++) {
                CASE_LABEL("%zu of pairs: a \"%s\", b \"%s\", order %d", i, pairs[i].a ? pairs[i].a : "(none)",
                           pairs[i].b ? pairs[i].b : "(none)", pairs[i].order);
                int order = 7;
                assert_int_equal(quantity_compare(pairs[i].a, pairs[i].b, &order, NULL), 0);
                assert_int_equal(order, pairs[i].order);
                assert_int_equal(quantity_compare(pairs[i].b, pairs[i].a, &order, NULL), 0);
                assert_int_equal(order, -pairs[i].order);
        }
}

static void rejects_invalid_quantities(void **state)
{
        int order;
        assert_int_equal(quantity_check("1408Mi", NULL), 0);
        assert_int_equal(quantity_check("whatever the server says", NULL), 0);
        assert_int_equal(quantity_check("", NULL), -EINVAL);
        assert_int_equal(quantity_check("1m5x", NULL), -EINVAL);
        assert_int_equal(quantity_compare("x", "1", &order, NULL), -EINVAL);
        assert_int_equal(quantity_compare("1", "1Xi", &order, NULL), -EINVAL);
        assert_int_equal(quantity_compare("m", "1", &order, NULL), -EINVAL);
}

int main(void)
{
        const struct CMUnitTest tests[] = {cmocka_unit_test(compares_quantities),
                                           cmocka_unit_test(rejects_invalid_quantities)};
        return cmocka_run_group_tests(tests, NULL, NULL);
}
