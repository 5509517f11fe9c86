/* The lines of sinks: golden texts. */
#include "metrics/metrics_lines.h"

#include "unit/cases.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static void each_form_has_its_lines(void **state)
{
        struct metrics_snapshot m = METRICS_SNAPSHOT_INIT;
        struct buf b = BUF_INIT;
        metrics_gauge(&m, "my  gauge", 7);
        metrics_text(&m, "status", "RUNNING");
        metrics_counter(&m, "c", 12);
        metrics_add(&m, "h",
                    &(struct metric_sample){.kind = METRIC_HISTOGRAM,
                                            .value = 3,
                                            .distribution = {10, 30, 20, 10, {20, 30, 30, 30, 30, 30}}});
        metrics_put_statsd(&m, "spark", &b);
        assert_string_equal(buf_text(&b), "spark.my-gauge:7|g\nspark.c:12|c\nspark.h.count:3|g\nspark.h.max:30|ms\n"
                                          "spark.h.mean:20.00|ms\nspark.h.min:10|ms\nspark.h.stddev:10.00|ms\n"
                                          "spark.h.p50:20.00|ms\nspark.h.p75:30.00|ms\nspark.h.p95:30.00|ms\n"
                                          "spark.h.p98:30.00|ms\nspark.h.p99:30.00|ms\nspark.h.p999:30.00|ms\n");
        buf_reset(&b);
        metrics_put_graphite(&m, "", 99, &b);
        assert_non_null(
                strstr(buf_text(&b), "my-gauge 7 99\nc.count 12 99\nh.count 3 99\nh.max 30 99\nh.mean 20.00 99\n"));
        buf_reset(&b);
        metrics_put_exposition(&m, "a=\"b\"", -1, &b);
        assert_non_null(strstr(buf_text(&b), "# HELP c A gauge of Firesteel.\n# TYPE c gauge\nc{a=\"b\"} 12.0\n"
                                             "# HELP h A summary of Firesteel.\n# TYPE h summary\n"
                                             "h{a=\"b\",quantile=\"0.5\"} 20.0\n"));
        assert_non_null(strstr(buf_text(&b), "h_count{a=\"b\"} 3.0\n"));
        buf_reset(&b);
        metrics_put_log(&m, &b);
        assert_non_null(
                strstr(buf_text(&b), "type=GAUGE, name=status, value=RUNNING\ntype=COUNTER, name=c, count=12\n"));
        buf_deinit(&b);
        metrics_snapshot_deinit(&m);
}

static void lines_fill(struct metrics_snapshot *m)
{
        const struct metric_distribution d = {10, 30, 20, 10, {20, 30, 30, 30, 30, 30}};
        const struct metric_distribution t = {
                65223, 1589350612, 402265329, 690216387, {910059, 2e6, 2e6, 2e6, 2e6, 2e6}};
        metrics_gauge(m, "g", 7);
        metrics_text(m, "status", "RUNNING");
        metrics_counter(m, "c", 12);
        metrics_add(m, "h", &(struct metric_sample){.kind = METRIC_HISTOGRAM, .value = 3, .distribution = d});
        metrics_add(m, "m", &(struct metric_sample){.kind = METRIC_METER, .value = 5, .rates = {0.25, 1, 2, 3}});
        metrics_add(m, "t",
                    &(struct metric_sample){
                            .kind = METRIC_TIMER, .value = 4, .distribution = t, .rates = {0.62069, 0.2, 0.2, 0.2}});
}

static void console_report_equals_dropwizards(void **state)
{
        struct metrics_snapshot m = METRICS_SNAPSHOT_INIT;
        struct buf b = BUF_INIT;
        lines_fill(&m);
        metrics_put_console(&m, "11/24/26, 6:42:04 PM", &b);
        assert_string_equal(buf_text(&b),
                            "11/24/26, 6:42:04 PM ===========================================================\n\n"
                            "-- Gauges ----------------------------------------------------------------------\n"
                            "g\n             value = 7\nstatus\n             value = RUNNING\n\n"
                            "-- Counters --------------------------------------------------------------------\n"
                            "c\n             count = 12\n\n"
                            "-- Histograms ------------------------------------------------------------------\n"
                            "h\n             count = 3\n               min = 10\n               max = 30\n"
                            "              mean = 20.00\n            stddev = 10.00\n            median = 20.00\n"
                            "              75% <= 30.00\n              95% <= 30.00\n              98% <= 30.00\n"
                            "              99% <= 30.00\n            99.9% <= 30.00\n\n"
                            "-- Meters ----------------------------------------------------------------------\n"
                            "m\n             count = 5\n         mean rate = 0.25 events/second\n"
                            "     1-minute rate = 1.00 events/second\n     5-minute rate = 2.00 events/second\n"
                            "    15-minute rate = 3.00 events/second\n\n"
                            "-- Timers ----------------------------------------------------------------------\n"
                            "t\n             count = 4\n         mean rate = 0.62 calls/second\n"
                            "     1-minute rate = 0.20 calls/second\n     5-minute rate = 0.20 calls/second\n"
                            "    15-minute rate = 0.20 calls/second\n"
                            "               min = 0.07 milliseconds\n               max = 1589.35 milliseconds\n"
                            "              mean = 402.27 milliseconds\n            stddev = 690.22 milliseconds\n"
                            "            median = 0.91 milliseconds\n              75% <= 2.00 milliseconds\n"
                            "              95% <= 2.00 milliseconds\n              98% <= 2.00 milliseconds\n"
                            "              99% <= 2.00 milliseconds\n            99.9% <= 2.00 milliseconds\n\n\n");
        buf_reset(&b);
        metrics_snapshot_deinit(&m);
        m = METRICS_SNAPSHOT_INIT;
        metrics_put_console(&m, "now", &b);
        assert_string_equal(strchr(buf_text(&b), '\n'), "\n\n\n");
        buf_deinit(&b);
}

static void csv_lines_equal_dropwizards(void **state)
{
        static const struct {
                const char *header, *line;
        } cases[] = {
                {"t,value\n", "99,7\n"},
                {"t,value\n", "99,RUNNING\n"},
                {"t,count\n", "99,12\n"},
                {"t,count,max,mean,min,stddev,p50,p75,p95,p98,p99,p999\n",
                 "99,3,30,20.000000,10,10.000000,20.000000,30.000000,30.000000,30.000000,30.000000,30.000000\n"},
                {"t,count,mean_rate,m1_rate,m5_rate,m15_rate,rate_unit\n",
                 "99,5,0.250000,1.000000,2.000000,3.000000,events/second\n"},
                {"t,count,max,mean,min,stddev,p50,p75,p95,p98,p99,p999,mean_rate,m1_rate,m5_rate,m15_rate,rate_unit,"
                 "duration_unit\n",
                 "99,4,1589.350612,402.265329,0.065223,690.216387,0.910059,2.000000,2.000000,2.000000,2.000000,"
                 "2.000000,0.620690,0.200000,0.200000,0.200000,calls/second,milliseconds\n"},
        };
        struct metrics_snapshot m = METRICS_SNAPSHOT_INIT;
        lines_fill(&m);
        assert_int_equal(m.samples.len, ARRAY_SIZE(cases));
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                struct buf b = BUF_INIT;
                CASE_LABEL("%s", m.samples.data[i].name);
                metrics_put_csv_header(m.samples.data[i].kind, &b);
                assert_string_equal(buf_text(&b), cases[i].header);
                buf_reset(&b);
                metrics_put_csv(&m.samples.data[i], 99, &b);
                assert_string_equal(buf_text(&b), cases[i].line);
                buf_deinit(&b);
        }
        metrics_snapshot_deinit(&m);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(each_form_has_its_lines),
                cmocka_unit_test(console_report_equals_dropwizards),
                cmocka_unit_test(csv_lines_equal_dropwizards),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
