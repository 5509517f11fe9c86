/* The settings of both cores: defaults, roundings, and values that are refused. */
#include "mesos/offers/offers_conf.h"

#include "base/error.h"
#include "base/mem.h"
#include "conf/conf.h"
#include "unit/cases.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

static struct fst_conf conf_of(const char *const *pairs, size_t n)
{
        struct fst_conf conf;
        conf_init(&conf);
        for (size_t i = 0; i + 1 < n; i += 2)
                conf_set(&conf, pairs[i], pairs[i + 1]);
        return conf;
}

static void defaults_are_sparks(void **state)
{
        struct fst_conf conf = conf_of(NULL, 0);
        struct coarse_offers_config c;
        struct fine_offers_config f;
        assert_int_equal(coarse_offers_config_read(&c, &conf, NULL), 0);
        assert_int_equal(c.max_cores, INT32_MAX);
        assert_int_equal(c.executor_cores, 0);
        assert_int_equal(c.executor_memory, 1408);
        assert_int_equal(c.max_gpus, 0);
        assert_int_equal(c.port, 0);
        assert_int_equal(c.limit, COARSE_OFFERS_NO_LIMIT);
        assert_int_equal(c.refuse_unmet_ms, 120000);
        assert_int_equal(c.refuse_max_cores_ms, 120000);
        assert_int_equal(c.locality_wait, INT64_C(3000000000));
        assert_false(c.prefers_hosts);
        assert_int_equal(fine_offers_config_read(&f, &conf, NULL), 0);
        assert_int_equal(f.executor_cores_milli, 1000);
        assert_int_equal(f.executor_memory, 1408);
        assert_int_equal(f.task_cores, 1);
        conf_deinit(&conf);
}

static void settings_are_read(void **state)
{
        static const char *const pairs[] = {"spark.cores.max",
                                            "11",
                                            "spark.executor.cores",
                                            "4",
                                            "spark.executor.memory",
                                            "8g",
                                            "spark.mesos.gpus.max",
                                            "2",
                                            "spark.blockManager.port",
                                            "30100",
                                            "spark.mesos.rejectOfferDuration",
                                            "7",
                                            "spark.mesos.rejectOfferDurationForReachedMaxCores",
                                            "1h",
                                            "spark.dynamicAllocation.enabled",
                                            "true",
                                            "spark.mesos.constraints",
                                            "os:debian",
                                            "spark.mesos.mesosExecutor.cores",
                                            "0.25"};
        struct fst_conf conf = conf_of(pairs, ARRAY_SIZE(pairs));
        struct coarse_offers_config c;
        struct fine_offers_config f;
        assert_int_equal(coarse_offers_config_read(&c, &conf, NULL), 0);
        assert_int_equal(c.max_cores, 8);
        assert_int_equal(c.executor_cores, 4);
        assert_int_equal(c.executor_memory, 8192 + 819);
        assert_int_equal(c.max_gpus, 2);
        assert_int_equal(c.port, 30100);
        assert_int_equal(c.limit, 0);
        assert_int_equal(c.refuse_unmet_ms, 7000);
        assert_int_equal(c.refuse_max_cores_ms, 3600000);
        assert_int_equal(c.constraints.len, 1);
        assert_int_equal(fine_offers_config_read(&f, &conf, NULL), 0);
        assert_int_equal(f.executor_cores_milli, 250);
        mesos_constraints_deinit(&c.constraints);
        mesos_constraints_deinit(&f.constraints);
        conf_deinit(&conf);
}

static void overhead_is_a_share_a_minimum_or_a_setting(void **state)
{
        static const struct {
                const char *memory, *overhead, *factor;
                int64_t total;
        } cases[] = {
                {"512m", NULL, NULL, 896},   {"4g", NULL, NULL, 4505}, {"4096", NULL, "0.5", 6144},
                {"512m", "512", NULL, 1024}, {"512m", "0", NULL, 512}, {"1g", NULL, "0", 1408},
                {"3840m", NULL, NULL, 4224},
        };
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                CASE_LABEL("%s %s", cases[i].memory, cases[i].overhead ? cases[i].overhead : "-");
                struct fst_conf conf;
                int64_t heap, total;
                conf_init(&conf);
                conf_set(&conf, "spark.executor.memory", cases[i].memory);
                if (cases[i].overhead)
                        conf_set(&conf, "spark.mesos.executor.memoryOverhead", cases[i].overhead);
                if (cases[i].factor)
                        conf_set(&conf, "spark.executor.memoryOverheadFactor", cases[i].factor);
                assert_int_equal(mesos_executor_memory_read(&conf, &heap, &total, NULL), 0);
                assert_int_equal(total, cases[i].total);
                conf_deinit(&conf);
        }
}

static void invalid_settings_are_named(void **state)
{
        static const struct {
                const char *key, *value;
        } cases[] = {
                {"spark.cores.max", "0"},
                {"spark.executor.cores", "-1"},
                {"spark.executor.cores", "many"},
                {"spark.executor.memory", "0"},
                {"spark.mesos.executor.memoryOverhead", "-5"},
                {"spark.mesos.gpus.max", "-1"},
                {"spark.blockManager.port", "70000"},
                {"spark.mesos.rejectOfferDuration", "-1s"},
                {"spark.mesos.constraints", "os"},
                {"spark.mesos.mesosExecutor.cores", "-0.5"},
        };
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                CASE_LABEL("%s=%s", cases[i].key, cases[i].value);
                struct coarse_offers_config c = {0};
                struct fine_offers_config f = {0};
                struct fst_error error = FST_ERROR_INIT;
                struct fst_conf conf = conf_of((const char *const[]){cases[i].key, cases[i].value}, 2);
                int r = strstr(cases[i].key, "mesosExecutor") ? fine_offers_config_read(&f, &conf, &error)
                                                              : coarse_offers_config_read(&c, &conf, &error);
                assert_int_equal(r, -EINVAL);
                assert_non_null(strstr(error_message(&error), cases[i].key));
                error_deinit(&error);
                conf_deinit(&conf);
        }
}

static void fewer_cores_than_one_executor_needs_are_refused(void **state)
{
        static const char *const pairs[] = {"spark.cores.max",         "3",  "spark.executor.cores", "4",
                                            "spark.mesos.constraints", "os:"};
        struct fst_conf conf = conf_of(pairs, ARRAY_SIZE(pairs));
        struct coarse_offers_config c;
        struct fst_error error = FST_ERROR_INIT;
        assert_int_equal(coarse_offers_config_read(&c, &conf, &error), -EINVAL);
        assert_non_null(strstr(error_message(&error), "spark.cores.max is less than spark.executor.cores (4)"));
        error_deinit(&error);
        conf_deinit(&conf);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(defaults_are_sparks),
                cmocka_unit_test(settings_are_read),
                cmocka_unit_test(overhead_is_a_share_a_minimum_or_a_setting),
                cmocka_unit_test(invalid_settings_are_named),
                cmocka_unit_test(fewer_cores_than_one_executor_needs_are_refused),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
