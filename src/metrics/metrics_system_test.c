/* Sinks against sockets of this test: what arrives at the end, invalid options, a peer that never reads. */
#include "metrics/metrics_system.h"

#include "base/clock.h"
#include "base/error.h"
#include "conf/conf.h"
#include "metrics/metrics_registry.h"
#include "net/http/http_fixture.h"
#include "unit/cases.h"

#include <setjmp.h>
#include <stdarg.h>

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

static int sinks_setup(void **state)
{
        conf_init(&conf);
        registry = metrics_registry_new("app/1.driver");
        metric_counter_add(metrics_registry_counter(registry, "c"), 12);
        metric_counter_add(metrics_registry_counter(registry, "other"), 1);
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
        assert_true(now_ms() - start < 5000);
        close(fd);
}

static void sinks_without_effect_stop_nothing(void **state)
{
        static const char *const cases[] = {"JmxSink", "ConsoleSink", "CsvSink", "MetricsServlet", "PrometheusServlet"};
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
                {"my.Sink", "x", "", "Sink class my.Sink cannot be instantiated: Firesteel has no such sink"},
                {"org.apache.spark.metrics.sink.GraphiteSink", "port", "1",
                 "Sink class org.apache.spark.metrics.sink.GraphiteSink cannot be instantiated: Graphite sink requires "
                 "'host' property."},
                {"org.apache.spark.metrics.sink.StatsdSink", "period", "0",
                 "Sink class org.apache.spark.metrics.sink.StatsdSink cannot be instantiated: Polling period 0 SECONDS "
                 "below than minimal polling period "},
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

int main(void)
{
#define CASE(test) cmocka_unit_test_setup_teardown(test, sinks_setup, sinks_teardown)
        const struct CMUnitTest tests[] = {
                CASE(statsd_sends_a_datagram_for_each_line),
                CASE(graphite_sends_what_matches),
                CASE(pushgateway_gets_and_deletes_the_group),
                CASE(peer_that_accepts_nothing_costs_a_second),
                CASE(sinks_without_effect_stop_nothing),
                CASE(invalid_sinks_are_refused),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
