/* Valid and invalid configurations of dynamic allocation. */
#include "sched/allocation/executor_allocation_conf.h"

#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "base/error.h"
#include "base/log.h"
#include "conf/conf.h"

#define SECOND INT64_C(1000000000)

static int read_pairs(struct executor_allocation_config *c, struct fst_error *error, const char *const (*pairs)[2])
{
        struct fst_conf conf;
        int r;

        conf_init(&conf);
        for (; (*pairs)[0]; pairs++)
                conf_set(&conf, (*pairs)[0], (*pairs)[1]);
        r = executor_allocation_config_read(&conf, c, error);
        conf_deinit(&conf);
        return r;
}

#define READ(c, error, ...) read_pairs(c, error, (const char *const[][2]){__VA_ARGS__, {NULL, NULL}})
#define DYN "spark.dynamicAllocation."

static void the_defaults_are_spark_s(void **state)
{
        struct executor_allocation_config c;

        assert_int_equal(READ(&c, NULL, {DYN "enabled", "true"}), 0);
        assert_int_equal(c.min, 0);
        assert_int_equal(c.max, INT_MAX);
        assert_int_equal(c.initial, 0);
        assert_int_equal(c.backlog_timeout, SECOND);
        assert_int_equal(c.sustained_timeout, SECOND);
        assert_true(c.ratio == 1);
        assert_int_equal(c.tasks_per_executor, 1);
        assert_false(c.decommission);
        assert_int_equal(c.monitor.idle, 60 * SECOND);
        assert_int_equal(c.monitor.cached, INT_MAX * SECOND);
        assert_int_equal(c.monitor.shuffle, INT64_MAX);
        assert_true(c.monitor.shuffle_tracking);
        assert_false(c.monitor.service_keeps_rdds);
}

static void keys_are_read(void **state)
{
        struct executor_allocation_config c;

        assert_int_equal(READ(&c, NULL, {DYN "minExecutors", "2"}, {DYN "maxExecutors", "9"},
                              {DYN "schedulerBacklogTimeout", "2500ms"}, {DYN "executorIdleTimeout", "5s"},
                              {DYN "cachedExecutorIdleTimeout", "7s"}, {DYN "shuffleTracking.timeout", "1500ms"},
                              {DYN "executorAllocationRatio", "0.5"}, {"spark.executor.cores", "8"},
                              {"spark.task.cpus", "2"}, {"spark.decommission.enabled", "true"},
                              {"spark.shuffle.service.enabled", "true"},
                              {"spark.shuffle.service.fetch.rdd.enabled", "true"}),
                         0);
        assert_int_equal(c.min, 2);
        assert_int_equal(c.max, 9);
        assert_int_equal(c.initial, 2);
        assert_int_equal(c.backlog_timeout, 2 * SECOND);
        assert_int_equal(c.sustained_timeout, 2 * SECOND);
        assert_true(c.ratio == 0.5);
        assert_int_equal(c.tasks_per_executor, 4);
        assert_true(c.decommission);
        assert_int_equal(c.monitor.idle, 5 * SECOND);
        assert_int_equal(c.monitor.cached, 7 * SECOND);
        assert_int_equal(c.monitor.shuffle, 3 * SECOND / 2);
        assert_false(c.monitor.shuffle_tracking); /* the service keeps map outputs */
        assert_true(c.monitor.service_keeps_rdds);

        assert_int_equal(READ(&c, NULL, {DYN "initialExecutors", "4"}, {"spark.executor.instances", "6"}), 0);
        assert_int_equal(c.initial, 6);
        assert_int_equal(READ(&c, NULL, {DYN "initialExecutors", "4"}, {DYN "minExecutors", "5"}), 0);
        assert_int_equal(c.initial, 5);
        assert_int_equal(READ(&c, NULL, {"spark.executor.cores", "8"}, {"spark.executor.resource.gpu.amount", "2"},
                              {"spark.task.resource.gpu.amount", "0.5"}),
                         0);
        assert_int_equal(c.tasks_per_executor, 4);
}

#define assert_refused(message, ...)                                                                                   \
        do {                                                                                                           \
                struct executor_allocation_config c_ = {.min = 77};                                                    \
                struct fst_error error_ = FST_ERROR_INIT;                                                              \
                assert_int_equal(READ(&c_, &error_, __VA_ARGS__), -EINVAL);                                            \
                assert_string_equal(error_message(&error_), message);                                                  \
                assert_int_equal(c_.min, 77);                                                                          \
                error_deinit(&error_);                                                                                 \
        } while (0)

static void rejects_limits_and_timeouts_out_of_range(void **state)
{
        struct executor_allocation_config c;

        assert_refused(DYN "minExecutors and " DYN "maxExecutors must be positive!", {DYN "minExecutors", "-1"});
        assert_refused(DYN "minExecutors and " DYN "maxExecutors must be positive!", {DYN "maxExecutors", "-1"});
        assert_refused(DYN "maxExecutors cannot be 0!", {DYN "maxExecutors", "0"});
        assert_refused(DYN "minExecutors (2) must be less than or equal to " DYN "maxExecutors (1)!",
                       {DYN "minExecutors", "2"}, {DYN "maxExecutors", "1"});
        assert_int_equal(READ(&c, NULL, {DYN "minExecutors", "1"}, {DYN "maxExecutors", "1"}), 0);
        assert_refused(DYN "schedulerBacklogTimeout must be > 0!", {DYN "schedulerBacklogTimeout", "500ms"});
        assert_refused(DYN "sustainedSchedulerBacklogTimeout must be > 0!",
                       {DYN "sustainedSchedulerBacklogTimeout", "0"});
        assert_refused(DYN "executorAllocationRatio must be > 0 and <= 1.0", {DYN "executorAllocationRatio", "1.5"});
        assert_refused(DYN "executorAllocationRatio must be > 0 and <= 1.0", {DYN "executorAllocationRatio", "0"});
        assert_refused("The number of cores per executor (=1) has to be >= the number of cpus per task = 2.",
                       {"spark.task.cpus", "2"});
        assert_refused("spark.executor.resource.gpu.amount is not set, but must be at least "
                       "spark.task.resource.gpu.amount, or no task can run",
                       {"spark.task.resource.gpu.amount", "1"});
        assert_refused("Dynamic allocation of executors requires one of the following conditions: 1) enabling external "
                       "shuffle service through spark.shuffle.service.enabled. 2) enabling shuffle tracking through "
                       "spark.dynamicAllocation.shuffleTracking.enabled. 3) enabling shuffle blocks decommission "
                       "through spark.decommission.enabled and spark.storage.decommission.shuffleBlocks.enabled. 4) "
                       "storing map outputs outside of executors through spark.firesteel.shuffle.store.",
                       {DYN "shuffleTracking.enabled", "false"});
        assert_int_equal(
                READ(&c, NULL, {DYN "shuffleTracking.enabled", "false"}, {"spark.decommission.enabled", "true"}), 0);
        assert_false(c.monitor.shuffle_tracking);
        assert_int_equal(READ(&c, NULL, {DYN "shuffleTracking.enabled", "true"},
                              {"spark.firesteel.shuffle.store", "s3a://bucket/shuffles"}),
                         0);
        assert_false(c.monitor.shuffle_tracking);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(the_defaults_are_spark_s),
                cmocka_unit_test(keys_are_read),
                cmocka_unit_test(rejects_limits_and_timeouts_out_of_range),
        };

        log_threshold = LOG_OFF;
        return cmocka_run_group_tests_name("sched/allocation/executor_allocation_conf", tests, NULL, NULL);
}
