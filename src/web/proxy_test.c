/* Pages behind the proxy: forwarded headers and names, and unreachable backends. */
#include "web/proxy.h"

#include "conf/conf.h"
#include "web/html.h"
#include "web/web_site_fixture.h"

static struct {
        struct site_fixture f;
        struct fst_conf conf, behind_conf;
        struct web_site *front, *behind;
        struct web_proxy *proxy;
        struct web_request *kept; /* a request without a response yet */
        char seen[1024];          /* the request that the backend received */
} t;

static void serve_behind(void *owner, struct web_request *q)
{
        const char *x = form_get(&q->form, "x"), *context = http_call_header(q->call, "X-Forwarded-Context");
        const char *host = http_call_header(q->call, "X-Forwarded-Host");
        const char *from = http_call_header(q->call, "X-Forwarded-For");
        snprintf(t.seen, sizeof(t.seen), "%s %s user=%s x=%s base=%s context=%s host=%s from=%s", q->method, q->path,
                 q->user ? q->user : "", x ? x : "", q->base, context ? context : "", host ? host : "",
                 from ? from : "");
        if (web_is(q, "/moved"))
                return web_redirect(q, "/there");
        if (web_is(q, "/away")) {
                http_call_set_header(q->call, "Location", "https://elsewhere/");
                return web_answer(q, 302, NULL, NULL);
        }
        if (web_is(q, "/never")) {
                t.kept = q;
                return;
        }
        struct buf text = BUF_INIT;
        buf_printf(&text, "page <a href=\"%s/next\">", q->base);
        web_answer_text(q, 200, &text);
}

static void serve_front(void *owner, struct web_request *q)
{
        if (web_proxy_is(q))
                return web_proxy_serve(t.proxy, q);
        struct buf text = BUF_INIT;
        buf_printf(&text, "base=%s", q->base);
        web_answer_text(q, 200, &text);
}

static char *find(void *owner, const char *id)
{
        if (strcmp(id, "worker-1") == 0)
                return mem_printf("http://127.0.0.1:%d/", web_site_port(t.behind));
        if (strcmp(id, "gone") == 0)
                return mem_strdup("http://127.0.0.1:1");
        return strcmp(id, "odd") == 0 ? mem_strdup("file:///etc/passwd") : NULL;
}

static void open_site(struct web_site **site, const struct fst_conf *conf, const char *base,
                      void (*serve)(void *, struct web_request *))
{
        struct fst_error error = FST_ERROR_INIT;
        struct web_site_options o = {
                .loop = &t.f.loop, .conf = conf, .name = "UI", .host = "127.0.0.1", .base = base, .serve = serve};
        web_site_free(*site);
        *site = NULL;
        if (web_site_new(&o, site, &error) < 0)
                fail_msg("%s", error_message(&error));
}

static int begin(void **state)
{
        memset(&t, 0, sizeof(t));
        site_fixture_begin(&t.f);
        conf_init(&t.conf);
        conf_init(&t.behind_conf);
        conf_set(&t.behind_conf, "spark.ui.reverseProxy", "true");
        conf_set(&t.behind_conf, "spark.ui.filters", "firesteel.RemoteUserFilter");
        open_site(&t.front, &t.conf, NULL, serve_front);
        open_site(&t.behind, &t.behind_conf, NULL, serve_behind);
        t.proxy = web_proxy_new(&(struct web_proxy_options){.loop = &t.f.loop, .conf = &t.conf, .find = find});
        return 0;
}

static int end(void **state)
{
        web_proxy_free(t.proxy);
        web_site_free(t.front);
        if (t.kept)
                web_refuse(t.kept, 503, "enough");
        web_site_free(t.behind);
        site_fixture_end(&t.f);
        conf_deinit(&t.conf);
        conf_deinit(&t.behind_conf);
        return 0;
}

static void get(const char *target)
{
        fixture_get(&t.f, web_site_port(t.front), target);
}

static void forwards_pages(void **state)
{
        get("/proxy/worker-1/a%20b/?x=1%262");
        assert_int_equal(t.f.status, 200);
        assert_string_equal(t.seen, "GET /a b user= x=1&2 base=/proxy/worker-1 context=/proxy/worker-1 host=h:1 "
                                    "from=127.0.0.1");
        assert_string_equal(t.f.body, "page <a href=\"/proxy/worker-1/next\">");
        assert_non_null(strstr(t.f.head, "Content-Type: text/plain;charset=utf-8"));
        get("/proxy/worker-1");
        assert_int_equal(t.f.status, 200);
        assert_non_null(strstr(t.seen, "GET / "));
        get("/proxy/worker-1/moved");
        assert_int_equal(t.f.status, 302);
        assert_non_null(strstr(t.f.head, "Location: /proxy/worker-1/there\r\n"));
        get("/proxy/worker-1/away");
        assert_non_null(strstr(t.f.head, "Location: https://elsewhere/\r\n"));
        fixture_post(&t.f, web_site_port(t.front),
                     "POST /proxy/worker-1/do HTTP/1.1\r\nHost: h:1\r\nContent-Type: "
                     "application/x-www-form-urlencoded\r\n",
                     "x=posted");
        assert_non_null(strstr(t.seen, "POST /do user= x=posted "));
}

/* Behind a second proxy, whose path comes first, and with a configured base. */
static void forwards_through_two_proxies(void **state)
{
        fixture_post(&t.f, web_site_port(t.front),
                     "GET /proxy/worker-1/ HTTP/1.1\r\nHost: h:1\r\nX-Forwarded-Context: /gate/\r\n", NULL);
        assert_string_equal(t.f.body, "page <a href=\"/gate/proxy/worker-1/next\">");
        fixture_post(&t.f, web_site_port(t.front),
                     "GET / HTTP/1.1\r\nHost: h:1\r\nX-Forwarded-Context: \"><script>\r\n", NULL);
        assert_string_equal(t.f.body, "base=");
        fixture_post(&t.f, web_site_port(t.front), "GET / HTTP/1.1\r\nHost: h:1\r\nX-Forwarded-Context: //evil/\r\n",
                     NULL);
        assert_string_equal(t.f.body, "base=");
        open_site(&t.front, &t.conf, "https://gate/spark/", serve_front);
        get("/proxy/worker-1/");
        assert_string_equal(t.f.body, "page <a href=\"https://gate/spark/proxy/worker-1/next\">");
        conf_set(&t.conf, "spark.ui.proxyBase", "/base");
        open_site(&t.front, &t.conf, NULL, serve_front);
        fixture_post(&t.f, web_site_port(t.front), "GET / HTTP/1.1\r\nHost: h:1\r\nX-Forwarded-Context: /other\r\n",
                     NULL);
        assert_string_equal(t.f.body, "base=/base");
        struct fst_error error = FST_ERROR_INIT;
        struct web_site *none = NULL;
        conf_set(&t.conf, "spark.ui.proxyBase", "javascript:x");
        struct web_site_options o = {.loop = &t.f.loop, .conf = &t.conf, .name = "UI", .host = "127.0.0.1"};
        assert_int_equal(web_site_new(&o, &none, &error), -EINVAL);
        assert_non_null(strstr(error_message(&error), "spark.ui.proxyBase"));
        error_deinit(&error);
}

/* The backend trusts this host, so a client must not name a user through it. */
static void forwards_only_verified_user(void **state)
{
        static const char head[] = "GET /proxy/worker-1/ HTTP/1.1\r\nHost: h:1\r\nX-Remote-User: root\r\n";
        fixture_post(&t.f, web_site_port(t.front), head, NULL);
        assert_non_null(strstr(t.seen, "user= "));
        conf_set(&t.conf, "spark.ui.filters", "firesteel.RemoteUserFilter");
        open_site(&t.front, &t.conf, NULL, serve_front);
        fixture_post(&t.f, web_site_port(t.front), head, NULL);
        assert_non_null(strstr(t.seen, "user=root "));
        conf_set(&t.conf, "spark.firesteel.RemoteUserFilter.param.proxies", "192.0.2.1");
        open_site(&t.front, &t.conf, NULL, serve_front);
        fixture_post(&t.f, web_site_port(t.front), head, NULL);
        assert_non_null(strstr(t.seen, "user= "));
}

static void answers_502_for_unreachable_pages(void **state)
{
        static const char *const unknown[] = {"/proxy/", "/proxy//", "/proxy/worker-2/", "/proxy/odd/", "/proxy/%00/"};
        for (size_t i = 0; i < ARRAY_SIZE(unknown); i++) {
                get(unknown[i]);
                if (t.f.status != 404 && t.f.status != 400)
                        fail_msg("%s: %d", unknown[i], t.f.status);
        }
        get("/proxy/gone/");
        assert_int_equal(t.f.status, 502);
        assert_true(fixture_says(&t.f, "got no response"));
}

static void kick(uv_timer_t *timer)
{
        if (!t.kept || !t.proxy)
                return;
        web_proxy_free(t.proxy); /* while its thread still waits */
        t.proxy = NULL;
        uv_timer_stop(timer);
}

static void frees_proxy_with_pending_request(void **state)
{
        uv_timer_t timer;
        uv_timer_init(&t.f.loop, &timer);
        uv_timer_start(&timer, kick, 2, 2);
        get("/proxy/worker-1/never");
        assert_int_equal(t.f.status, 503);
        uv_close((uv_handle_t *)&timer, NULL);
        uv_run(&t.f.loop, UV_RUN_NOWAIT);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test_setup_teardown(forwards_pages, begin, end),
                cmocka_unit_test_setup_teardown(forwards_through_two_proxies, begin, end),
                cmocka_unit_test_setup_teardown(forwards_only_verified_user, begin, end),
                cmocka_unit_test_setup_teardown(answers_502_for_unreachable_pages, begin, end),
                cmocka_unit_test_setup_teardown(frees_proxy_with_pending_request, begin, end),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
