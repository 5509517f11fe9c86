/* Texts of metrics: golden JSON and Prometheus text of each kind. */
#include "metrics/metrics_snapshot.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static const struct metric_sample samples[] = {
        {.kind = METRIC_HISTOGRAM,
         .value = 3,
         .distribution = {.min = 10, .max = 30, .mean = 20, .stddev = 10, .percentile = {20, 30, 30, 30, 30, 30}}},
        {.kind = METRIC_METER, .value = 7, .rates = {.mean = 0.5, .m1 = 1, .m5 = 2, .m15 = 3}},
        {.kind = METRIC_TIMER,
         .value = 1,
         .distribution = {.min = 2000000,
                          .max = 2000000,
                          .mean = 2000000,
                          .percentile = {2000000, 2000000, 2000000, 2000000, 2000000, 2000000}},
         .rates = {.mean = 0.25}},
};

static void writes_gauges_in_both_forms(void **state)
{
        struct metrics_snapshot m = METRICS_SNAPSHOT_INIT;
        struct buf b = BUF_INIT;
        metrics_gauge(&m, "master.workers", 3);
        metrics_gauge(&m, "master.aliveWorkers", 2);
        metrics_text(&m, "application.a \"b\".1.status", "RUNNING");
        metrics_put_json(&m, &b);
        assert_string_equal(buf_text(&b),
                            "{\"version\":\"4.0.0\",\"gauges\":{\"application.a \\\"b\\\".1.status\":{\"value\":"
                            "\"RUNNING\"},\"master.aliveWorkers\":{\"value\":2},\"master.workers\":{\"value\":3}},"
                            "\"counters\":{},\"histograms\":{},\"meters\":{},\"timers\":{}}");
        buf_reset(&b);
        metrics_put_prometheus(&m, &b);
        assert_string_equal(buf_text(&b), "metrics_master_aliveWorkers_Number{type=\"gauges\"} 2\n"
                                          "metrics_master_aliveWorkers_Value{type=\"gauges\"} 2\n"
                                          "metrics_master_workers_Number{type=\"gauges\"} 3\n"
                                          "metrics_master_workers_Value{type=\"gauges\"} 3\n");
        buf_deinit(&b);
        metrics_snapshot_deinit(&m);
}

static void snapshot_fill(struct metrics_snapshot *m)
{
        m->prefix = "app-1.driver";
        metrics_counter(m, "c", 5);
        metrics_add(m, "h", &samples[0]);
        metrics_add(m, "m", &samples[1]);
        metrics_add(m, "t", &samples[2]);
}

static void writes_other_kinds_as_json(void **state)
{
        struct metrics_snapshot m = METRICS_SNAPSHOT_INIT;
        struct buf b = BUF_INIT;
        snapshot_fill(&m);
        metrics_put_json(&m, &b);
        assert_string_equal(
                buf_text(&b),
                "{\"version\":\"4.0.0\",\"gauges\":{},\"counters\":{\"app-1.driver.c\":{\"count\":5}},"
                "\"histograms\":{\"app-1.driver.h\":{\"count\":3,\"max\":30,\"mean\":20.0,\"min\":10,\"p50\":20.0,"
                "\"p75\":30.0,\"p95\":30.0,\"p98\":30.0,\"p99\":30.0,\"p999\":30.0,\"stddev\":10.0}},"
                "\"meters\":{\"app-1.driver.m\":{\"count\":7,\"m15_rate\":3.0,\"m1_rate\":1.0,\"m5_rate\":2.0,"
                "\"mean_rate\":0.5,\"units\":\"events/second\"}},"
                "\"timers\":{\"app-1.driver.t\":{\"count\":1,\"max\":2.0,\"mean\":2.0,\"min\":2.0,\"p50\":2.0,"
                "\"p75\":2.0,\"p95\":2.0,\"p98\":2.0,\"p99\":2.0,\"p999\":2.0,\"stddev\":0.0,\"m15_rate\":0.0,"
                "\"m1_rate\":0.0,\"m5_rate\":0.0,\"mean_rate\":0.25,\"duration_units\":\"milliseconds\","
                "\"rate_units\":\"calls/second\"}}}");
        buf_deinit(&b);
        metrics_snapshot_deinit(&m);
}

static void writes_other_kinds_for_prometheus(void **state)
{
        struct metrics_snapshot m = METRICS_SNAPSHOT_INIT;
        struct buf b = BUF_INIT;
        snapshot_fill(&m);
        metrics_put_prometheus(&m, &b);
        assert_non_null(strstr(buf_text(&b), "metrics_app_1_driver_c_Count{type=\"counters\"} 5\n"
                                             "metrics_app_1_driver_h_Count{type=\"histograms\"} 3\n"
                                             "metrics_app_1_driver_h_Max{type=\"histograms\"} 30\n"
                                             "metrics_app_1_driver_h_Mean{type=\"histograms\"} 20.0\n"
                                             "metrics_app_1_driver_h_Min{type=\"histograms\"} 10\n"
                                             "metrics_app_1_driver_h_50thPercentile{type=\"histograms\"} 20.0\n"));
        assert_non_null(strstr(buf_text(&b), "metrics_app_1_driver_m_OneMinuteRate{type=\"counters\"} 1.0\n"));
        /* Not the maximum, which Spark 3.0 printed as the mean; nanoseconds. */
        assert_non_null(strstr(buf_text(&b), "metrics_app_1_driver_t_Mean{type=\"timers\"} 2000000.0\n"));
        assert_non_null(strstr(buf_text(&b), "metrics_app_1_driver_t_MeanRate{type=\"timers\"} 0.25\n"));
        buf_deinit(&b);
        metrics_snapshot_deinit(&m);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(writes_gauges_in_both_forms),
                cmocka_unit_test(writes_other_kinds_as_json),
                cmocka_unit_test(writes_other_kinds_for_prometheus),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
