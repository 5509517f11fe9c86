/* YARN's identifiers as text and back. */
#include "yarn/protocol/yarn_ids.h"

#include "base/error.h"
#include "base/mem.h"
#include "unit/cases.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

static void writes_ids_as_hadoop_does(void **state)
{
        char text[YARN_ID_TEXT];
        const struct yarn_application_id app = {1700000000000, 7}, large = {1700000000000, 123456};
        assert_string_equal(yarn_application_text(app, text), "application_1700000000000_0007");
        assert_string_equal(yarn_application_text(large, text), "application_1700000000000_123456");
        assert_string_equal(yarn_container_text((struct yarn_container_id){app, 1, 3}, text),
                            "container_1700000000000_0007_01_000003");
        assert_string_equal(yarn_container_text((struct yarn_container_id){app, 1, (int64_t)17 << 40 | 3}, text),
                            "container_e17_1700000000000_0007_01_000003");
}

static void reads_what_it_writes(void **state)
{
        static const char *const texts[] = {
                "container_1700000000000_0007_01_000003",
                "container_e17_1700000000000_0007_12_1234567",
                "container_e02_1_0001_01_000001",
        };
        for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
                CASE_LABEL("%s", texts[i]);
                struct yarn_container_id id;
                char text[YARN_ID_TEXT];
                assert_int_equal(yarn_container_parse(texts[i], &id, NULL), 0);
                assert_string_equal(yarn_container_text(id, text), texts[i]);
        }
        struct yarn_application_id app;
        assert_int_equal(yarn_application_parse("application_1700000000000_0042", &app, NULL), 0);
        assert_int_equal(app.id, 42);
}

static void knows_the_container_of_the_application_master(void **state)
{
        const struct yarn_application_id app = {1700000000000, 7};
        assert_true(yarn_container_is_master((struct yarn_container_id){app, 2, 1}));
        assert_true(yarn_container_is_master((struct yarn_container_id){app, 1, (int64_t)17 << 40 | 1}));
        assert_false(yarn_container_is_master((struct yarn_container_id){app, 1, 2}));
        assert_false(yarn_container_is_master((struct yarn_container_id){app, 1, (int64_t)1 << 40 | 3}));
}

static void rejects_other_text(void **state)
{
        static const char *const applications[] = {"",
                                                   "application_",
                                                   "application_1",
                                                   "application_1_",
                                                   "application_1_2_3",
                                                   "application__1_2",
                                                   "application_1_99999999999",
                                                   "application_1_-2",
                                                   "app_1_2"};
        static const char *const containers[] = {"container_1_2_3",     "container_e_1_2_3_4",  "container_e1_1_2_3",
                                                 "container_1_2_3_4_5", "container_ex_1_2_3_4", "container_1_2_3_4 "};
        for (size_t i = 0; i < ARRAY_SIZE(applications); i++) {
                CASE_LABEL("\"%s\"", applications[i]);
                struct yarn_application_id id = {.id = 5};
                _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
                assert_int_equal(yarn_application_parse(applications[i], &id, &error), -EINVAL);
                assert_int_equal(id.id, 5);
                assert_non_null(strstr(error_message(&error), "application id"));
        }
        for (size_t i = 0; i < ARRAY_SIZE(containers); i++) {
                CASE_LABEL("\"%s\"", containers[i]);
                struct yarn_container_id id;
                assert_int_equal(yarn_container_parse(containers[i], &id, NULL), -EINVAL);
        }
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(writes_ids_as_hadoop_does),
                cmocka_unit_test(reads_what_it_writes),
                cmocka_unit_test(knows_the_container_of_the_application_master),
                cmocka_unit_test(rejects_other_text),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
