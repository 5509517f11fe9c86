/* Ivy's order of revisions, and ranges. Ivy 2.5.3 printed the expected values. */
#include "ivy/revision.h"

#include "base/mem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

static void order(void **state)
{
        /* Each revision is later than those before it. */
        static const char *const ascending[] = {
                "0.2a",       "0.2_b",     "0.2rc1",    "0.2-final", "1.0-dev1", "1.0-dev2", "1.0-alpha1",
                "1.0-alpha2", "1.0-beta1", "1.0-beta2", "1.0-gamma", "1.0-rc1",  "1.0-rc2",  "1.0",
                "1.0.1",      "2.0",       "2.0.0.b",   "2.0.0",     "10",
        };
        for (size_t i = 0; i + 1 < ARRAY_SIZE(ascending); i++) {
                assert_true(revision_compare(ascending[i], ascending[i + 1]) < 0);
                assert_true(revision_compare(ascending[i + 1], ascending[i]) > 0);
        }
        assert_int_equal(revision_compare("1.0", "1.0"), 0);
        assert_int_equal(revision_compare("1.0", "1-0"), 0);
        assert_int_equal(revision_compare("1.01", "1.1"), 0);
        assert_int_equal(revision_compare("1.0-RC", "1.0-rc"), 0);
        assert_true(revision_compare("9.4.52.v20230823", "9.4.9.v20180320") > 0);
        assert_true(revision_compare("33.0.0-jre", "33.0.0-android") > 0);
        assert_true(revision_compare("1.99999999999999999999", "1.100000000000000000000") < 0);
}

static void dynamic(void **state)
{
        static const char *const yes[] = {"[1,2]", "[1,2)",     "(1,2)", "]1,2[",         "(,2]",
                                          "[1,)",  "[ 1 , 2 ]", "1.+",   "latest.release"};
        static const char *const no[] = {"1", "", "[1]", "[1,2],[3,4]", "[,2]", "(,)", "1,2", "latest", "[1,2"};
        for (size_t i = 0; i < ARRAY_SIZE(yes); i++)
                assert_true(revision_is_dynamic(yes[i]));
        for (size_t i = 0; i < ARRAY_SIZE(no); i++)
                assert_false(revision_is_dynamic(no[i]));
}

static void ranges(void **state)
{
        static const struct {
                const char *asked, *found;
                bool accepts;
        } cases[] = {
                {"[1,2]", "1", true},     {"[1,2]", "2", true},
                {"(1,2)", "1", false},    {"(1,2)", "2", false},
                {"]1,2[", "1.5", true},   {"[1,2)", "2.0", false},
                {"[1,2)", "2-rc1", true}, {"(,2]", "0.1", true},
                {"[1,)", "99", true},     {"[1,)", "0.9", false},
                {"1.+", "1.0", true},     {"1.+", "10", false},
                {"1+", "10", true},       {"latest.integration", "x", true},
                {"1.0", "1.0", true},     {"1.0", "1-0", false},
                {"(1.0,2)", "1-0", true}, {"[1,2.0]", "2-0", false},
        };
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
                assert_int_equal(revision_accepts(cases[i].asked, cases[i].found), cases[i].accepts);
        assert_true(revision_needs_status("latest.release"));
        assert_false(revision_needs_status("latest.integration"));
        assert_true(revision_accepts_status("latest.release", "release"));
        assert_false(revision_accepts_status("latest.release", "integration"));
        assert_true(revision_accepts_status("latest.milestone", "release"));
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(order),
                cmocka_unit_test(dynamic),
                cmocka_unit_test(ranges),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
