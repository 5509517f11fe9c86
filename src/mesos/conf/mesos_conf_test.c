/* Tests where the masters are, and who the framework is. */
#include "mesos/conf/master_detector.h"
#include "mesos/conf/mesos_credentials.h"
#include "mesos/conf/mesos_master.h"

#include "base/error.h"
#include "base/mem.h"
#include "conf/conf.h"
#include "unit/temp_dir.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

static void a_master_url_has_three_forms(void **state)
{
        static const struct {
                const char *url;
                enum mesos_master_kind kind;
                const char *address, *servers, *user_password, *path, *text;
        } cases[] = {
                {"mesos://h:5050", MESOS_MASTER_ADDRESS, "h:5050", NULL, NULL, NULL, "h:5050"},
                {"10.0.0.7:5050", MESOS_MASTER_ADDRESS, "10.0.0.7:5050", NULL, NULL, NULL, "10.0.0.7:5050"},
                {"[2001:db8::1]:5050", MESOS_MASTER_ADDRESS, "[2001:db8::1]:5050", NULL, NULL, NULL,
                 "[2001:db8::1]:5050"},
                {"mesos://zk://a:1,b:2/mesos", MESOS_MASTER_ZOOKEEPER, NULL, "a:1,b:2", NULL, "/mesos",
                 "zk://a:1,b:2/mesos"},
                {"zk://u:p@x@a:1/m/n/", MESOS_MASTER_ZOOKEEPER, NULL, "a:1", "u:p@x", "/m/n", "zk://a:1/m/n/"},
        };

        for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
                struct mesos_master m;
                assert_int_equal(mesos_master_parse(cases[i].url, &m, NULL), 0);
                assert_int_equal(m.kind, cases[i].kind);
                assert_string_equal(m.text, cases[i].text);
                if (m.kind == MESOS_MASTER_ADDRESS) {
                        assert_string_equal(m.address, cases[i].address);
                } else {
                        assert_string_equal(m.servers, cases[i].servers);
                        assert_string_equal(m.path, cases[i].path);
                        assert_true(!m.user_password == !cases[i].user_password);
                }
                if (cases[i].user_password)
                        assert_string_equal(m.user_password, cases[i].user_password);
                mesos_master_deinit(&m);
        }
}

static void an_invalid_master_url_is_explained(void **state)
{
        static const char *const cases[][2] = {
                {"mesos://host", "\"host\" is not the address of a Mesos master"},
                {"mesos://", "\"\" is not the address"},
                {"mesos://h:0x", "is not the address"},
                {"mesos://h1:5050,h2:5050", "write the address of one master as mesos://host:port"},
                {"mesos://zk://a:1", "has no path"},
                {"mesos://zk://a:1/", "has no path"},
                {"mesos://zk:///mesos", "names no ZooKeeper server"},
                {"mesos://zk://user@a:1/mesos", "has no password"},
                {"mesos://file:///nowhere/at/all", "reading the Mesos master"},
        };

        for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
                struct mesos_master m;
                struct fst_error error = FST_ERROR_INIT;
                assert_true(mesos_master_parse(cases[i][0], &m, &error) < 0);
                assert_non_null(strstr(error_message(&error), cases[i][1]));
                error_deinit(&error);
        }
}

static void a_file_names_the_master(void **state)
{
        _cleanup_free_ char *path = temp_dir_write("master", " zk://a:1/mesos\n");
        _cleanup_free_ char *url = mem_printf("mesos://file://%s", path);
        struct mesos_master m;

        assert_int_equal(mesos_master_parse(url, &m, NULL), 0);
        assert_string_equal(m.servers, "a:1");
        mesos_master_deinit(&m);
}

static const char *const *variables; /* name, value, …, NULL */

static const char *test_variable(const char *name)
{
        for (const char *const *at = variables; at && *at; at += 2)
                if (strcmp(at[0], name) == 0)
                        return at[1];
        return NULL;
}

static void credentials_have_four_sources(void **state)
{
        _cleanup_free_ char *principal = temp_dir_write("p", "from-file\n");
        _cleanup_free_ char *secret = temp_dir_write("s", "s e c\r\n");
        const char *const files[] = {"SPARK_MESOS_PRINCIPAL_FILE", principal, "SPARK_MESOS_SECRET_FILE", secret, NULL};
        const char *const both[] = {"SPARK_MESOS_PRINCIPAL", "from-variable", "SPARK_MESOS_PRINCIPAL_FILE", "/none",
                                    NULL};
        struct fst_conf conf;
        struct mesos_credentials c;

        conf_init(&conf);
        variables = NULL;
        assert_int_equal(mesos_credentials_read(&conf, test_variable, &c, NULL), 0);
        assert_null(c.principal);
        assert_null(c.secret);
        assert_false(c.tls);
        mesos_credentials_deinit(&c);

        variables = files;
        assert_int_equal(mesos_credentials_read(&conf, test_variable, &c, NULL), 0);
        assert_string_equal(c.principal, "from-file");
        assert_string_equal(c.secret, "s e c");
        mesos_credentials_deinit(&c);

        variables = both;
        conf_set(&conf, "spark.mesos.principal.file", principal);
        assert_int_equal(mesos_credentials_read(&conf, test_variable, &c, NULL), 0);
        assert_string_equal(c.principal, "from-variable");
        mesos_credentials_deinit(&c);

        conf_set(&conf, "spark.mesos.principal", "from-key");
        assert_int_equal(mesos_credentials_read(&conf, test_variable, &c, NULL), 0);
        assert_string_equal(c.principal, "from-key");
        mesos_credentials_deinit(&c);
        conf_deinit(&conf);
}

static void invalid_credentials_are_explained(void **state)
{
        const char *const missing[] = {"SPARK_MESOS_PRINCIPAL_FILE", "/nowhere/at/all", NULL};
        struct fst_conf conf;
        struct mesos_credentials c;
        struct fst_error error = FST_ERROR_INIT;

        conf_init(&conf);
        variables = missing;
        assert_int_equal(mesos_credentials_read(&conf, test_variable, &c, &error), -ENOENT);
        assert_non_null(strstr(error_message(&error), "SPARK_MESOS_PRINCIPAL_FILE names"));
        variables = NULL;
        conf_set(&conf, "spark.mesos.secret", "s");
        assert_int_equal(mesos_credentials_read(&conf, test_variable, &c, &error), -EINVAL);
        assert_non_null(strstr(error_message(&error),
                               "spark.mesos.principal must be configured when spark.mesos.secret is set"));
        error_deinit(&error);
        conf_deinit(&conf);
}

static void tls_has_the_variables_of_libprocess(void **state)
{
        const char *const on[] = {"LIBPROCESS_SSL_ENABLED",
                                  "1",
                                  "LIBPROCESS_SSL_VERIFY_SERVER_CERT",
                                  "false",
                                  "LIBPROCESS_SSL_CA_FILE",
                                  "/ca.pem",
                                  NULL};
        struct fst_conf conf;
        struct mesos_credentials c;

        conf_init(&conf);
        variables = on;
        assert_int_equal(mesos_credentials_read(&conf, test_variable, &c, NULL), 0);
        assert_true(c.tls && !c.verify);
        assert_string_equal(c.ca_file, "/ca.pem");
        mesos_credentials_deinit(&c);
        conf_deinit(&conf);
}

static void a_node_names_its_master(void **state)
{
        static const char node[] = "{\"address\":{\"hostname\":\"h\",\"ip\":\"10.0.0.7\",\"port\":5050},\"id\":\"x\","
                                   "\"ip\":117440522,\"pid\":\"master@10.0.0.7:5050\",\"port\":5050}";
        _cleanup_free_ char *address = master_node_address(node, sizeof(node) - 1);

        assert_string_equal(address, "10.0.0.7:5050");
        assert_null(master_node_address("{}", 2));
        assert_null(master_node_address("\x0a\x01x", 3));
        assert_null(master_node_address("{\"address\":{\"ip\":\"h\",\"port\":70000}}", 36));
        assert_int_equal(master_node_number("json.info_0000000012"), 12);
        assert_int_equal(master_node_number("info_0000000012"), -1);
        assert_int_equal(master_node_number("log_replicas"), -1);
        assert_int_equal(master_node_number("json.info_"), -1);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(a_master_url_has_three_forms),
                cmocka_unit_test(an_invalid_master_url_is_explained),
                cmocka_unit_test(a_file_names_the_master),
                cmocka_unit_test(credentials_have_four_sources),
                cmocka_unit_test(invalid_credentials_are_explained),
                cmocka_unit_test(tls_has_the_variables_of_libprocess),
                cmocka_unit_test(a_node_names_its_master),
        };
        return cmocka_run_group_tests(tests, temp_dir_make, temp_dir_remove);
}
