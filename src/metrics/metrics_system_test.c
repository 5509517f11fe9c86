/* Sinks against sockets of this test: what arrives at the end, invalid options, a peer that never reads. */
#include "metrics/metrics_system.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "conf/conf.h"
#include "metrics/metrics_registry.h"
#include "net/http/http_fixture.h"
#include "unit/cases.h"
#include "unit/temp_dir.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static struct fst_conf conf;
static struct metrics_registry *registry;
static char pushed[8192];

static void option_set(const char *name, const char *value)
{
        _cleanup_free_ char *key = mem_printf("spark.metrics.conf.driver.sink.x.%s", name);
        conf_set(&conf, key, value);
}

static int sinks_start(struct metrics_system **out, struct fst_error *error)
{
        return metrics_system_start(&(struct metrics_system_options){.instance = "driver",
                                                                     .conf = &conf,
                                                                     .registry = registry,
                                                                     .app_id = "app/1",
                                                                     .executor_id = "driver"},
                                    out, error);
}

/* Binds to a free port of loopback. */
static int peer_open(int type, char *port, size_t size)
{
        struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
        socklen_t length = sizeof(a);
        int fd = socket(AF_INET, type, 0);
        assert_int_equal(bind(fd, (struct sockaddr *)&a, length), 0);
        getsockname(fd, (struct sockaddr *)&a, &length);
        snprintf(port, size, "%d", ntohs(a.sin_port));
        if (type == SOCK_STREAM)
                assert_int_equal(listen(fd, 5), 0);
        return fd;
}

static void counters_put(void *owner, struct metrics_snapshot *out)
{
        metrics_counter(out, "c", 12);
        metrics_counter(out, "other", 1);
}

static int sinks_setup(void **state)
{
        conf_init(&conf);
        registry = metrics_registry_new("app/1.driver");
        metrics_registry_add_source(registry, counters_put, NULL);
        return 0;
}

static int sinks_teardown(void **state)
{
        metrics_registry_free(registry);
        conf_deinit(&conf);
        return 0;
}

/* The sink reports when it is stopped. */
static void sinks_report_once(void)
{
        struct metrics_system *system = NULL;
        assert_int_equal(sinks_start(&system, NULL), 0);
        assert_non_null(system);
        metrics_system_stop(system);
}

static void statsd_sends_a_datagram_for_each_line(void **state)
{
        char port[8], text[256] = "";
        int fd = peer_open(SOCK_DGRAM, port, sizeof(port));
        option_set("class", "org.apache.spark.metrics.sink.StatsdSink");
        option_set("port", port);
        option_set("prefix", "p");
        sinks_report_once();
        assert_int_equal(recv(fd, text, sizeof(text), 0), strlen("p.app/1.driver.c:12|c"));
        assert_string_equal(text, "p.app/1.driver.c:12|c");
        close(fd);
}

static void graphite_sends_what_matches(void **state)
{
        char port[8], text[256] = "";
        int fd = peer_open(SOCK_STREAM, port, sizeof(port));
        option_set("class", "org.apache.spark.metrics.sink.GraphiteSink");
        option_set("host", "127.0.0.1");
        option_set("port", port);
        option_set("regex", "driver\\.c$");
        sinks_report_once();
        int peer = accept(fd, NULL, NULL);
        assert_true(recv(peer, text, sizeof(text) - 1, 0) > 0);
        assert_int_equal(strncmp(text, "app/1.driver.c.count 12 ", 24), 0);
        assert_null(strstr(text, "other"));
        close(peer);
        close(fd);
}

static void gateway_serve(struct fixture_exchange *x)
{
        size_t used = strlen(pushed);
        snprintf(pushed + used, sizeof(pushed) - used, "%s %s\n%s", x->method, x->target, x->body_len ? x->body : "");
        fixture_answer(x, 202, "", "");
}

static void pushgateway_gets_and_deletes_the_group(void **state)
{
        struct http_fixture server;
        http_fixture_start(&server, gateway_serve);
        option_set("class", "com.banzaicloud.spark.metrics.sink.PrometheusSink");
        option_set("pushgateway-address", server.url + strlen("http://"));
        option_set("labels", "team=a\"b");
        option_set("pushgateway-delete-at-end", "true");
        sinks_report_once();
        http_fixture_stop(&server);
        assert_non_null(strstr(pushed, "PUT /metrics/job/app%2F1/role/driver\n"));
        assert_non_null(strstr(pushed, "app_1_driver_c{team=\"a\\\"b\"} 12.0\n"));
        assert_non_null(strstr(pushed, "DELETE /metrics/job/app%2F1/role/driver\n"));
}

static void peer_that_accepts_nothing_costs_a_second(void **state)
{
        char port[8];
        int fd = peer_open(SOCK_STREAM, port, sizeof(port));
        _cleanup_free_ char *address = mem_printf("127.0.0.1:%s", port);
        option_set("class", "firesteel.PushGatewaySink");
        option_set("pushgateway-address", address);
        int64_t start = now_ms();
        sinks_report_once();
        assert_true(now_ms() - start < 30000);
        close(fd);
}

static char *test_directory(const char *name)
{
        char *path = temp_dir_path(name);
        assert_int_equal(mkdir(path, 0700), 0);
        return path;
}

static char *file_text(const char *path)
{
        char *text = new_array(char, 4096);
        FILE *f = fopen(path, "r");
        assert_non_null(f);
        text[fread(text, 1, 4095, f)] = '\0';
        fclose(f);
        return text;
}

static void csv_file_gets_one_header(void **state)
{
        _cleanup_free_ char *directory = test_directory(__func__);
        option_set("class", "org.apache.spark.metrics.sink.CsvSink");
        option_set("directory", directory);
        sinks_report_once();
        sinks_report_once();
        _cleanup_free_ char *path = mem_printf("%s/app.1.driver.c.csv", directory);
        _cleanup_free_ char *text = file_text(path);
        assert_int_equal(strncmp(text, "t,count\n", 8), 0);
        const char *second = strchr(text + 8, '\n');
        assert_non_null(second);
        int lines = 0;
        for (const char *p = text; *p; p++)
                lines += *p == '\n';
        assert_int_equal(lines, 3);
        assert_int_equal(strncmp(second - 3, ",12\n", 4), 0);
}

static void csv_sink_follows_no_link(void **state)
{
        _cleanup_free_ char *directory = test_directory(__func__);
        _cleanup_free_ char *path = mem_printf("%s/app.1.driver.c.csv", directory);
        _cleanup_free_ char *target = mem_printf("%s/target", directory);
        _cleanup_free_ char *other = mem_printf("%s/app.1.driver.other.csv", directory);
        assert_int_equal(symlink(target, path), 0);
        option_set("class", "org.apache.spark.metrics.sink.CsvSink");
        option_set("directory", directory);
        sinks_report_once();
        assert_int_not_equal(access(target, F_OK), 0);
        assert_int_equal(access(other, F_OK), 0); /* other metrics are written */
}

static void csv_directory_that_is_absent_stops_nothing(void **state)
{
        option_set("class", "org.apache.spark.metrics.sink.CsvSink");
        option_set("directory", "/nonexistent/metrics");
        sinks_report_once();
}

static void console_sink_writes_to_standard_output(void **state)
{
        _cleanup_free_ char *directory = test_directory(__func__);
        _cleanup_free_ char *path = mem_printf("%s/out", directory);
        int kept = dup(STDOUT_FILENO), fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
        assert_true(kept >= 0 && fd >= 0);
        fflush(stdout);
        dup2(fd, STDOUT_FILENO);
        option_set("class", "org.apache.spark.metrics.sink.ConsoleSink");
        sinks_report_once();
        dup2(kept, STDOUT_FILENO);
        close(kept);
        close(fd);
        _cleanup_free_ char *text = file_text(path);
        assert_non_null(strstr(text, "\napp/1.driver.c\n             count = 12\n"));
}

static void sinks_without_effect_stop_nothing(void **state)
{
        static const char *const cases[] = {"JmxSink", "MetricsServlet", "PrometheusServlet"};
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                struct metrics_system *system = NULL;
                _cleanup_free_ char *class = mem_printf("org.apache.spark.metrics.sink.%s", cases[i]);
                option_set("class", class);
                CASE_LABEL("%s", cases[i]);
                assert_int_equal(sinks_start(&system, NULL), 0);
                assert_null(system);
        }
}

static void invalid_sinks_are_refused(void **state)
{
        static const struct {
                const char *class, *name, *value, *error;
        } cases[] = {
                {"my.Sink", "x", "",
                 "Sink class my.Sink cannot be instantiated: driver.sink.x.class must name one of Firesteel's sinks: org.apache.spark.metrics.sink.ConsoleSink, org.apache.spark.metrics.sink.CsvSink, org.apache.spark.metrics.sink.GraphiteSink, org.apache.spark.metrics.sink.StatsdSink, org.apache.spark.metrics.sink.Slf4jSink, firesteel.PushGatewaySink, com.banzaicloud.spark.metrics.sink.PrometheusSink"},
                {"org.apache.spark.metrics.sink.GraphiteSink", "port", "1",
                 "Sink class org.apache.spark.metrics.sink.GraphiteSink cannot be instantiated: Graphite sink requires "
                 "'host' property."},
                {"org.apache.spark.metrics.sink.CsvSink", "directory", "",
                 "Sink class org.apache.spark.metrics.sink.CsvSink cannot be instantiated: directory is empty. Set it "
                 "to an existing directory"},
                {"org.apache.spark.metrics.sink.StatsdSink", "period", "0",
                 "Sink class org.apache.spark.metrics.sink.StatsdSink cannot be instantiated: driver.sink.x.period: "
                 "Polling period 0 SECONDS below than minimal polling period of 1 second"},
                {"org.apache.spark.metrics.sink.ConsoleSink", "unit", "weeks",
                 "Sink class org.apache.spark.metrics.sink.ConsoleSink cannot be instantiated: "
                 "driver.sink.x.unit is \"weeks\": use nanoseconds, microseconds, milliseconds, seconds, minutes, hours or "
                 "days"},
        };
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                struct metrics_system *system = NULL;
                struct fst_error error = FST_ERROR_INIT;
                option_set("class", cases[i].class);
                option_set(cases[i].name, cases[i].value);
                assert_int_equal(sinks_start(&system, &error), -EINVAL);
                assert_string_equal(error_message(&error), cases[i].error);
                error_deinit(&error);
        }
}

static void warning_collect(void *owner, const struct log_line *line)
{
        buf_append(owner, line->message, line->length);
        buf_putc(owner, '\n');
}

static void misspelled_lines_are_named_once(void **state)
{
        static const struct {
                const char *key, *warning;
        } cases[] = {
                {"drivr.sink.csv.class", "\"drivr\" is not an instance. Did you mean driver?"},
                {"*.snk.csv.class", "\"snk\" is not sink or source. Did you mean sink?"},
                {"*.sink.csv.clas", "\"clas\" is not an option of sink csv. Did you mean class?"},
                {"driver.sink.log.perriod", "\"perriod\" is not an option of sink log. Did you mean period?"},
                {"*.source.jvm.clss", "\"clss\" is not an option of source jvm. Did you mean class?"},
                {"*.sink.none.colour",
                 "\"colour\" is not an option of sink none. Use one of: class period unit regex "},
                {"driver.sink.graphite.host",
                 "the sink \"graphite\" has no class. Add driver.sink.graphite.class=CLASS"},
                {"driver.sink.none", "write INSTANCE.sink.NAME.OPTION or INSTANCE.source.NAME.OPTION"},
                {"driver.sink..class", "write INSTANCE.sink.NAME.OPTION or INSTANCE.source.NAME.OPTION"},
        };
        struct buf lines = BUF_INIT;
        conf_set(&conf, "spark.metrics.conf.*.sink.log.class", "org.apache.spark.metrics.sink.Slf4jSink");
        conf_set(&conf, "spark.metrics.conf.executor.sink.csv.class", "x");
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                _cleanup_free_ char *key = mem_printf("spark.metrics.conf.%s", cases[i].key);
                conf_set(&conf, key, "1");
        }
        log_set_listener(warning_collect, &lines);
        sinks_report_once();
        sinks_report_once();
        log_set_listener(NULL, NULL);
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                _cleanup_free_ char *warning = mem_printf("%s has no effect: %s", cases[i].key, cases[i].warning);
                CASE_LABEL("%s: %s", cases[i].key, buf_text(&lines));
                const char *found = strstr(buf_text(&lines), warning);
                assert_non_null(found);
                assert_null(strstr(found + 1, warning));
        }
        assert_null(strstr(buf_text(&lines), "executor.sink.csv"));
        assert_null(strstr(buf_text(&lines), "servlet"));
        buf_deinit(&lines);
}

int main(void)
{
#define CASE(test) cmocka_unit_test_setup_teardown(test, sinks_setup, sinks_teardown)
        const struct CMUnitTest tests[] = {
                CASE(statsd_sends_a_datagram_for_each_line),
                CASE(graphite_sends_what_matches),
                CASE(pushgateway_gets_and_deletes_the_group),
                CASE(peer_that_accepts_nothing_costs_a_second),
                CASE(csv_file_gets_one_header),
                CASE(csv_sink_follows_no_link),
                CASE(csv_directory_that_is_absent_stops_nothing),
                CASE(console_sink_writes_to_standard_output),
                CASE(sinks_without_effect_stop_nothing),
                CASE(invalid_sinks_are_refused),
                CASE(misspelled_lines_are_named_once),
        };
        return cmocka_run_group_tests(tests, temp_dir_make, temp_dir_remove);
}
