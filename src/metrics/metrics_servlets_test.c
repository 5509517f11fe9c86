/* The paths of the metrics of a site. */
#include "metrics/metrics_servlets.h"

#include "conf/conf.h"
#include "unit/temp_dir.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static void expect(const char *lines, const char *instance, const char *json, const char *prometheus)
{
        struct metrics_servlets s;
        struct fst_conf conf;
        _cleanup_free_ char *path = temp_dir_write("metrics.properties", lines);
        conf_init(&conf);
        metrics_servlets_read(&s, instance, &conf, temp_dir);
        assert_string_equal(s.json, json);
        assert_string_equal(s.prometheus, prometheus);
        metrics_servlets_deinit(&s);
        conf_deinit(&conf);
}

static void paths_come_from_the_file(void **state)
{
        expect("", "driver", "/metrics/json", "/metrics/prometheus");
        expect("", "master", "/metrics/master/json", "/metrics/master/prometheus");
        expect("", "applications", "/metrics/applications/json", "/metrics/applications/prometheus");
        expect("*.sink.servlet.path=/m/j/\ndriver.sink.prometheusServlet.path=/m\n", "driver", "/m/j", "/m");
        expect("*.sink.servlet.path=/m/j\n", "worker", "/m/j", "/metrics/prometheus");
        expect("*.sink.servlet.path=/all\n", "master", "/metrics/master/json", "/metrics/master/prometheus");
        expect("*.sink.servlet.path=j\n*.sink.prometheusServlet.path=/\n", "driver", "/metrics/json",
               "/metrics/prometheus");
}

static void requests_find_their_servlet(void **state)
{
        const struct metrics_servlets s = {.json = "/a/json", .prometheus = "/a"};
        assert_int_equal(metrics_servlets_find(&s, "/a/json"), METRICS_SERVLET_JSON);
        assert_int_equal(metrics_servlets_find(&s, "/a/json/"), METRICS_SERVLET_JSON);
        assert_int_equal(metrics_servlets_find(&s, "/a"), METRICS_SERVLET_PROMETHEUS);
        assert_int_equal(metrics_servlets_find(&s, "/a/jsonx"), METRICS_SERVLET_NONE);
        assert_int_equal(metrics_servlets_find(&s, "/"), METRICS_SERVLET_NONE);
        assert_int_equal(metrics_servlets_find(&(struct metrics_servlets){0}, "/"), METRICS_SERVLET_NONE);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(paths_come_from_the_file),
                cmocka_unit_test(requests_find_their_servlet),
        };
        return cmocka_run_group_tests(tests, temp_dir_make, temp_dir_remove);
}
