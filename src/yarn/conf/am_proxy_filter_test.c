/* The filter that the pages of a driver on YARN get. */
#include "yarn/conf/am_proxy_filter.h"

#include "base/error.h"
#include "base/mem.h"
#include "conf/conf.h"
#include "yarn/conf/yarn_conf.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#define FILTER "org.apache.hadoop.yarn.server.webproxy.amfilter.AmIpFilter"

static const char *no_variable(const char *name)
{
        return NULL;
}

/* Sets the filter for application_1_0002 with @settings of Hadoop, "key=value" up to NULL. */
static int filter_set(struct fst_conf *conf, const char *const *settings, struct fst_error *error)
{
        _cleanup_(yarn_conf_deinit) struct yarn_conf yarn = {0};
        hadoop_conf_init(&yarn.hadoop, no_variable);
        for (; *settings; settings++) {
                _cleanup_free_ char *key = mem_strndup(*settings, strcspn(*settings, "="));
                hadoop_conf_set(&yarn.hadoop, key, *settings + strlen(key) + 1);
        }
        return am_proxy_filter_set(conf, &yarn, "application_1_0002", error);
}

static void names_the_proxy(void **state)
{
        static const struct {
                const char *settings[8], *hosts, *bases, *managers;
        } rows[] = {
                {{"yarn.resourcemanager.hostname=rm"}, "rm", "http://rm:8088/proxy/application_1_0002", NULL},
                {{"yarn.resourcemanager.hostname=rm", "yarn.http.policy=HTTPS_ONLY"},
                 "rm",
                 "https://rm:8090/proxy/application_1_0002",
                 NULL},
                {{"yarn.resourcemanager.hostname=rm", "yarn.web-proxy.address=gate:99"},
                 "gate",
                 "http://gate:99/proxy/application_1_0002",
                 NULL},
                {{"yarn.resourcemanager.ha.enabled=true", "yarn.resourcemanager.ha.rm-ids=a,b",
                  "yarn.resourcemanager.hostname.a=one", "yarn.resourcemanager.webapp.address.b=two:7"},
                 "one,two",
                 "http://one:8088/proxy/application_1_0002,http://two:7/proxy/application_1_0002",
                 "one:8088,two:7"},
        };
        for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
                struct fst_conf conf;
                conf_init(&conf);
                assert_int_equal(filter_set(&conf, rows[i].settings, NULL), 0);
                assert_string_equal(conf_get_value(&conf, "spark.ui.filters"), FILTER);
                assert_string_equal(conf_get_raw(&conf, "spark." FILTER ".param.PROXY_HOSTS"), rows[i].hosts);
                assert_string_equal(conf_get_raw(&conf, "spark." FILTER ".param.PROXY_URI_BASES"), rows[i].bases);
                if (rows[i].managers)
                        assert_string_equal(conf_get_raw(&conf, "spark." FILTER ".param.RM_HA_URLS"), rows[i].managers);
                else
                        assert_null(conf_get_raw(&conf, "spark." FILTER ".param.RM_HA_URLS"));
                assert_string_equal(conf_get_value(&conf, "spark.ui.proxyBase"), "/proxy/application_1_0002");
                conf_deinit(&conf);
        }
}

static void a_manager_on_all_addresses_is_this_host(void **state)
{
        struct fst_conf conf;
        conf_init(&conf);
        assert_int_equal(filter_set(&conf, (const char *const[]){NULL}, NULL), 0);
        const char *hosts = conf_get_raw(&conf, "spark." FILTER ".param.PROXY_HOSTS");
        assert_string_not_equal(hosts, "0.0.0.0");
        conf_deinit(&conf);
}

static void keeps_other_filters(void **state)
{
        struct fst_conf conf;
        conf_init(&conf);
        conf_set(&conf, "spark.ui.filters", "org.apache.spark.ui.JWSFilter");
        for (int i = 0; i < 2; i++)
                assert_int_equal(
                        filter_set(&conf, (const char *const[]){"yarn.resourcemanager.hostname=rm", NULL}, NULL), 0);
        assert_string_equal(conf_get_value(&conf, "spark.ui.filters"), FILTER ",org.apache.spark.ui.JWSFilter");
        conf_deinit(&conf);
}

static void names_a_manager_without_address(void **state)
{
        static const char *const settings[] = {"yarn.resourcemanager.ha.enabled=true",
                                               "yarn.resourcemanager.ha.rm-ids=a", NULL};
        _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
        struct fst_conf conf;
        conf_init(&conf);
        assert_int_equal(filter_set(&conf, settings, &error), -EINVAL);
        assert_non_null(strstr(error_message(&error), "yarn.resourcemanager.webapp.address"));
        assert_false(conf_contains(&conf, "spark.ui.filters"));
        conf_deinit(&conf);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(names_the_proxy),
                cmocka_unit_test(a_manager_on_all_addresses_is_this_host),
                cmocka_unit_test(keeps_other_filters),
                cmocka_unit_test(names_a_manager_without_address),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
