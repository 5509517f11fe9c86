/* Sizes of executors' containers (Spark's ResourceRequestHelperSuite, ClientSuite), and the ApplicationMaster's
 * settings. */
#include "yarn/conf/am_settings.h"
#include "yarn/conf/yarn_conf.h"
#include "yarn/conf/executor_size.h"

#include "base/clock.h"
#include "base/error.h"
#include "conf/conf.h"
#include "unit/cases.h"

#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

/* @settings is key, value, …, NULL. */
static void size_conf(struct fst_conf *conf, const char *const *settings)
{
        conf_init(conf);
        for (; *settings; settings += 2)
                conf_set(conf, settings[0], settings[1]);
}

static void adds_overhead(void **state)
{
        static const struct {
                const char *settings[9];
                int64_t heap, overhead, off_heap, total;
        } all[] = {
                {{NULL}, 1024, 384, 0, 1408},
                {{"spark.executor.memory", "10g", NULL}, 10240, 1024, 0, 11264},
                {{"spark.executor.memory", "2g", "spark.executor.memoryOverheadFactor", "0.5", NULL},
                 2048,
                 1024,
                 0,
                 3072},
                {{"spark.executor.memoryOverhead", "100m", NULL}, 1024, 100, 0, 1124},
                {{"spark.yarn.executor.memoryOverhead", "512", NULL}, 1024, 512, 0, 1536},
                {{"spark.executor.minMemoryOverhead", "500m", NULL}, 1024, 500, 0, 1524},
                {{"spark.memory.offHeap.enabled", "true", "spark.memory.offHeap.size", "1g", NULL},
                 1024,
                 384,
                 1024,
                 2432},
                {{"spark.memory.offHeap.size", "1g", NULL}, 1024, 384, 0, 1408},
                {{"spark.executor.pyspark.memory", "1g", NULL}, 1024, 384, 0, 1408},
                {{"spark.executor.pyspark.memory", "1g", "spark.yarn.isPython", "true", NULL}, 1024, 384, 0, 2432},
        };
        for (size_t i = 0; i < ARRAY_SIZE(all); i++) {
                struct yarn_executor_size size = {0};
                struct fst_conf conf;
                size_conf(&conf, all[i].settings);
                assert_int_equal(yarn_executor_size_read(&conf, &size, NULL), 0);
                assert_int_equal(size.heap_mb, all[i].heap);
                assert_int_equal(size.overhead_mb, all[i].overhead);
                assert_int_equal(size.off_heap_mb, all[i].off_heap);
                assert_int_equal(size.total_mb, all[i].total);
                assert_int_equal(size.cores, 1);
                yarn_executor_size_deinit(&size);
                conf_deinit(&conf);
        }
}

static void compares_with_the_cluster(void **state)
{
        struct yarn_executor_size size = {.heap_mb = 9216, .overhead_mb = 921, .total_mb = 10137};
        struct fst_error error = FST_ERROR_INIT;
        assert_int_equal(yarn_executor_size_check(&size, 10137, &error), 0);
        assert_int_equal(yarn_executor_size_check(&size, 4096, &error), -EINVAL);
        assert_string_equal(
                error_message(&error),
                "Required executor memory (9216 MB), offHeap memory (0) MB, overhead (921 MB), and PySpark "
                "memory (0 MB) is above the max threshold (4096 MB) of this cluster! Please check the values "
                "of 'yarn.scheduler.maximum-allocation-mb' and/or 'yarn.nodemanager.resource.memory-mb'.");
        error_deinit(&error);
}

static void counts_tasks(void **state)
{
        static const char *const settings[] = {"spark.executor.cores", "5", "spark.task.cpus", "2", NULL};
        struct yarn_executor_size size = {0};
        struct fst_conf conf;
        size_conf(&conf, settings);
        assert_int_equal(yarn_executor_size_read(&conf, &size, NULL), 0);
        assert_int_equal(size.cores, 5);
        assert_int_equal(size.tasks, 2);
        yarn_executor_size_deinit(&size);
        conf_deinit(&conf);
}

static void reads_custom_resources(void **state)
{
        static const char *const settings[] = {"spark.yarn.executor.resource.custom-1.amount",
                                               "5g",
                                               "spark.yarn.executor.resource.b.amount",
                                               "3",
                                               "spark.executor.resource.gpu.amount",
                                               "2",
                                               "spark.executor.resource.fpga.amount",
                                               "0",
                                               "spark.yarn.am.resource.c.amount",
                                               "1",
                                               "spark.yarn.resourceGpuDeviceName",
                                               "corp/gpu",
                                               NULL};
        static const struct container_resource expected[] = {{(char *)"custom-1", (char *)"G", 5},
                                                             {(char *)"b", (char *)"", 3},
                                                             {(char *)"corp/gpu", (char *)"", 2}};
        struct container_resources found = {0};
        struct fst_conf conf;
        size_conf(&conf, settings);
        assert_int_equal(container_resources_read(&conf, "executor", "spark.executor.resource.", &found, NULL), 0);
        assert_int_equal(found.list.len, ARRAY_SIZE(expected));
        for (size_t i = 0; i < ARRAY_SIZE(expected); i++) {
                assert_string_equal(found.list.data[i].name, expected[i].name);
                assert_string_equal(found.list.data[i].units, expected[i].units);
                assert_int_equal(found.list.data[i].amount, expected[i].amount);
        }
        container_resources_deinit(&found);
        conf_deinit(&conf);
}

static void refuses_custom_resources(void **state)
{
        static const struct {
                const char *key, *value, *message;
        } all[] = {
                {"spark.yarn.executor.resource.x", "1",
                 "Missing suffix for spark.yarn.executor.resource.x, you must specify a suffix - amount is currently the "
                 "only supported suffix."},
                {"spark.yarn.executor.resource.x.size", "1",
                 "Unsupported suffix: size in: spark.yarn.executor.resource.x.size, only .amount is supported."},
                {"spark.yarn.executor.resource.x.amount", "x1",
                 "Resource request for 'x' ('x1') does not match pattern ([0-9]+)([A-Za-z]*)."},
                {"spark.yarn.executor.resource.x.amount", "1G!",
                 "Resource request for 'x' ('1G!') does not match pattern ([0-9]+)([A-Za-z]*)."},
                {"spark.yarn.executor.resource.x.amount", "",
                 "Resource request for 'x' ('') does not match pattern ([0-9]+)([A-Za-z]*)."},
                {"spark.yarn.executor.resource.x.amount", "99999999999999999999",
                 "Resource request for 'x' ('99999999999999999999') does not match pattern ([0-9]+)([A-Za-z]*)."},
        };
        for (size_t i = 0; i < ARRAY_SIZE(all); i++) {
                struct container_resources found = {0};
                struct fst_error error = FST_ERROR_INIT;
                struct fst_conf conf;
                conf_init(&conf);
                conf_set(&conf, all[i].key, all[i].value);
                assert_int_equal(
                        container_resources_read(&conf, "executor", "spark.executor.resource.", &found, &error),
                        -EINVAL);
                assert_string_equal(error_message(&error), all[i].message);
                error_deinit(&error);
                container_resources_deinit(&found);
                conf_deinit(&conf);
        }
}

static void reads_settings_of_the_application_master(void **state)
{
        static const struct {
                const char *settings[9];
                int executors, failures;
                int64_t heartbeat_ms, initial_ms;
                size_t excluded;
        } all[] = {
                {{NULL}, 2, 3, 3000, 200, 0},
                {{"spark.executor.instances", "5", NULL}, 5, 10, 3000, 200, 0},
                {{"spark.executor.maxNumFailures", "1", NULL}, 2, 1, 3000, 200, 0},
                {{"spark.yarn.max.executor.failures", "4", NULL}, 2, 4, 3000, 200, 0},
                {{"spark.dynamicAllocation.enabled", "true", NULL}, 2, INT_MAX, 3000, 200, 0},
                {{"spark.dynamicAllocation.enabled", "true", "spark.dynamicAllocation.maxExecutors", "7", NULL},
                 2,
                 14,
                 3000,
                 200,
                 0},
                {{"spark.yarn.scheduler.heartbeat.interval-ms", "100", NULL}, 2, 3, 100, 100, 0},
                {{"spark.yarn.scheduler.heartbeat.interval-ms", "1h", NULL}, 2, 3, 3600000, 200, 0},
                {{"spark.yarn.exclude.nodes", " a,, b ,c", NULL}, 2, 3, 3000, 200, 3},
        };
        for (size_t i = 0; i < ARRAY_SIZE(all); i++) {
                struct am_settings s = {0};
                struct fst_conf conf;
                size_conf(&conf, all[i].settings);
                assert_int_equal(am_settings_read(&conf, &s, NULL), 0);
                assert_int_equal(s.initial_executors, all[i].executors);
                assert_int_equal(s.max_executor_failures, all[i].failures);
                assert_int_equal(s.heartbeat_ms, all[i].heartbeat_ms);
                assert_int_equal(s.initial_ms, all[i].initial_ms);
                assert_int_equal(s.excluded.len, all[i].excluded);
                assert_int_equal(s.exclude_timeout, 3600 * NS_PER_SECOND);
                if (s.excluded.len)
                        assert_string_equal(s.excluded.data[1], "b");
                am_settings_deinit(&s);
                conf_deinit(&conf);
        }
}

static const char *no_environment(const char *name)
{
        return NULL;
}

static void two_heartbeats_fit_into_the_expiry(void **state)
{
        static const struct {
                const char *expiry;
                int64_t heartbeat_ms, expected_ms, expected_initial_ms;
        } rows[] = {{NULL, 3600000, 60000, 200}, {"900000", 3600000, 450000, 200}, {"100", 3000, 50, 50}};
        for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
                struct am_settings s = {.heartbeat_ms = rows[i].heartbeat_ms, .initial_ms = 200};
                struct yarn_conf yarn = {0};
                hadoop_conf_init(&yarn.hadoop, no_environment);
                if (rows[i].expiry)
                        hadoop_conf_set(&yarn.hadoop, "yarn.am.liveness-monitor.expiry-interval-ms", rows[i].expiry);
                assert_int_equal(am_settings_limit(&s, &yarn, NULL), 0);
                assert_int_equal(s.heartbeat_ms, rows[i].expected_ms);
                assert_int_equal(s.initial_ms, rows[i].expected_initial_ms);
                yarn_conf_deinit(&yarn);
        }
}

static void a_shuffle_service_prevents_decommissioning(void **state)
{
        static const struct {
                const char *settings[5];
                bool expected;
        } rows[] = {{{NULL}, false},
                    {{"spark.decommission.enabled", "true", NULL}, true},
                    {{"spark.decommission.enabled", "true", "spark.shuffle.service.enabled", "true", NULL}, false}};
        for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
                struct am_settings s = {0};
                struct fst_conf conf;
                size_conf(&conf, rows[i].settings);
                assert_int_equal(am_settings_read(&conf, &s, NULL), 0);
                assert_int_equal(s.decommission, rows[i].expected);
                am_settings_deinit(&s);
                conf_deinit(&conf);
        }
}

static void rejects_negative_waits_and_short_messages(void **state)
{
        static const struct {
                const char *key, *value, *message;
        } rows[] = {
                {"spark.yarn.am.finalMessageLimit", "3",
                 "spark.yarn.am.finalMessageLimit is 3 bytes, but must be at least 4"},
                {"spark.yarn.am.waitTime", "-1s",
                 "spark.yarn.am.waitTime is -1000 ms, but must not be negative (write 100s)"},
        };
        for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
                _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
                struct am_settings s = {0};
                struct fst_conf conf;
                int64_t ms;
                size_conf(&conf, (const char *const[]){rows[i].key, rows[i].value, NULL});
                int r = am_settings_read(&conf, &s, &error);
                r = r < 0 ? r : am_wait_time_read(&conf, &ms, &error);
                assert_int_equal(r, -EINVAL);
                assert_string_equal(error_message(&error), rows[i].message);
                am_settings_deinit(&s);
                conf_deinit(&conf);
        }
}

static void a_long_final_message_is_cut_between_characters(void **state)
{
        static const struct {
                const char *text, *expected;
                int64_t limit;
        } rows[] = {{"", "", 4},
                    {"abcd", "abcd", 4},
                    {"abcde", "a...", 4},
                    {"abcde", "abcde", 0},
                    {"a\xc3\xa4xyz", "a...", 5}, /* not half of the second character */
                    {"a\xc3\xa4xyzw", "a\xc3\xa4...", 6}};
        for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
                _cleanup_free_ char *found = am_final_message(rows[i].text, rows[i].limit);
                assert_string_equal(found, rows[i].expected);
        }
}

static void profile_keeps_overhead_of_the_configuration(void **state)
{
        static const struct {
                const char *settings[9], *profile[9];
                int64_t heap, overhead, off_heap, python, total;
        } all[] = {
                {{"spark.executor.memory", "1g", NULL},
                 {"spark.executor.memory", "10240m", NULL},
                 10240,
                 384,
                 0,
                 0,
                 10624},
                {{"spark.executor.memory", "20g", NULL},
                 {"spark.executor.memory", "512m", NULL},
                 512,
                 2048,
                 0,
                 0,
                 2560},
                {{"spark.executor.memoryOverhead", "500m", NULL},
                 {"spark.executor.memory", "512m", "spark.executor.memoryOverhead", "100m", NULL},
                 512,
                 100,
                 0,
                 0,
                 612},
                {{"spark.yarn.isPython", "true", "spark.executor.pyspark.memory", "200m", NULL},
                 {"spark.executor.memory", "512m", NULL},
                 512,
                 384,
                 0,
                 200,
                 1096},
                {{"spark.yarn.isPython", "true", "spark.executor.pyspark.memory", "200m", NULL},
                 {"spark.executor.pyspark.memory", "300m", "spark.memory.offHeap.size", "64m", NULL},
                 1024,
                 384,
                 0,
                 300,
                 1708},
                {{"spark.memory.offHeap.enabled", "true", "spark.memory.offHeap.size", "10m", NULL},
                 {"spark.memory.offHeap.size", "64m", NULL},
                 1024,
                 384,
                 64,
                 0,
                 1472},
        };
        for (size_t i = 0; i < ARRAY_SIZE(all); i++) {
                struct yarn_executor_size size = {0};
                struct fst_conf conf;
                struct strmap profile = STRMAP_INIT;
                size_conf(&conf, all[i].settings);
                for (const char *const *p = all[i].profile; *p; p += 2)
                        strmap_set(&profile, p[0], p[1]);
                assert_int_equal(yarn_executor_size_read_profile(&conf, &profile, &size, NULL), 0);
                assert_int_equal(size.heap_mb, all[i].heap);
                assert_int_equal(size.overhead_mb, all[i].overhead);
                assert_int_equal(size.off_heap_mb, all[i].off_heap);
                assert_int_equal(size.python_mb, all[i].python);
                assert_int_equal(size.total_mb, all[i].total);
                yarn_executor_size_deinit(&size);
                strmap_deinit(&profile);
                conf_deinit(&conf);
        }
}

static const struct CMUnitTest cases[] = {
        cmocka_unit_test(two_heartbeats_fit_into_the_expiry),
        cmocka_unit_test(rejects_negative_waits_and_short_messages),
        cmocka_unit_test(a_long_final_message_is_cut_between_characters),
        cmocka_unit_test(a_shuffle_service_prevents_decommissioning),
        cmocka_unit_test(adds_overhead),
        cmocka_unit_test(profile_keeps_overhead_of_the_configuration),
        cmocka_unit_test(compares_with_the_cluster),
        cmocka_unit_test(counts_tasks),
        cmocka_unit_test(reads_custom_resources),
        cmocka_unit_test(refuses_custom_resources),
        cmocka_unit_test(reads_settings_of_the_application_master),
};

int main(void)
{
        return cmocka_run_group_tests(cases, NULL, NULL);
}
