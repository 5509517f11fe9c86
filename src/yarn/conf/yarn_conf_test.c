/* Where ResourceManagers are, by YARN's configuration. */
#include "yarn/conf/yarn_conf.h"

#include "base/buf.h"
#include "base/error.h"
#include "base/mem.h"
#include "unit/cases.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

static const char *no_environment(const char *name)
{
        return NULL;
}

/* @settings is "key=value" up to NULL. */
static void conf_of(struct yarn_conf *conf, const char *const *settings)
{
        hadoop_conf_init(&conf->hadoop, no_environment);
        for (; *settings; settings++) {
                _cleanup_free_ char *key = mem_strndup(*settings, strcspn(*settings, "="));
                hadoop_conf_set(&conf->hadoop, key, *settings + strlen(key) + 1);
        }
}

static void finds_addresses(void **state)
{
        static const struct {
                const char *label;
                enum yarn_service service;
                const char *settings[6];
                const char *expected; /* joined by blanks */
        } rows[] = {
                {"no setting", YARN_RM_CLIENT, {NULL}, "0.0.0.0:8032"},
                {"a host name", YARN_RM_SCHEDULER, {"yarn.resourcemanager.hostname=rm"}, "rm:8030"},
                {"an address",
                 YARN_RM_CLIENT,
                 {"yarn.resourcemanager.hostname=rm", "yarn.resourcemanager.address=a:1"},
                 "a:1"},
                {"an address without port", YARN_RM_WEB, {"yarn.resourcemanager.webapp.address= a "}, "a:8088"},
                {"pages over HTTPS",
                 YARN_RM_WEB,
                 {"yarn.http.policy=HTTPS_ONLY", "yarn.resourcemanager.hostname=rm",
                  "yarn.resourcemanager.webapp.address=rm:1"},
                 "rm:8090"},
                {"a reference to another key",
                 YARN_RM_CLIENT,
                 {"yarn.resourcemanager.hostname=rm",
                  "yarn.resourcemanager.address=${yarn.resourcemanager.hostname}:9"},
                 "rm:9"},
                {"two ResourceManagers",
                 YARN_RM_SCHEDULER,
                 {"yarn.resourcemanager.ha.enabled=true", "yarn.resourcemanager.ha.rm-ids=rm2, rm1",
                  "yarn.resourcemanager.hostname.rm1=one", "yarn.resourcemanager.scheduler.address.rm2=two:7"},
                 "two:7 one:8030"},
        };
        for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
                CASE_LABEL("%s", rows[i].label);
                _cleanup_(yarn_conf_deinit) struct yarn_conf conf = {0};
                _cleanup_(string_list_deinit) struct string_list found = {0};
                conf_of(&conf, rows[i].settings);
                assert_int_equal(yarn_conf_addresses(&conf, rows[i].service, &found, NULL), 0);
                _cleanup_(buf_deinit) struct buf joined = BUF_INIT;
                for (size_t k = 0; k < found.len; k++)
                        buf_printf(&joined, "%s%s", k ? " " : "", found.data[k]);
                assert_string_equal(buf_text(&joined), rows[i].expected);
        }
}

static void names_what_is_missing_for_several(void **state)
{
        static const struct {
                const char *label;
                const char *settings[4];
                const char *expected;
        } rows[] = {
                {"no ids", {"yarn.resourcemanager.ha.enabled=true"}, "ha.rm-ids is empty"},
                {"an id without host",
                 {"yarn.resourcemanager.ha.enabled=true", "yarn.resourcemanager.ha.rm-ids=rm1"},
                 "yarn.resourcemanager.hostname.rm1"},
        };
        for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
                CASE_LABEL("%s", rows[i].label);
                _cleanup_(yarn_conf_deinit) struct yarn_conf conf = {0};
                _cleanup_(string_list_deinit) struct string_list found = {0};
                _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
                conf_of(&conf, rows[i].settings);
                assert_int_equal(yarn_conf_addresses(&conf, YARN_RM_CLIENT, &found, &error), -EINVAL);
                assert_non_null(strstr(error_message(&error), rows[i].expected));
                assert_int_equal(found.len, 0);
        }
}

static void rejects_invalid_numbers(void **state)
{
        static const char *const settings[] = {"a=12", "b=12 s", "c=", NULL};
        _cleanup_(yarn_conf_deinit) struct yarn_conf conf = {0};
        _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
        int64_t value = 0;
        conf_of(&conf, settings);
        assert_int_equal(yarn_conf_get_int(&conf, "a", 1, &value, &error), 0);
        assert_int_equal(value, 12);
        assert_int_equal(yarn_conf_get_int(&conf, "missing", 7, &value, &error), 0);
        assert_int_equal(value, 7);
        assert_int_equal(yarn_conf_get_int(&conf, "b", 1, &value, &error), -EINVAL);
        assert_string_equal(error_message(&error), "b is \"12 s\", which is not a valid number");
        assert_int_equal(value, 7);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(finds_addresses),
                cmocka_unit_test(names_what_is_missing_for_several),
                cmocka_unit_test(rejects_invalid_numbers),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
