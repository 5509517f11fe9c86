/* Command line and keys of a dispatcher: the cases of Spark's MesosClusterDispatcherArgumentsSuite and
 * MesosClusterDispatcherSuite.
 */
#include "mesos/dispatcher/dispatcher_conf.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/error.h"
#include "unit/cases.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <cmocka.h>

static struct dispatcher_conf conf;

static int begin(void **state)
{
        setenv("SPARK_CONF_DIR", "/nonexistent", 1);
        return 0;
}

static int end(void **state)
{
        dispatcher_conf_deinit(&conf);
        return 0;
}

/* @words end with NULL. */
static int read_words(const char *const *words, struct fst_error *error)
{
        int n = 1;
        char *argv[24] = {(char *)"mesos-dispatcher"};
        for (; words[n - 1]; n++)
                argv[n] = (char *)words[n - 1];
        return dispatcher_conf_read(&conf, n, argv, error);
}

#define READ(error, ...) read_words((const char *const[]){__VA_ARGS__, NULL}, error)

static void options_are_read(void **state)
{
        assert_int_equal(READ(NULL, "--port", "1212", "--name", "name", "--webui-port", "2323", "--zk", "z1:2181",
                              "--host", "h", "--master", "mesos://zk://m:2181/mesos", "--conf",
                              "spark.mesos.maxDrivers=7", "--conf", "spark.mesos.dispatcher.queue.urgent=2.5", "--conf",
                              "spark.mesos.cluster.retry.wait.max=9", "--verbose"),
                         0);
        assert_int_equal(conf.port, 1212);
        assert_int_equal(conf.web_ui_port, 2323);
        assert_string_equal(conf.name, "name");
        assert_string_equal(conf.host, "h");
        assert_string_equal(conf.master, "zk://m:2181/mesos");
        assert_true(conf.verbose);
        assert_string_equal(conf_get_raw(&conf.conf, "spark.deploy.recoveryMode"), "ZOOKEEPER");
        assert_string_equal(conf_get_raw(&conf.conf, "spark.deploy.zookeeper.url"), "z1:2181");
        assert_string_equal(conf_get_raw(&conf.conf, "spark.deploy.zookeeper.dir"), "/spark_mesos_dispatcher");
        assert_int_equal(conf.core.max_drivers, 7);
        assert_int_equal(conf.core.retained_drivers, 200);
        assert_int_equal(conf.core.refuse_ms, 120000);
        assert_int_equal(conf.core.max_retry_wait, 9 * NS_PER_SECOND);
        assert_true(dispatcher_has_queue(&conf.core, "urgent"));
}

static void verbose_shows_settings(void **state)
{
        _cleanup_(buf_deinit) struct buf text = BUF_INIT;
        assert_int_equal(READ(NULL, "-m", "mesos://h:5050", "-h", "me", "-p", "1", "--conf", "spark.mesos.secret=guess",
                              "--conf", "spark.mesos.role=dev"),
                         0);
        dispatcher_conf_put(&conf, &text);
        assert_non_null(
                strstr(buf_text(&text),
                       "Using host: me\nUsing port: 1\nUsing webUiPort: 8081\nFramework Name: Spark Cluster\n"));
        assert_non_null(strstr(buf_text(&text), "spark.mesos.role = dev\n"));
        assert_null(strstr(buf_text(&text), "guess"));
}

static void wrong_words_are_refused(void **state)
{
        static const struct {
                const char *words[5];
                int result;
                const char *message;
        } cases[] = {
                {{NULL}, DISPATCHER_CONF_E_USAGE, "--master is required"},
                {{"--help"}, DISPATCHER_CONF_E_HELP, NULL},
                {{"--blarg"}, DISPATCHER_CONF_E_USAGE, "Unrecognized option: '--blarg'"},
                {{"-bleg"}, DISPATCHER_CONF_E_USAGE, "Unrecognized option: '-bleg'"},
                {{"--master"}, DISPATCHER_CONF_E_USAGE, "--master needs a value"},
                {{"--port", "x"}, DISPATCHER_CONF_E_USAGE, "--port: \"x\" is not a port from 0 to 65535"},
                {{"--conf", "spark.x"}, DISPATCHER_CONF_E_USAGE, "Spark config without '=': spark.x"},
                {{"-m", "spark://h:7077"},
                 -EINVAL,
                 "Cluster dispatcher only supports mesos (uri begins with mesos://)"},
                {{"-m", "mesos://h:1", "--conf", "spark.mesos.dispatcher.queue.a=high"},
                 -EINVAL,
                 "spark.mesos.dispatcher.queue.a: \"high\" is not a number, the priority of the queue \"a\""},
                {{"-m", "mesos://h:1", "--conf", "spark.deploy.recoveryMode=CUSTOM"},
                 -EINVAL,
                 "spark.deploy.recoveryMode is CUSTOM: it can be NONE, ZOOKEEPER or FILESYSTEM"},
                {{"-m", "mesos://h:1", "--conf", "spark.authenticate.secret=x"},
                 -EINVAL,
                 "spark.authenticate.secret is set: the dispatcher cannot check it, and each application has its own. "
                 "Remove it from the dispatcher's settings"},
                {{"-m", "mesos://h:1", "--conf", "spark.mesos.maxDrivers=0"},
                 -EINVAL,
                 "spark.mesos.maxDrivers is 0: set it to 1 or more"},
                {{"-m", "mesos://h:1", "--conf", "spark.mesos.retainedDrivers=-1"},
                 -EINVAL,
                 "spark.mesos.retainedDrivers is -1: set it to 0 or more"},
                {{"-m", "mesos://h:1", "--conf", "spark.mesos.cluster.retry.wait.max=0"},
                 -EINVAL,
                 "spark.mesos.cluster.retry.wait.max: 0 is not a number of seconds from 1"},
        };
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                CASE_LABEL("%s", cases[i].message);
                _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
                assert_int_equal(read_words(cases[i].words, &error), cases[i].result);
                if (cases[i].message)
                        assert_string_equal(error_message(&error), cases[i].message);
                dispatcher_conf_deinit(&conf);
        }
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test_setup_teardown(options_are_read, begin, end),
                cmocka_unit_test_setup_teardown(verbose_shows_settings, begin, end),
                cmocka_unit_test_setup_teardown(wrong_words_are_refused, begin, end),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
