/* The lines of sinks: golden texts. */
#include "metrics/metrics_lines.h"

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

int main(void)
{
        const struct CMUnitTest tests[] = {cmocka_unit_test(each_form_has_its_lines)};
        return cmocka_run_group_tests(tests, NULL, NULL);
}
