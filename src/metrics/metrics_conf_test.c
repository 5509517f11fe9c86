/* metrics.properties: inheritance, overrides, defaults, misuse. */
#include "metrics/metrics_conf.h"

#include "base/error.h"
#include "conf/conf.h"
#include "unit/temp_dir.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static const char *sink_option(const struct metrics_conf *m, const char *sink, const char *option)
{
        for (size_t i = 0; i < m->sinks.len; i++)
                if (strcmp(m->sinks.data[i].name, sink) == 0)
                        return strmap_get(&m->sinks.data[i].options, option);
        return NULL;
}

static void instance_inherits_and_overrides(void **state)
{
        struct fst_conf conf;
        struct metrics_conf m;
        conf_init(&conf);
        _cleanup_free_ char *path = temp_dir_write("metrics.properties", "driver.sink.graphite.period=20\n"
                                                                         "*.sink.graphite.class=G\n"
                                                                         "*.sink.graphite.period=5\n"
                                                                         "*.sink.graphite.port=2003\n"
                                                                         "executor.sink.csv.class=C\n"
                                                                         "drivers.sink.x.class=X\n"
                                                                         "driver.source.jvm.class=J\n"
                                                                         "driver.sink.a.b.class=D\n"
                                                                         "driver.sink.broken=1\n"
                                                                         "driver.sink..class=2\n"
                                                                         "driver.nothing=3\n"
                                                                         "driver=4\n");
        conf_set(&conf, "spark.metrics.conf.*.sink.graphite.port", "2004");
        metrics_conf_read(&m, "driver", &conf, temp_dir);
        assert_string_equal(sink_option(&m, "graphite", "class"), "G");
        assert_string_equal(sink_option(&m, "graphite", "period"), "20");
        assert_string_equal(sink_option(&m, "graphite", "port"), "2004");
        assert_string_equal(sink_option(&m, "servlet", "path"), "/metrics/json");
        assert_string_equal(sink_option(&m, "a.b", "class"), "D");
        assert_null(sink_option(&m, "csv", "class"));
        assert_int_equal(m.sinks.len, 3);
        assert_int_equal(m.sources.len, 1);
        metrics_conf_deinit(&m);
        metrics_conf_read(&m, "master", &conf, temp_dir);
        assert_string_equal(sink_option(&m, "servlet", "path"), "/metrics/master/json");
        assert_string_equal(sink_option(&m, "graphite", "period"), "5");
        metrics_conf_deinit(&m);
        conf_deinit(&conf);
}

static void unreadable_file_leaves_defaults(void **state)
{
        struct fst_conf conf;
        struct metrics_conf m;
        conf_init(&conf);
        conf_set(&conf, "spark.metrics.conf", "/nonexistent/metrics.properties");
        metrics_conf_read(&m, "driver", &conf, NULL);
        assert_int_equal(m.sinks.len, 1);
        assert_string_equal(sink_option(&m, "servlet", "class"), "org.apache.spark.metrics.sink.MetricsServlet");
        metrics_conf_deinit(&m);
        conf_deinit(&conf);
}

static void period_has_a_minimum(void **state)
{
        static const struct {
                const char *period, *unit;
                int64_t ms;
                const char *error;
        } cases[] = {
                {NULL, NULL, 10000, NULL},
                {"2", "minutes", 120000, NULL},
                {"1", "SECONDS", 1000, NULL},
                {"1000", "milliseconds", 1000, NULL},
                {"0", NULL, 0, "*.sink.x.period: Polling period 0 SECONDS below than minimal polling period of 1 second"},
                {"-3", "days", 0, "*.sink.x.period: Polling period -3 DAYS below than minimal polling period of 1 second"},
                {"999", "Milliseconds", 0, "*.sink.x.period: Polling period 999 MILLISECONDS below than minimal polling period of 1 second"},
                {"ten", NULL, 0, "*.sink.x.period: For input string: \"ten\""},
                {"", NULL, 0, "*.sink.x.period: For input string: \"\""},
                {"99999999999", NULL, 0, "*.sink.x.period: For input string: \"99999999999\""},
                {"1", "fortnights", 0,
                 "*.sink.x.unit is \"fortnights\": use nanoseconds, microseconds, milliseconds, seconds, minutes, hours or "
                 "days"},
        };
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                struct metrics_part sink = {.options = STRMAP_INIT, .keys = STRMAP_INIT};
                struct fst_error error = FST_ERROR_INIT;
                int64_t ms = 0;
                if (cases[i].period)
                        strmap_set(&sink.options, "period", cases[i].period);
                if (cases[i].unit)
                        strmap_set(&sink.options, "unit", cases[i].unit);
                strmap_set(&sink.keys, "unit", "*.sink.x.unit");
                strmap_set(&sink.keys, "period", "*.sink.x.period");
                assert_int_equal(metrics_conf_period(&sink, &ms, &error), cases[i].error ? -EINVAL : 0);
                assert_int_equal(ms, cases[i].ms);
                if (cases[i].error)
                        assert_string_equal(error_message(&error), cases[i].error);
                error_deinit(&error);
                strmap_deinit(&sink.options);
                strmap_deinit(&sink.keys);
        }
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(instance_inherits_and_overrides),
                cmocka_unit_test(unreadable_file_leaves_defaults),
                cmocka_unit_test(period_has_a_minimum),
        };
        return cmocka_run_group_tests(tests, temp_dir_make, temp_dir_remove);
}
