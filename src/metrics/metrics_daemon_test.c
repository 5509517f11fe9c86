/* The sinks of a daemon: what its loop published is reported, also when it stops. */
#include "metrics/metrics_daemon.h"

#include "base/error.h"
#include "conf/conf.h"
#include "unit/temp_dir.h"

#include <setjmp.h>
#include <stdarg.h>
#include <unistd.h>

#include <cmocka.h>

static int measured;

static void measure(void *owner, struct metrics_snapshot *out)
{
        metrics_gauge(out, "master.workers", ++measured);
        metrics_text(out, "application.a.status", "RUNNING");
}

static int daemon_start(uv_loop_t *loop, const struct fst_conf *conf, struct metrics_daemon **out,
                        struct fst_error *error)
{
        return metrics_daemon_start(
                &(struct metrics_daemon_options){.loop = loop, .instance = "master", .conf = conf, .measure = measure},
                out, error);
}

static void daemon_reports_the_last_values_at_its_stop(void **state)
{
        uv_loop_t loop;
        struct fst_conf conf;
        struct metrics_daemon *d = NULL;
        _cleanup_free_ char *gauge = temp_dir_path("master.workers.csv");
        _cleanup_free_ char *text = temp_dir_path("application.a.status.csv");
        char line[64] = "";
        conf_init(&conf);
        uv_loop_init(&loop);
        conf_set(&conf, "spark.metrics.conf.master.sink.csv.class", "org.apache.spark.metrics.sink.CsvSink");
        conf_set(&conf, "spark.metrics.conf.master.sink.csv.directory", temp_dir);
        assert_int_equal(daemon_start(&loop, &conf, &d, NULL), 0);
        assert_non_null(d);
        uv_run(&loop, UV_RUN_DEFAULT); /* the timer does not keep the loop alive */
        measured = 41;
        metrics_daemon_stop(d);
        uv_run(&loop, UV_RUN_DEFAULT);
        assert_int_equal(uv_loop_close(&loop), 0);
        FILE *f = fopen(gauge, "r");
        assert_non_null(f);
        while (fgets(line, sizeof(line), f))
                continue;
        fclose(f);
        assert_string_equal(strchr(line, ','), ",42\n");
        assert_int_equal(access(text, F_OK), 0);
        conf_deinit(&conf);
}

static void daemon_without_sinks_measures_nothing(void **state)
{
        uv_loop_t loop;
        struct fst_conf conf;
        struct metrics_daemon *d = NULL;
        struct fst_error error = FST_ERROR_INIT;
        conf_init(&conf);
        uv_loop_init(&loop);
        assert_int_equal(daemon_start(&loop, &conf, &d, NULL), 0);
        assert_null(d);
        metrics_daemon_stop(d);
        conf_set(&conf, "spark.metrics.conf.*.sink.x.class", "my.Sink");
        assert_int_equal(daemon_start(&loop, &conf, &d, &error), -EINVAL);
        assert_non_null(strstr(error_message(&error),
                               "Sink class my.Sink cannot be instantiated: *.sink.x.class must name one of"));
        error_deinit(&error);
        assert_int_equal(uv_loop_close(&loop), 0);
        conf_deinit(&conf);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(daemon_reports_the_last_values_at_its_stop),
                cmocka_unit_test(daemon_without_sinks_measures_nothing),
        };
        return cmocka_run_group_tests(tests, temp_dir_make, temp_dir_remove);
}
