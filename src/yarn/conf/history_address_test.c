/* Where ended applications are shown. Restates Spark's ApplicationMasterSuite. */
#include "yarn/conf/history_address.h"

#include "base/mem.h"
#include "conf/conf.h"
#include "yarn/conf/yarn_conf.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>

static const char *no_environment(const char *name)
{
        return NULL;
}

static void links_the_attempt_with_hadoop_variables(void **state)
{
        static const struct {
                const char *address, *expected;
        } rows[] = {
                {NULL, ""},
                {"", ""},
                {"http://h:18080", "http://h:18080/history/application_1_0002/3"},
                {"http://${hadoopconf-yarn.resourcemanager.hostname}:18080",
                 "http://rm.host.com:18080/history/application_1_0002/3"},
                {"${hadoopconf-scheme}://${hadoopconf-yarn.resourcemanager.hostname}",
                 "https://rm.host.com/history/application_1_0002/3"},
                {"${hadoopconf-missing}/${hadoopconf-scheme}",
                 "${hadoopconf-missing}/${hadoopconf-scheme}/history/application_1_0002/3"},
                {"${hadoopconf-}x${hadoopconf-a b}${hadoopconf-scheme",
                 "${hadoopconf-}x${hadoopconf-a b}${hadoopconf-scheme/history/application_1_0002/3"},
        };
        struct yarn_conf yarn = {0};
        hadoop_conf_init(&yarn.hadoop, no_environment);
        hadoop_conf_set(&yarn.hadoop, "yarn.resourcemanager.hostname", "rm.host.com");
        hadoop_conf_set(&yarn.hadoop, "scheme", "https");
        for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
                struct fst_conf conf;
                conf_init(&conf);
                if (rows[i].address)
                        conf_set(&conf, "spark.yarn.historyServer.address", rows[i].address);
                _cleanup_free_ char *found = history_address(&conf, &yarn, "application_1_0002", 3);
                assert_string_equal(found, rows[i].expected);
                conf_deinit(&conf);
        }
        yarn_conf_deinit(&yarn);
}

int main(void)
{
        const struct CMUnitTest tests[] = {cmocka_unit_test(links_the_attempt_with_hadoop_variables)};
        return cmocka_run_group_tests(tests, NULL, NULL);
}
