/* Settings of executor pods. */
#include "kubernetes/executors/executor_pods_conf.h"

#include "base/error.h"
#include "base/mem.h"
#include "conf/conf.h"
#include "unit/cases.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

static struct executor_pods_config read_ok(const char *const *pairs, bool driver_pod)
{
        struct fst_conf conf;
        struct fst_error error = FST_ERROR_INIT;
        struct executor_pods_config config;

        conf_init(&conf);
        for (; *pairs; pairs += 2)
                conf_set(&conf, pairs[0], pairs[1]);
        if (executor_pods_config_read(&conf, driver_pod, &config, &error))
                fail_msg("%s", error_message(&error));
        if (config.lifecycle.rules.container)
                assert_string_equal(config.lifecycle.rules.container, "spark");
        config.lifecycle.rules.container = NULL; /* borrowed from the configuration */
        conf_deinit(&conf);
        return config;
}
#define READ(driver_pod, ...) read_ok((const char *const[]){__VA_ARGS__}, driver_pod)

static void defaults_are_sparks(void **state)
{
        struct executor_pods_config c = READ(false, NULL), d = EXECUTOR_PODS_DEFAULT;

        assert_int_equal(c.allocation.batch_size, 20);
        assert_false(c.allocation.batch_size_set);
        assert_int_equal(c.allocation.batch_delay, d.allocation.batch_delay);
        assert_int_equal(c.allocation.creation_timeout, 600 * NS_PER_SECOND);
        assert_int_equal(c.allocation.idle_timeout, 60 * NS_PER_SECOND);
        assert_int_equal(c.allocation.max_pending, INT32_MAX);
        assert_int_equal(c.allocation.recovery, -1);
        assert_true(c.allocation.delete_executors);
        assert_true(c.lifecycle.delete_executors);
        assert_true(c.lifecycle.rules.check_all);
        assert_false(c.allocation.wait_for_driver || c.allocation.reuse_claims || c.allocation.wait_for_claims);
        assert_int_equal(c.allocation.max_claims, 2);
        assert_int_equal(c.lifecycle.max_failures, 3);
        assert_int_equal(c.lifecycle.failure_validity, -1);
        assert_int_equal(c.lifecycle.kill_grace, 5 * NS_PER_SECOND);
        assert_int_equal(c.lifecycle.removed_memory, 180 * NS_PER_SECOND);
        assert_int_equal(c.event_interval, 1 * NS_PER_SECOND);
}

static void reads_all_settings(void **state)
{
        struct executor_pods_config c = READ(
                true, "spark.kubernetes.allocation.batch.size", "7", "spark.kubernetes.allocation.batch.delay", "3s",
                "spark.kubernetes.allocation.maxPendingPods", "11", "spark.kubernetes.allocation.maxPendingPodsPerRp",
                "5", "spark.kubernetes.allocation.maximum", "99", "spark.kubernetes.allocation.executor.timeout", "60s",
                "spark.kubernetes.allocation.driver.readinessTimeout", "9s",
                "spark.kubernetes.executor.deleteOnTermination", "false",
                "spark.kubernetes.executor.missingPodDetectDelta", "12s",
                "spark.kubernetes.executor.checkAllContainers", "false",
                "spark.kubernetes.executor.podTemplateContainerName", "spark",
                "spark.kubernetes.executor.eventProcessingInterval", "2s",
                "spark.kubernetes.allocation.recoveryMode.enabled", "false", "spark.executor.maxNumFailures", "17",
                "spark.executor.failuresValidityInterval", "1h", "spark.executor.instances", "30", NULL);

        assert_true(c.allocation.batch_size_set);
        assert_int_equal(c.allocation.batch_size, 7);
        assert_int_equal(c.allocation.batch_delay, 3 * NS_PER_SECOND);
        assert_int_equal(c.allocation.max_pending, 11);
        assert_int_equal(c.allocation.max_pending_per_profile, 5);
        assert_int_equal(c.allocation.maximum, 99);
        assert_int_equal(c.allocation.creation_timeout, 60 * NS_PER_SECOND);
        assert_int_equal(c.allocation.driver_timeout, 9 * NS_PER_SECOND);
        assert_int_equal(c.allocation.missing_delta, 12 * NS_PER_SECOND);
        assert_int_equal(c.lifecycle.missing_delta, 12 * NS_PER_SECOND);
        assert_false(c.allocation.delete_executors || c.lifecycle.delete_executors || c.lifecycle.rules.check_all);
        assert_true(c.allocation.reuse_claims);
        assert_false(c.allocation.wait_for_claims);
        assert_int_equal(c.allocation.max_claims, 30);
        assert_int_equal(c.allocation.recovery, 0);
        assert_int_equal(c.lifecycle.max_failures, 17);
        assert_int_equal(c.lifecycle.failure_validity, 3600 * NS_PER_SECOND);
        assert_int_equal(c.event_interval, 2 * NS_PER_SECOND);
}

static void limits_follow_the_number_of_executors(void **state)
{
        struct executor_pods_config c = READ(false, "spark.executor.instances", "40", NULL);

        assert_int_equal(c.lifecycle.max_failures, 80);
        c = READ(false, "spark.dynamicAllocation.enabled", "true", NULL);
        assert_int_equal(c.lifecycle.max_failures, INT32_MAX);
        c = READ(true, "spark.dynamicAllocation.enabled", "true", "spark.dynamicAllocation.maxExecutors", "50",
                 "spark.kubernetes.driver.waitToReusePersistentVolumeClaim", "true", NULL);
        assert_int_equal(c.lifecycle.max_failures, 100);
        assert_int_equal(c.allocation.max_claims, 50);
        assert_true(c.allocation.wait_for_claims);
        c = READ(true, "spark.kubernetes.driver.ownPersistentVolumeClaim", "false",
                 "spark.kubernetes.driver.waitToReusePersistentVolumeClaim", "true",
                 "spark.kubernetes.driver.service.publishNotReadyAddresses", "true", NULL);
        assert_false(c.allocation.reuse_claims || c.allocation.wait_for_claims || c.allocation.wait_for_driver);
}

static void waits_for_driver_that_executors_find_by_name(void **state)
{
#define BY_NAME "spark.kubernetes.executor.useDriverPodIP", "false"
#define PUBLISHED "spark.kubernetes.driver.service.publishNotReadyAddresses", "true"
        const struct {
                const char *label;
                struct executor_pods_config config;
                bool waits;
        } rows[] = {
                {"by the driver's address", READ(true, NULL), false},
                {"by name", READ(true, BY_NAME, NULL), true},
                {"by name that is published early", READ(true, BY_NAME, PUBLISHED, NULL), false},
                {"driver in no pod", READ(false, BY_NAME, NULL), false},
        };
        for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
                if (rows[i].config.allocation.wait_for_driver != rows[i].waits)
                        fail_msg("%s", rows[i].label);
}

static void rejects_allocation_settings_out_of_range(void **state)
{
        static const struct {
                const char *key, *value, *words;
        } cases[] = {
                {"spark.kubernetes.allocation.batch.delay", "100ms", "must be greater than 0.1s"},
                {"spark.kubernetes.allocation.batch.size", "0", "positive integer"},
                {"spark.kubernetes.allocation.batch.size", "many", "spark.kubernetes.allocation.batch.size"},
                {"spark.kubernetes.allocation.maximum", "99999999999", "spark.kubernetes.allocation.maximum"},
                {"spark.kubernetes.executor.deleteOnTermination", "perhaps", "deleteOnTermination"},
        };
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                CASE_LABEL("%zu of cases: key \"%s\", value \"%s\", words \"%s\"", i,
                           cases[i].key ? cases[i].key : "(none)", cases[i].value ? cases[i].value : "(none)",
                           cases[i].words ? cases[i].words : "(none)");
                struct executor_pods_config config = {.event_interval = 7};
                struct fst_error error = FST_ERROR_INIT;
                struct fst_conf conf;
                conf_init(&conf);
                conf_set(&conf, cases[i].key, cases[i].value);
                assert_int_equal(executor_pods_config_read(&conf, false, &config, &error), -EINVAL);
                if (!strstr(error_message(&error), cases[i].words))
                        fail_msg("%s", error_message(&error));
                assert_int_equal(config.event_interval, 7);
                error_deinit(&error);
                conf_deinit(&conf);
        }
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(defaults_are_sparks),
                cmocka_unit_test(reads_all_settings),
                cmocka_unit_test(limits_follow_the_number_of_executors),
                cmocka_unit_test(waits_for_driver_that_executors_find_by_name),
                cmocka_unit_test(rejects_allocation_settings_out_of_range),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
