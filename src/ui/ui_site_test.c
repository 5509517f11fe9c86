/* The paths of a driver's and of a history server's site; see ui_site.h. */
#include "ui/ui_site.h"

#include "conf/conf.h"
#include "metrics/metrics_snapshot.h"
#include "ui/ui_fixture.h"
#include "web/web_site_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

/* Shows what it was asked. */
static void serve_page(const struct ui_request *q, struct ui_answer *a)
{
        if (strcmp(q->path, "/nothing") == 0)
                return;
        a->status = 200;
        a->type = "text/html;charset=utf-8";
        buf_printf(&a->body, "page %s base=%s site=%s app=%d", q->path, q->base, q->site, q->view != NULL);
}

static void measure(void *owner, struct metrics_snapshot *out)
{
        metrics_gauge(out, "jobs", 3);
}

struct test_site {
        struct site_fixture web;
        struct ui_fixture ui;
        struct fst_conf conf;
        struct ui_site *site;
};

static void site_begin(struct test_site *t, bool is_live)
{
        struct fst_error error = FST_ERROR_INIT;
        site_fixture_begin(&t->web);
        ui_fixture_begin(&t->ui, is_live);
        conf_init(&t->conf);
        const struct ui_site_options options = {.loop = &t->web.loop,
                                                .conf = &t->conf,
                                                .name = "SparkUI",
                                                .tls_space = "ui",
                                                .source = &t->ui.source,
                                                .serve_page = serve_page,
                                                .measure = measure};
        if (ui_site_new(&options, &t->site, &error) < 0)
                fail_msg("%s", error_message(&error));
}

static void site_end(struct test_site *t)
{
        ui_site_free(t->site);
        site_fixture_end(&t->web);
        assert_int_equal(t->ui.n_open, 0);
        ui_fixture_end(&t->ui);
        conf_deinit(&t->conf);
}

struct site_row {
        const char *label, *target;
        int status;
        const char *says; /* in the head or in the body */
};

static void check_rows(struct test_site *t, const struct site_row *rows, size_t n)
{
        for (size_t i = 0; i < n; i++) {
                print_message("%s\n", rows[i].label);
                fixture_get(&t->web, ui_site_port(t->site), rows[i].target);
                assert_int_equal(t->web.status, rows[i].status);
                if (!strstr(t->web.head, rows[i].says) && !strstr(t->web.body, rows[i].says))
                        fail_msg("%s\n%s\nhas no \"%s\"", t->web.head, t->web.body, rows[i].says);
        }
}

static void driver_serves_its_application(void **state)
{
        static const struct site_row rows[] = {
                {"start", "/", 302, "Location: /jobs/"},
                {"page", "/jobs/", 200, "page /jobs base= site= app=1"},
                {"page with a query", "/stages/stage/?id=3&attempt=0", 200, "page /stages/stage base="},
                {"page without a slash", "/jobs", 301, "Location: /jobs/"},
                {"keeps the query", "/stages/stage?id=3", 301, "Location: /stages/stage/?id=3"},
                {"unknown page", "/nothing/", 404, "does not exist"},
                {"API", "/api/v1/version", 200, "\"spark\" : \"4.3.0\""},
                {"API's type", "/api/v1/version", 200, "Content-Type: application/json"},
                {"API without a slash", "/api", 301, "Location: /api/"},
                {"archive", "/api/v1/applications/app-1/logs", 200,
                 "Content-Disposition: attachment; filename=eventLogs-app-1.zip"},
                {"metrics", "/metrics/json", 200, "\"jobs\":{\"value\":3}"},
                {"metrics as Prometheus' text", "/metrics/prometheus/", 200, "metrics_jobs_Value{type=\"gauges\"} 3"},
                {"executors as Prometheus' text", "/metrics/executors/prometheus", 200, "spark_info{version=\"4.3.0\""},
                {"executors with a slash", "/metrics/executors/prometheus/", 200, "Content-Type: text/plain"},
                {"style sheet", "/static/firesteel.css", 200, "Content-Type: text/css"},
                {"kept style sheet", "/static/firesteel.css?v=1", 200,
                 "Cache-Control: private, max-age=31536000, immutable"},
                {"no history", "/history/app-1/jobs/", 200, "page /history/app-1/jobs"},
                {"headers", "/jobs/", 200, "X-Content-Type-Options: nosniff"},
                {"no cache", "/api/v1/version", 200, "Cache-Control: no-cache, no-store, must-revalidate"},
                {"scripts of this site only", "/jobs/", 200, "script-src 'self'"},
        };
        struct test_site t;
        site_begin(&t, true);
        check_rows(&t, rows, ARRAY_SIZE(rows));
        site_end(&t);
}

static void history_serves_applications_by_id(void **state)
{
        static const struct site_row rows[] = {
                {"list", "/", 200, "page / base= site= app=0"},
                {"application without a slash", "/history/app-1", 301, "Location: /history/app-1/"},
                {"application", "/history/app-1/", 302, "Location: /history/app-1/jobs/"},
                {"page", "/history/app-1/jobs/", 200, "page /jobs base=/history/app-1 site= app=1"},
                {"unknown application", "/history/x/jobs/", 404, "Application x not found."},
                {"API", "/api/v1/applications/app-1/jobs", 200, "[ ]"},
        };
        static const struct site_row attempts[] = {
                {"without the attempt", "/history/app-1/jobs/", 302, "Location: /history/app-1/2/jobs/"},
                {"attempt", "/history/app-1/2/", 302, "Location: /history/app-1/2/jobs/"},
                {"page of an attempt", "/history/app-1/2/stages/stage/?id=1", 200,
                 "page /stages/stage base=/history/app-1/2 site= app=1"},
                {"API of an attempt", "/api/v1/applications/app-1/2/jobs", 200, "[ ]"},
        };
        struct test_site t;
        site_begin(&t, false);
        check_rows(&t, rows, ARRAY_SIZE(rows));
        t.ui.attempt.id = "2";
        check_rows(&t, attempts, ARRAY_SIZE(attempts));
        t.ui.allowed_user = "ann";
        fixture_get(&t.web, ui_site_port(t.site), "/history/app-1/2/jobs/");
        assert_int_equal(t.web.status, 403);
        site_end(&t);
}

/* More requests than the pool has threads. */
enum { WAITING = 20 };

static int ask_and_leave(struct test_site *t, const char *target)
{
        struct fst_error error = FST_ERROR_INIT;
        int fd = socket_connect("127.0.0.1", ui_site_port(t->site), -1, NULL, &error);
        if (fd < 0)
                fail_msg("%s", error_message(&error));
        _cleanup_free_ char *request = mem_printf("GET %s HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n", target);
        assert_int_equal(send(fd, request, strlen(request), MSG_NOSIGNAL), strlen(request));
        return fd;
}

static void ask_while_it_loads(struct test_site *t, int *fds)
{
        atomic_store(&t->ui.n_early, 0);
        atomic_store(&t->ui.is_loading, true);
        for (int i = 0; i < WAITING; i++)
                fds[i] = ask_and_leave(t, i % 2 ? "/history/app-1/jobs/" : "/api/v1/applications/app-1/jobs");
        while (atomic_load(&t->ui.n_early) < WAITING)
                uv_run(&t->web.loop, UV_RUN_ONCE);
}

/* Reads the head of a response and closes the connection. Returns its status. */
static int await_status(struct test_site *t, int fd)
{
        char head[64] = "";
        int status = 0;
        while (recv(fd, head, sizeof(head) - 1, MSG_DONTWAIT | MSG_PEEK) < 12)
                uv_run(&t->web.loop, UV_RUN_ONCE);
        assert_int_equal(sscanf(head, "HTTP/1.1 %d", &status), 1);
        close(fd);
        return status;
}

static void requests_for_a_loading_application_take_no_thread(void **state)
{
        struct test_site t;
        int fds[WAITING];
        site_begin(&t, false);
        ask_while_it_loads(&t, fds);
        fixture_get(&t.web, ui_site_port(t.site), "/");
        assert_int_equal(t.web.status, 200);
        t.ui.on_loaded(t.ui.on_loaded_owner); /* another application */
        while (atomic_load(&t.ui.n_early) < 2 * WAITING)
                uv_run(&t.web.loop, UV_RUN_ONCE);
        atomic_store(&t.ui.is_loading, false);
        t.ui.on_loaded(t.ui.on_loaded_owner);
        for (int i = 0; i < WAITING; i++)
                assert_int_equal(await_status(&t, fds[i]), 200);
        site_end(&t);
}

static void requests_for_a_loading_application_end_with_the_site(void **state)
{
        struct test_site t;
        int fds[WAITING];
        site_begin(&t, false);
        ask_while_it_loads(&t, fds);
        site_end(&t);
        for (int i = 0; i < WAITING; i++)
                close(fds[i]);
}

static void refuses_methods_that_change_nothing(void **state)
{
        static const struct {
                const char *label, *head;
        } rows[] = {
                {"TRACE", "TRACE / HTTP/1.1\r\nHost: h\r\n"},
                {"POST to the API", "POST /api/v1/version HTTP/1.1\r\nHost: h\r\n"},
                {"DELETE", "DELETE /jobs/ HTTP/1.1\r\nHost: h\r\n"},
        };
        struct test_site t;
        site_begin(&t, true);
        for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
                print_message("%s\n", rows[i].label);
                fixture_post(&t.web, ui_site_port(t.site), rows[i].head, NULL);
                assert_int_equal(t.web.status, 405);
        }
        site_end(&t);
}

static void kills_only_for_forms_of_the_site(void **state)
{
        static const char post[] = "POST /jobs/job/kill/?id=7 HTTP/1.1\r\nHost: h\r\n"
                                   "Content-Type: application/x-www-form-urlencoded\r\n";
        struct test_site t;
        site_begin(&t, true);
        fixture_get(&t.web, ui_site_port(t.site), "/jobs/job/kill/?id=7");
        assert_int_equal(t.web.status, 405);
        fixture_post(&t.web, ui_site_port(t.site), post, "id=7");
        assert_int_equal(t.web.status, 403);
        assert_int_equal(t.ui.killed_job, -1);
        site_end(&t);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(driver_serves_its_application),
                cmocka_unit_test(history_serves_applications_by_id),
                cmocka_unit_test(requests_for_a_loading_application_take_no_thread),
                cmocka_unit_test(requests_for_a_loading_application_end_with_the_site),
                cmocka_unit_test(refuses_methods_that_change_nothing),
                cmocka_unit_test(kills_only_for_forms_of_the_site),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
