/* Settings of a submission: memory and overhead, limits of the cluster, resource types, values that are refused. */
#include "yarn/application/yarn_settings.h"

#include "base/error.h"
#include "base/mem.h"
#include "conf/conf.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

static struct fst_conf conf;
static struct yarn_settings settings;
static struct fst_error error;

static int teardown(void **state)
{
        conf_deinit(&conf);
        yarn_settings_deinit(&settings);
        error_deinit(&error);
        return 0;
}

/* Reads the settings of "key=value" pairs. */
static int settings_of(const char *const *pairs)
{
        teardown(NULL);
        conf_init(&conf);
        conf_set(&conf, "spark.submit.deployMode", "cluster");
        for (; *pairs; pairs++) {
                _cleanup_free_ char *key = mem_strdup(*pairs);
                char *value = strchr(key, '=');
                *value++ = '\0';
                conf_set(&conf, key, value);
        }
        return yarn_settings_read(&settings, &conf, &error);
}
#define READ(...) settings_of((const char *const[]){__VA_ARGS__, NULL})

static void defaults_are_sparks(void **state)
{
        assert_int_equal(settings_of((const char *const[]){NULL}), 0);
        assert_string_equal(settings.name, "Spark");
        assert_string_equal(settings.queue, "default");
        assert_string_equal(settings.type, "SPARK");
        assert_int_equal(settings.memory, 1024);
        assert_int_equal(settings.overhead, 384);
        assert_int_equal(settings.cores, 1);
        assert_int_equal(settings.max_attempts, -1);
        assert_int_equal(settings.validity_ms, -1);
        assert_false(settings.has_replication);
        assert_false(settings.has_priority);
        assert_true(settings.wait);
        assert_false(settings.preserve_staging);
        assert_int_equal(settings.report_interval_ms, 1000);
        assert_int_equal(settings.report_frequency, 30);
        assert_null(settings.node_label);
        assert_null(settings.staging_dir);
}

static void client_mode_has_a_small_application_master(void **state)
{
        assert_int_equal(READ("spark.submit.deployMode=client"), 0);
        assert_int_equal(settings.memory, 512);
        assert_int_equal(settings.overhead, 384);
        assert_int_equal(settings.cores, 1);
        assert_int_equal(READ("spark.submit.deployMode=client", "spark.yarn.am.memory=6g", "spark.yarn.am.cores=3",
                              "spark.driver.memory=1g", "spark.yarn.am.resource.x.amount=2",
                              "spark.yarn.driver.resource.y.amount=1"),
                         0);
        assert_int_equal(settings.memory, 6144);
        assert_int_equal(settings.overhead, 614);
        assert_int_equal(settings.cores, 3);
        assert_int_equal(settings.resources.list.len, 1);
        assert_string_equal(settings.resources.list.data[0].name, "x");
        assert_int_equal(READ("spark.submit.deployMode=client", "spark.yarn.am.memoryOverhead=100"), 0);
        assert_int_equal(settings.overhead, 100);
        assert_int_equal(yarn_settings_verify(&settings, 611, &error), -EINVAL);
}

static void overhead_is_a_fraction_or_explicit(void **state)
{
        assert_int_equal(READ("spark.driver.memory=10g"), 0);
        assert_int_equal(settings.overhead, 1024);
        assert_int_equal(READ("spark.driver.memory=10g", "spark.driver.memoryOverheadFactor=0.25"), 0);
        assert_int_equal(settings.overhead, 2560);
        assert_int_equal(READ("spark.driver.memory=512", "spark.driver.memoryOverhead=100",
                              "spark.driver.memoryOverheadFactor=0.5"),
                         0);
        assert_int_equal(settings.memory, 512);
        assert_int_equal(settings.overhead, 100);
        assert_int_equal(READ("spark.driver.memory=512m", "spark.driver.minMemoryOverhead=1g"), 0);
        assert_int_equal(settings.overhead, 1024);
}

static void reads_how_the_application_is_registered(void **state)
{
        assert_int_equal(READ("spark.app.name=a b", "spark.yarn.queue=q", "spark.yarn.tags=x, y,,x",
                              "spark.yarn.maxAppAttempts=3", "spark.yarn.priority=0",
                              "spark.yarn.am.attemptFailuresValidityInterval=1h",
                              "spark.yarn.am.nodeLabelExpression=gpu", "spark.yarn.rolledLog.includePattern=std.*",
                              "spark.yarn.submit.file.replication=7", "spark.yarn.stagingDir=/s"),
                         0);
        assert_string_equal(settings.name, "a b");
        assert_string_equal(settings.queue, "q");
        assert_int_equal(settings.tags.len, 3);
        assert_string_equal(settings.tags.data[1], "y");
        assert_int_equal(settings.max_attempts, 3);
        assert_true(settings.has_priority);
        assert_int_equal(settings.validity_ms, 3600000);
        assert_string_equal(settings.node_label, "gpu");
        assert_string_equal(settings.rolled_include, "std.*");
        assert_true(settings.has_replication);
        assert_int_equal(settings.replication, 7);
        assert_string_equal(settings.staging_dir, "/s");
}

static void refuses_more_memory_than_a_container_may_have(void **state)
{
        assert_int_equal(READ("spark.executor.memory=4g"), 0);
        assert_int_equal(yarn_settings_verify(&settings, 4096 + 409, &error), 0);
        assert_int_equal(yarn_settings_verify(&settings, 4096 + 408, &error), -EINVAL);
        assert_string_equal(error_message(&error),
                            "Required executor memory (4096 MB), offHeap memory (0) MB, overhead (409 MB), and PySpark "
                            "memory (0 MB) is above the max threshold (4504 MB) of this cluster! Please check the "
                            "values of 'yarn.scheduler.maximum-allocation-mb' and/or "
                            "'yarn.nodemanager.resource.memory-mb'.");
        assert_int_equal(READ("spark.driver.memory=9999m", "spark.executor.memory=1g"), 0);
        assert_int_equal(yarn_settings_verify(&settings, 8192, &error), -EINVAL);
        assert_string_equal(error_message(&error),
                            "Required AM memory (9999+999 MB) is above the max threshold (8192 MB) of this cluster! "
                            "Please check the values of 'yarn.scheduler.maximum-allocation-mb' and/or "
                            "'yarn.nodemanager.resource.memory-mb'.");
}

static void counts_off_heap_and_python_memory(void **state)
{
        assert_int_equal(READ("spark.executor.memory=1g", "spark.memory.offHeap.enabled=true",
                              "spark.memory.offHeap.size=512m", "spark.executor.pyspark.memory=256m"),
                         0);
        assert_int_equal(settings.executor.off_heap_mb, 512);
        assert_int_equal(settings.executor.python_mb, 0); /* not a Python application */
        assert_int_equal(yarn_settings_verify(&settings, 1024 + 384 + 512, &error), 0);
        assert_int_equal(READ("spark.yarn.isPython=true", "spark.executor.pyspark.memory=256m"), 0);
        assert_int_equal(yarn_settings_verify(&settings, 1024 + 384 + 255, &error), -EINVAL);
        assert_int_equal(READ("spark.memory.offHeap.enabled=true"), -EINVAL);
        assert_string_equal(error_message(&error),
                            "requirement failed: spark.memory.offHeap.size must be at least 1MiB when "
                            "spark.memory.offHeap.enabled == true");
}

static void reads_resource_types_with_units(void **state)
{
        assert_int_equal(READ("spark.yarn.driver.resource.yarn.io/fast.amount=5G", "spark.driver.resource.gpu.amount=2",
                              "spark.yarn.executor.resource.other.amount=7"),
                         0);
        assert_int_equal(settings.resources.list.len, 2);
        assert_string_equal(settings.resources.list.data[0].name, "yarn.io/fast");
        assert_int_equal(settings.resources.list.data[0].amount, 5);
        assert_string_equal(settings.resources.list.data[0].units, "G");
        assert_string_equal(settings.resources.list.data[1].name, "yarn.io/gpu");
        assert_string_equal(settings.resources.list.data[1].units, "");
}

static void refuses_invalid_values(void **state)
{
        static const struct {
                const char *pair, *message;
        } cases[] = {
                {"spark.yarn.driver.resource.memory=1g",
                 "Error: Do not use spark.yarn.driver.resource.memory, please use spark.driver.memory instead!\n"},
                {"spark.yarn.executor.resource.cpu-vcores.amount=1",
                 "Error: Do not use spark.yarn.executor.resource.cpu-vcores.amount, please use spark.executor.cores "
                 "instead!\n"},
                {"spark.yarn.am.resource.mb=1",
                 "Error: Do not use spark.yarn.am.resource.mb, please use spark.yarn.am.memory instead!\n"},
                {"spark.yarn.driver.resource.yarn.io/gpu.amount=1",
                 "Error: Do not use spark.yarn.driver.resource.yarn.io/gpu.amount, please use "
                 "spark.driver.resource.gpu.amount instead!\n"},
                {"spark.driver.memoryOverheadFactor=-1",
                 "[INVALID_CONF_VALUE.REQUIREMENT] The value '-1.0' in the config \"spark.driver.memoryOverheadFactor\" is "
                 "invalid. Ensure that memory overhead is a double greater than 0 SQLSTATE: 22022"},
                {"spark.driver.resource.gpu.amount=x", "For input string: \"x\""},
                {"spark.driver.resource.fpga.amount=5G", "For input string: \"5G\""},
                {"spark.acls.enable=x", "spark.acls.enable should be boolean, but was x: use true or false"},
                {"spark.yarn.unmanagedAM.enabled=x",
                 "spark.yarn.unmanagedAM.enabled should be boolean, but was x: use true or false"},
                {"spark.yarn.driver.resource.fast=1",
                 "Missing suffix for spark.yarn.driver.resource.fast, you must specify a suffix - amount is currently "
                 "the only supported suffix."},
                {"spark.yarn.driver.resource.fast.count=1",
                 "Unsupported suffix: count in: spark.yarn.driver.resource.fast.count, only .amount is supported."},
                {"spark.yarn.driver.resource.fast.amount=x1",
                 "Resource request for 'fast' ('x1') does not match pattern ([0-9]+)([A-Za-z]*)."},
                {"spark.driver.cores=0", "spark.driver.cores is 0, but must be at least 1"},
                {"spark.yarn.report.loggingFrequency=0",
                 "'0' in spark.yarn.report.loggingFrequency is invalid. logging frequency should be positive"},
        };
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                assert_int_equal(READ(cases[i].pair), -EINVAL);
                assert_string_equal(error_message(&error), cases[i].message);
        }
        assert_int_equal(READ("spark.driver.memory=much"), -EINVAL);
        assert_non_null(strstr(error_message(&error), "spark.driver.memory"));
        assert_int_equal(READ("spark.yarn.maxAppAttempts=two"), -EINVAL);
        assert_int_equal(READ("spark.yarn.submit.waitAppCompletion=yes"), -EINVAL);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test_teardown(defaults_are_sparks, teardown),
                cmocka_unit_test_teardown(client_mode_has_a_small_application_master, teardown),
                cmocka_unit_test_teardown(overhead_is_a_fraction_or_explicit, teardown),
                cmocka_unit_test_teardown(reads_how_the_application_is_registered, teardown),
                cmocka_unit_test_teardown(refuses_more_memory_than_a_container_may_have, teardown),
                cmocka_unit_test_teardown(counts_off_heap_and_python_memory, teardown),
                cmocka_unit_test_teardown(reads_resource_types_with_units, teardown),
                cmocka_unit_test_teardown(refuses_invalid_values, teardown),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
