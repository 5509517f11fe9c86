/* Descriptions and commands of drivers: the cases of Spark's MesosRestServerSuite, and those of
 * MesosClusterSchedulerSuite that concern commands.
 */
#include "mesos/dispatcher/driver_command.h"

#include "base/buf.h"
#include "base/error.h"
#include "base/mem.h"
#include "conf/conf.h"
#include "mesos/dispatcher/driver_description.h"
#include "mesos/dispatcher/driver_settings.h"
#include "mesos/dispatcher/driver_task.h"
#include "rest/rest_request.h"
#include "unit/cases.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

static struct {
        struct rest_request request;
        struct fst_conf conf;
        struct driver_command command;
} t;

static int begin(void **state)
{
        memset(&t, 0, sizeof(t));
        conf_init(&t.conf);
        t.request.app_resource = mem_strdup("file:///apps/app.jar");
        t.request.main_class = mem_strdup("Main");
        strmap_set(&t.request.properties, "spark.app.name", "app");
        t.command = (struct driver_command){.request = &t.request,
                                            .conf = &t.conf,
                                            .master = "localhost:5050",
                                            .home = "/opt/spark",
                                            .framework_id = "fw",
                                            .task_id = "driver-1",
                                            .memory = 1408,
                                            .cores = 1};
        return 0;
}

static int end(void **state)
{
        rest_request_deinit(&t.request);
        conf_deinit(&t.conf);
        return 0;
}

static void set(const char *key, const char *value)
{
        strmap_set(&t.request.properties, key, value);
}

static void expect_command(const char *expected)
{
        _cleanup_(buf_deinit) struct buf line = BUF_INIT;
        driver_command_put(&t.command, &line);
        assert_string_equal(buf_text(&line), expected);
}

static void memory_has_overhead(void **state)
{
        static const struct {
                const char *memory, *factor, *overhead, *mesos_overhead;
                int64_t driver, task;
        } cases[] = {
                {"2000M", NULL, NULL, NULL, 2384, 2768},  {"5000M", NULL, NULL, NULL, 5500, 6050},
                {"5000M", "0.2", NULL, NULL, 6000, 7200}, {"5000M", NULL, "1000", NULL, 6000, 6600},
                {NULL, NULL, NULL, NULL, 1408, 1792},     {"512m", NULL, NULL, NULL, 896, 1280},
                {"512m", NULL, NULL, "7", 896, 903},      {"1g", NULL, "1g", "1", 2048, 2049},
        };
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                CASE_LABEL("%s, factor %s, overhead %s", cases[i].memory, cases[i].factor, cases[i].overhead);
                const char *const keys[] = {"spark.driver.memory", "spark.driver.memoryOverheadFactor",
                                            "spark.driver.memoryOverhead", "spark.mesos.driver.memoryOverhead"};
                const char *const values[] = {cases[i].memory, cases[i].factor, cases[i].overhead,
                                              cases[i].mesos_overhead};
                struct mesos_driver_spec spec;
                int64_t memory = 0;
                for (size_t k = 0; k < ARRAY_SIZE(keys); k++)
                        if (values[k])
                                set(keys[k], values[k]);
                        else
                                strmap_remove(&t.request.properties, keys[k]);
                assert_int_equal(driver_description_memory(&t.request, &memory, NULL), 0);
                assert_int_equal(memory, cases[i].driver);
                assert_int_equal(driver_description_spec(&t.request, NULL, &spec, NULL), 0);
                assert_int_equal(spec.memory, cases[i].task);
        }
}

static void invalid_settings_are_refused(void **state)
{
        static const struct dispatcher_config config = {0};
        static const struct {
                const char *key, *value, *message;
        } cases[] = {
                {"spark.driver.cores", "zero", "spark.driver.cores: \"zero\" is not a number from 0"},
                {"spark.driver.cores", "0", "spark.driver.cores: \"0\" is not a number above 0 and up to 1000000"},
                {"spark.driver.cores", "nan", "spark.driver.cores: \"nan\" is not a number from 0"},
                {"spark.driver.memoryOverheadFactor", "-1",
                 "spark.driver.memoryOverheadFactor: \"-1\" is not a number from 0"},
                {"spark.mesos.dispatcher.queue", "night",
                 "spark.mesos.dispatcher.queue: this dispatcher has no queue \"night\"; its administrator adds one by "
                 "spark.mesos.dispatcher.queue.night=PRIORITY"},
        };
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                CASE_LABEL("%s=%s", cases[i].key, cases[i].value);
                _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
                struct mesos_driver_spec spec;
                set(cases[i].key, cases[i].value);
                assert_int_equal(driver_description_spec(&t.request, &config, &spec, &error), -EINVAL);
                assert_string_equal(error_message(&error), cases[i].message);
                strmap_remove(&t.request.properties, cases[i].key);
        }
        struct mesos_driver_spec spec;
        set("spark.mesos.driver.constraints", "a:b:c");
        assert_int_equal(driver_description_spec(&t.request, &config, &spec, NULL), -EINVAL);
}

static void description_survives_packing(void **state)
{
        struct rest_request copy;
        size_t size;
        vec_push(&t.request.app_args, mem_strdup("a b"));
        vec_push(&t.request.app_args, mem_strdup(""));
        strmap_set(&t.request.environment, "SPARK_USER", "u");
        _cleanup_free_ void *data = driver_description_pack(&t.request, &size);
        assert_int_equal(driver_description_unpack(&copy, data, size, NULL), 0);
        assert_string_equal(copy.app_resource, "file:///apps/app.jar");
        assert_string_equal(copy.main_class, "Main");
        assert_int_equal(copy.app_args.len, 2);
        assert_string_equal(copy.app_args.data[0], "a b");
        assert_string_equal(strmap_get(&copy.properties, "spark.app.name"), "app");
        assert_string_equal(strmap_get(&copy.environment, "SPARK_USER"), "u");
        rest_request_deinit(&copy);
        assert_int_equal(driver_description_unpack(&copy, "\xff", 1, NULL), -EBADMSG);
}

static void command_has_options_in_order(void **state)
{
        set("spark.app.name", "my app");
        set("spark.executor.memory", "2g");
        set("spark.cores.max", "8");
        set("spark.submit.pyFiles", "/a/one.py,hdfs://n/two.zip");
        set("spark.jars", "x.jar");
        set("spark.submit.deployMode", "cluster");
        set("spark.master", "mesos://dispatcher:7077");
        set("spark.mesos.driver.secret.values", "guess");
        conf_set(&t.conf, "spark.mesos.dispatcher.driverDefault.spark.ui.port", "1");
        conf_set(&t.conf, "spark.mesos.dispatcher.driverDefault.spark.cores.max", "4");
        vec_push(&t.request.app_args, mem_strdup("10"));
        expect_command(
                "/opt/spark/./bin/spark-submit --name \"my app\" --master mesos://localhost:5050 --driver-cores 1 "
                "--driver-memory 1408M --class Main --executor-memory 2g --total-executor-cores 8 "
                "--py-files ./one.py,./two.zip --conf \"spark.app.name=my app\" --conf spark.cores.max=8 "
                "--conf spark.executor.memory=2g --conf spark.submit.pyFiles=/a/one.py,hdfs://n/two.zip "
                "--conf spark.ui.port=1 ./app.jar 10");
}

static void python_has_no_class_and_cores_may_be_a_fraction(void **state)
{
        free(t.request.main_class);
        t.request.main_class = mem_strdup("");
        t.command.cores = 1.5;
        set("spark.mesos.executor.home", "/spark/");
        expect_command("/spark/./bin/spark-submit --name app --master mesos://localhost:5050 --driver-cores 1.5 "
                       "--driver-memory 1408M --conf spark.app.name=app --conf spark.mesos.executor.home=/spark/ "
                       "./app.jar");
}

static void archive_is_entered(void **state)
{
        set("spark.executor.uri", "hdfs://n/spark-3.5.6-bin.tgz");
        expect_command("cd spark-3*;  bin/spark-submit --name app --master mesos://localhost:5050 --driver-cores 1 "
                       "--driver-memory 1408M --class Main --conf spark.app.name=app "
                       "--conf spark.executor.uri=hdfs://n/spark-3.5.6-bin.tgz ../app.jar");
}

static void image_has_sandbox(void **state)
{
        set("spark.mesos.executor.docker.image", "i");
        set("spark.submit.pyFiles", "/a b.py,/c.py");
        expect_command("./bin/spark-submit --name app --master mesos://localhost:5050 --driver-cores 1 "
                       "--driver-memory 1408M --class Main --py-files $MESOS_SANDBOX\"/a b.py\",$MESOS_SANDBOX/c.py "
                       "--conf spark.app.name=app --conf spark.mesos.executor.docker.image=i "
                       "--conf \"spark.submit.pyFiles=/a b.py,/c.py\" $MESOS_SANDBOX/app.jar");
}

static void application_of_the_image_is_not_fetched(void **state)
{
        _cleanup_(string_list_deinit) struct string_list uris = {0};
        _cleanup_(buf_deinit) struct buf line = BUF_INIT;
        free(t.request.app_resource);
        t.request.app_resource = mem_strdup("local:///in/image/app.jar");
        set("spark.mesos.executor.docker.image", "i");
        set("spark.mesos.appJar.local.resolution.mode", "container");
        driver_command_uris(&t.command, &uris);
        assert_int_equal(uris.len, 0);
        driver_command_put(&t.command, &line);
        assert_non_null(strstr(buf_text(&line), "=i /in/image/app.jar"));
        strmap_remove(&t.request.properties, "spark.mesos.appJar.local.resolution.mode");
        driver_command_uris(&t.command, &uris);
        assert_int_equal(uris.len, 1);
        assert_string_equal(uris.data[0], "///in/image/app.jar");
}

static void words_are_escaped(void **state)
{
        static const struct {
                const char *word, *escaped;
        } cases[] = {
                {"should not be wrapped", "\"should not be wrapped\""},
                {"plain", "plain"},
                {"\"should not be wrapped\"", "\"should not be wrapped\""},
                {"'not wrapped'", "'not wrapped'"},
                {"should be wrapped; foo", "\"should be wrapped; foo\""},
                {"\"?", "\"\\\"?\""},
                {"val\"ue", "\"val\\\"ue\""},
                {"$1 `x` \\", "\"\\$1 \\`x\\` \\\\\""},
                {"", "\"\""},
                {"a\nb", "\"a\nb\""},
                {"\"", "\"\\\"\""},
        };
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                CASE_LABEL("%s", cases[i].word);
                _cleanup_(buf_deinit) struct buf out = BUF_INIT;
                driver_command_put_word(&out, cases[i].word);
                assert_string_equal(buf_text(&out), cases[i].escaped);
        }
}

static void files_and_variables_are_in_order(void **state)
{
        _cleanup_(string_list_deinit) struct string_list uris = {0};
        _cleanup_(strmap_deinit) struct strmap variables = STRMAP_INIT;
        conf_set(&t.conf, "spark.mesos.uris", "/all");
        set("spark.mesos.uris", " /mine , /more");
        set("spark.submit.pyFiles", "/p.py");
        strmap_set(&t.request.environment, "SPARK_EXECUTOR_URI", "/spark.tgz");
        strmap_set(&t.request.environment, "SPARK_SUBMIT_OPTS", "-Da=b");
        strmap_set(&t.request.environment, "SPARK_USER", "u");
        set("spark.mesos.driverEnv.SPARK_USER", "other");
        set("spark.mesos.driverEnv.X", "y");
        driver_command_uris(&t.command, &uris);
        static const char *const expected[] = {"///apps/app.jar", "/all", "/mine", "/more", "/p.py", "/spark.tgz"};
        assert_int_equal(uris.len, ARRAY_SIZE(expected));
        for (size_t i = 0; i < ARRAY_SIZE(expected); i++)
                assert_string_equal(uris.data[i], expected[i]);
        driver_command_environment(&t.command, &variables);
        assert_string_equal(strmap_get(&variables, "X"), "y");
        assert_string_equal(strmap_get(&variables, "SPARK_USER"), "u");
        assert_string_equal(strmap_get(&variables, "SPARK_SUBMIT_OPTS"),
                            "-Da=b -Dspark.mesos.driver.frameworkId=fw-driver-1");
}

static void cache_is_enabled_by_driver_or_dispatcher(void **state)
{
        static const struct {
                const char *dispatcher, *driver;
                int result;
                bool cache;
        } cases[] = {{NULL, NULL, 0, false},
                     {"true", NULL, 0, true},
                     {NULL, "true", 0, true},
                     {"true", "false", 0, true},
                     {NULL, "maybe", -EINVAL, false}};
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                CASE_LABEL("%s, %s", cases[i].dispatcher, cases[i].driver);
                bool cache = false;
                strmap_remove(&t.conf.set, "spark.mesos.fetcherCache.enable");
                strmap_remove(&t.request.properties, "spark.mesos.fetcherCache.enable");
                if (cases[i].dispatcher)
                        conf_set(&t.conf, "spark.mesos.fetcherCache.enable", cases[i].dispatcher);
                if (cases[i].driver)
                        set("spark.mesos.fetcherCache.enable", cases[i].driver);
                assert_int_equal(driver_command_cache(&t.command, &cache, NULL), cases[i].result);
                assert_int_equal(cache, cases[i].cache);
        }
}

static void task_has_labels_network_and_secrets(void **state)
{
        const struct mesos_resource resources[] = {{.name = "cpus", .role = "*", .milli = 1000},
                                                   {.name = "mem", .role = "*", .milli = 1792000}};
        const struct dispatcher_launch launch = {.resources = resources, .n_resources = 2};
        struct driver_task task;
        set("spark.mesos.driver.labels", "k:v,k2:v2");
        set("spark.mesos.network.name", "net");
        set("spark.mesos.network.labels", "a:b");
        set("spark.mesos.driver.secret.names", "/path");
        set("spark.mesos.driver.secret.envkeys", "TOKEN");
        assert_int_equal(driver_task_init(&task, &t.command, &launch, "agent-1", NULL), 0);
        const Firesteel__Mesos__TaskInfo *info = task.info;
        assert_string_equal(info->name, "Driver for app");
        assert_string_equal(info->task_id->value, "driver-1");
        assert_string_equal(info->agent_id->value, "agent-1");
        assert_int_equal(info->n_resources, 2);
        assert_true(info->resources[1]->scalar->value == 1792);
        assert_int_equal(info->labels->n_labels, 2);
        assert_string_equal(info->labels->labels[1]->value, "v2");
        assert_string_equal(info->container->network_infos[0]->name, "net");
        const Firesteel__Mesos__Environment *e = info->command->environment;
        assert_string_equal(e->variables[e->n_variables - 1]->name, "TOKEN");
        assert_string_equal(e->variables[e->n_variables - 1]->secret->reference->name, "/path");
        assert_string_equal(e->variables[0]->name, "SPARK_SUBMIT_OPTS");
        assert_int_equal(info->command->n_uris, 1);
        assert_true(info->command->uris[0]->has_cache && !info->command->uris[0]->cache);
        driver_task_deinit(&task);
        set("spark.mesos.driver.labels", "k:v:w");
        assert_int_equal(driver_task_init(&task, &t.command, NULL, NULL, NULL), -EINVAL);
}

static void settings_that_end_the_driver_are_refused(void **state)
{
        static const struct {
                const char *key, *value, *message;
        } cases[] = {
                {"spark.executor.memory", "-1g", "spark.executor.memory"},
                {"spark.executor.memory", "x", "spark.executor.memory=x"},
                {"spark.cores.max", "two", "spark.cores.max should be int, but was two"},
                {"spark.cores.max", "1", "spark.cores.max is less than spark.executor.cores (2)"},
                {"spark.mesos.coarse", "no", "spark.mesos.coarse should be boolean, but was no"},
                {"spark.mesos.constraints", "a:b:c", "spark.mesos.constraints: Bad constraint string: a:b:c"},
                {"spark.mesos.task.labels", "a", "spark.mesos.task.labels"},
                {"spark.mesos.rejectOfferDuration", "x", "spark.mesos.rejectOfferDuration=x"},
                {"spark.locality.wait", "1 year", "spark.locality.wait=1 year"},
                {"spark.memory.fraction", "half", "spark.memory.fraction should be double, but was half"},
                {"spark.mesos.executor.secret.envkeys", "A,B", "secret"},
        };
        set("spark.executor.cores", "2");
        assert_int_equal(driver_settings_check(&t.command, NULL), 0);
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                struct fst_error error = FST_ERROR_INIT;
                CASE_LABEL("%s=%s", cases[i].key, cases[i].value);
                set(cases[i].key, cases[i].value);
                assert_int_equal(driver_settings_check(&t.command, &error), -EINVAL);
                assert_non_null(strstr(error_message(&error), cases[i].message));
                error_deinit(&error);
                strmap_remove(&t.request.properties, cases[i].key);
        }
        conf_set(&t.conf, "spark.mesos.dispatcher.driverDefault.spark.task.cpus", "x");
        assert_int_equal(driver_settings_check(&t.command, NULL), -EINVAL);
        set("spark.task.cpus", "1");
        assert_int_equal(driver_settings_check(&t.command, NULL), 0);
}

static void settings_that_only_the_agent_can_read_are_accepted(void **state)
{
        set("spark.executor.memory", "${env:MEMORY}");
        set("spark.driver.cores", "0.5");
        set("spark.unknown", "x");
        set("spark.mesos.coarse", "false");
        set("spark.cores.max", "1");
        set("spark.executor.cores", "2"); /* which the fine-grained mode does not read */
        assert_int_equal(driver_settings_check(&t.command, NULL), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
        const struct CMUnitTest tests[] = {
                TEST(memory_has_overhead),
                TEST(invalid_settings_are_refused),
                TEST(description_survives_packing),
                TEST(command_has_options_in_order),
                TEST(python_has_no_class_and_cores_may_be_a_fraction),
                TEST(archive_is_entered),
                TEST(image_has_sandbox),
                TEST(application_of_the_image_is_not_fetched),
                TEST(words_are_escaped),
                TEST(files_and_variables_are_in_order),
                TEST(cache_is_enabled_by_driver_or_dispatcher),
                TEST(task_has_labels_network_and_secrets),
                TEST(settings_that_end_the_driver_are_refused),
                TEST(settings_that_only_the_agent_can_read_are_accepted),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
