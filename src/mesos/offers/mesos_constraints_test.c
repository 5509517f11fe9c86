/* Constraints on attributes: texts that parse, texts that do not, and what matches. */
#include "mesos/offers/mesos_constraints.h"

#include "base/error.h"
#include "base/mem.h"
#include "unit/cases.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

static const char *const zones[] = {"us-east-1a", "us-east-1b"};
static const struct mesos_range ranges[] = {{0, 4}, {7, 8}};
static const struct mesos_attribute attributes[] = {
        {.name = "os", .type = MESOS_VALUE_TEXT, .text = "centos7"},
        {.name = "zone", .type = MESOS_VALUE_SET, .items = zones, .n_items = 2},
        {.name = "cores", .type = MESOS_VALUE_SCALAR, .scalar = 3.5},
        {.name = "ids", .type = MESOS_VALUE_RANGES, .ranges = ranges, .n_ranges = 2},
        {.name = "twice", .type = MESOS_VALUE_TEXT, .text = "a"},
        {.name = "twice", .type = MESOS_VALUE_TEXT, .text = "b"},
};

static void constraints_are_parsed(void **state)
{
        struct mesos_constraints c;
        assert_int_equal(mesos_constraints_parse(&c, "os:centos7,ubuntu; zone:us-east-1a;gpu:", NULL), 0);
        assert_int_equal(c.len, 3);
        assert_string_equal(c.data[0].name, "os");
        assert_int_equal(c.data[0].values.len, 2);
        assert_string_equal(c.data[0].values.data[1], "ubuntu");
        assert_string_equal(c.data[1].name, "zone");
        assert_string_equal(c.data[2].name, "gpu");
        assert_int_equal(c.data[2].values.len, 0);
        mesos_constraints_deinit(&c);
}

static void empty_text_has_no_constraints(void **state)
{
        struct mesos_constraints c;
        assert_int_equal(mesos_constraints_parse(&c, "", NULL), 0);
        assert_int_equal(c.len, 0);
        assert_true(mesos_constraints_match(&c, NULL, 0));
        assert_int_equal(mesos_constraints_parse(&c, NULL, NULL), 0);
        assert_int_equal(c.len, 0);
}

static void malformed_constraints_are_refused(void **state)
{
        static const char *const bad[] = {"os", "os:a:b", "os:a;", ";os:a", "   ", "os:a;os:b", "zone:a;b", ":a"};
        for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
                CASE_LABEL("%s", bad[i]);
                struct mesos_constraints c;
                struct fst_error error = FST_ERROR_INIT;
                assert_int_equal(mesos_constraints_parse(&c, bad[i], &error), -EINVAL);
                assert_non_null(strstr(error_message(&error), "Bad constraint string: "));
                assert_non_null(strstr(error_message(&error), bad[i]));
                assert_int_equal(c.len, 0);
                error_deinit(&error);
        }
}

static void attributes_match(void **state)
{
        static const struct {
                const char *text;
                bool matches;
        } cases[] = {
                {"os:", true},
                {"gpu:", false},
                {"os:centos7", true},
                {"os:debian,centos7", true},
                {"os:debian", false},
                {"os:centos", false},
                {"os:centos7;zone:us-east-1a", true},
                {"os:centos7;gpu:", false},
                {"zone:us-east-1b,us-east-1a", true},
                {"zone:us-east-1b,us-west", false},
                {"cores:3", true},
                {"cores:3.5", true},
                {"cores:4", false},
                {"cores:4,2", true},
                {"cores:many", false},
                {"cores:NaN", false},
                {"ids:3", true},
                {"ids:5", false},
                {"ids:5,7", true},
                {"ids:x", false},
                {"twice:b", true},
                {"twice:a", false},
                {"os:,,", true},       /* Java drops empty values at the end */
                {"os:,centos7", true}, /* but not before others */
                {"zone:,us-east-1a", false},
        };
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                CASE_LABEL("%s", cases[i].text);
                struct mesos_constraints c;
                assert_int_equal(mesos_constraints_parse(&c, cases[i].text, NULL), 0);
                assert_int_equal(mesos_constraints_match(&c, attributes, ARRAY_SIZE(attributes)), cases[i].matches);
                mesos_constraints_deinit(&c);
        }
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(constraints_are_parsed),
                cmocka_unit_test(empty_text_has_no_constraints),
                cmocka_unit_test(malformed_constraints_are_refused),
                cmocka_unit_test(attributes_match),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
