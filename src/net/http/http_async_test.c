/* Many concurrent requests over HTTP/1.1, TLS and HTTP/2: each one completes once, also with cancellations. */
#define HTTP_FIXTURE_CONNECTIONS 256 /* of all cases together */

#include "net/http/http_async.h"

#include "base/clock.h"
#include "base/error.h"
#include "net/http/http2_fixture.h"
#include "net/http/http_fixture.h"
#include "net/tls_fixture.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static struct http_fixture plain;
static struct http2_fixture http2;
static struct tls_fixture tls, tls1;
static uv_loop_t loop;
static struct http_async *client;
static struct http_async_options options; /* of the client */
static struct fst_error error;

/* "/echo" returns the request. Other paths name their reply. */
static void serve(struct fixture_exchange *x)
{
        if (strcmp(x->target, "/stream") == 0) { /* two pieces without an end */
                buf_puts(&x->out, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\none\r\n3\r\ntwo\r\n");
                return;
        }
        if (strcmp(x->target, "/never") == 0)
                return;
        if (strcmp(x->target, "/broken") == 0) {
                buf_puts(&x->out, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nonly this");
                x->close = true;
                return;
        }
        if (strcmp(x->target, "/close") == 0)
                x->close = true; /* closes without a reply */
        else if (strcmp(x->target, "/missing") == 0)
                fixture_answer(x, 404, "", "no such thing");
        else {
                char host[256] = "", mine[64] = "";
                fixture_header(x, "Host", host, sizeof(host));
                fixture_header(x, "X-Mine", mine, sizeof(mine));
                _cleanup_free_ char *text = mem_printf("%s %s|%s|%s|%s", x->method, x->target, mine, x->body,
                                                       strncmp(host, "api.", 4) == 0 ? host : "");
                fixture_answer(x, 200, "X-Answer: yes\r\n", text);
        }
}

/* The result of one request. */
struct seen_exchange {
        int done, result, status;
        char *body, *message;
        bool sent;
        struct http_transfer *transfer;
        struct seen_exchange *other; /* to cancel when this is done */
        bool cancelled;
        struct buf streamed;
        enum { GO_ON, CANCEL_SELF, FREE_CLIENT, SEND_MORE, FAIL } then;
};

static struct seen_exchange seen[256];

static void done(void *owner, struct http_transfer *transfer, int r, struct http_answer *answer,
                 const struct fst_error *why)
{
        struct seen_exchange *s = owner;
        assert_ptr_equal(s->transfer, transfer);
        s->done++;
        s->result = r;
        s->sent = http_async_was_sent(transfer);
        assert_true((r == 0) == (answer != NULL));
        assert_true((r == 0) == (why == NULL));
        if (answer) {
                s->status = answer->status;
                free(s->body);
                s->body = buf_steal(&answer->body);
        } else {
                free(s->message);
                s->message = mem_strdup(error_message(why));
        }
        if (s->other && !s->other->done) {
                s->other->cancelled = true;
                http_async_cancel(s->other->transfer);
        }
        if (s->then == FREE_CLIENT)
                http_async_free(steal(client));
}

static int streamed(void *owner, const char *data, size_t n)
{
        struct seen_exchange *s = owner;
        buf_append(&s->streamed, data, n);
        if (s->then == CANCEL_SELF)
                http_async_cancel(s->transfer);
        else if (s->then == FREE_CLIENT)
                http_async_free(steal(client));
        else if (s->then == FAIL)
                return -ENOSPC;
        else if (s->then == SEND_MORE) {
                char url[128];
                s->then = GO_ON;
                snprintf(url, sizeof(url), "%s/echo", plain.url);
                seen[9].transfer = http_async_send(client, &(struct http_request){.url = url}, done, &seen[9]);
        }
        return 0;
}

static const char *at(const char *base, int port, const char *path)
{
        static char url[256];
        snprintf(url, sizeof(url), "%s%d%s", base, port, path);
        return url;
}

static const char *http(const char *path)
{
        return at("http://127.0.0.1:", plain.port, path);
}

static const char *https(const char *path)
{
        return at("https://127.0.0.1:", tls.port, path);
}

static void send_it(int i, const struct http_request *request)
{
        seen[i].transfer = http_async_send(client, request, done, &seen[i]);
        assert_int_equal(seen[i].done, 0); /* never inside the call */
}

static void run_until_done(void)
{
        while (http_async_pending(client))
                uv_run(&loop, UV_RUN_ONCE);
}

static void assert_body(int i, const char *body)
{
        if (seen[i].result < 0)
                fail_msg("%s", seen[i].message);
        assert_int_equal(seen[i].done, 1);
        assert_string_equal(seen[i].body, body);
}

static void requests_arrive(void **state)
{
        const char *const mine[] = {"X-Mine: 1", NULL};
        char url[256], body[] = "body";
        snprintf(url, sizeof(url), "%s", http("/echo?1"));
        struct http_request request = {.url = url, .headers = mine};
        send_it(0, &request);
        memset(url, 'x', 4); /* it was borrowed */
        send_it(1, &(struct http_request){.url = http("/p"), .method = "PATCH", .body = body, .body_len = 4});
        memset(body, 'x', 4);
        send_it(2, &(struct http_request){.url = http("/missing"), .method = "DELETE"});
        assert_int_equal(http_async_pending(client), 3);
        run_until_done();
        assert_body(0, "GET /echo?1|1||");
        assert_body(1, "PATCH /p||body|");
        assert_int_equal(seen[2].status, 404);
        assert_false(http_async_is_http2(client));
}

/* 200 requests use no more connections than allowed. */
static void connections_are_kept(void **state)
{
        int before = plain.connections;
        for (int i = 0; i < 200; i++)
                send_it(i, &(struct http_request){.url = http("/echo")});
        run_until_done();
        for (int i = 0; i < 200; i++)
                assert_body(i, "GET /echo|||");
        assert_in_range(plain.connections - before, 1, 4);
        assert_int_equal(http_async_connections(client), plain.connections - before);
}

static void all_go_over_one_connection(void **state)
{
        int before = tls.handshakes;
        http2.most = 0;
        /* The first connection selects HTTP/2. Then 50 requests get replies only after all of them have arrived. */
        send_it(0, &(struct http_request){.url = https("/"), .ca_data = tls.ca});
        run_until_done();
        assert_body(0, "ok");
        assert_true(http_async_is_http2(client));
        for (int i = 1; i <= 50; i++)
                send_it(i, &(struct http_request){
                                   .url = https("/"), .body = "together 50", .body_len = 11, .ca_data = tls.ca});
        run_until_done();
        for (int i = 1; i <= 50; i++)
                assert_body(i, "together 50");
        assert_int_equal(http2.most, 50);
        for (int i = 60; i < 200; i++)
                send_it(i, &(struct http_request){.url = https("/"), .ca_data = tls.ca});
        run_until_done();
        for (int i = 60; i < 200; i++)
                assert_body(i, "ok");
        assert_int_equal(tls.handshakes - before, 1);
}

/* Requests sent at once to an unknown server still make only one handshake. */
static void one_handshake_from_the_beginning(void **state)
{
        int before = tls.handshakes;
        for (int i = 0; i < 100; i++)
                send_it(i, &(struct http_request){.url = https("/"), .ca_data = tls.ca});
        run_until_done();
        for (int i = 0; i < 100; i++)
                assert_body(i, "ok");
        assert_int_equal(tls.handshakes - before, 1);
        assert_int_equal(http_async_connections(client), 1);
}

static void http1_over_tls(void **state)
{
        int before = tls1.handshakes;
        for (int i = 0; i < 20; i++)
                send_it(i, &(struct http_request){.url = at("https://127.0.0.1:", tls1.port, "/echo"),
                                                  .ca_data = tls1.ca,
                                                  .cert_data = tls1.client_cert,
                                                  .key_data = tls1.client_key});
        run_until_done();
        for (int i = 0; i < 20; i++)
                assert_body(i, "GET /echo|||");
        assert_in_range(tls1.handshakes - before, 1, 4);
}

static void certificates_are_checked(void **state)
{
        const char *url = https("/");
        char server_name[sizeof(tls1.server_name)];
        send_it(0, &(struct http_request){.url = url, .ca_only = true, .ca_data = tls1.ca});
        send_it(1, &(struct http_request){.url = url});
        send_it(2, &(struct http_request){.url = url, .insecure = true});
        send_it(3, &(struct http_request){.url = at("https://127.0.0.1:", tls1.port, "/echo"), .ca_data = tls1.ca});
        run_until_done();
        assert_int_equal(seen[0].result, -EPROTO);
        assert_false(seen[0].sent);
        assert_int_equal(seen[1].result, -EPROTO);
        assert_body(2, "ok");
        assert_true(seen[3].result < 0); /* the server requires a client certificate */
        /* The expected name of the certificate may differ from the address. */
        send_it(4, &(struct http_request){.url = at("https://127.0.0.1:", tls1.port, "/echo"),
                                          .ca_data = tls1.ca,
                                          .cert_data = tls1.client_cert,
                                          .key_data = tls1.client_key,
                                          .tls_name = "api.example"});
        send_it(5, &(struct http_request){.url = https("/"), .ca_data = tls.ca, .tls_name = "api.example"});
        run_until_done();
        assert_body(4, "GET /echo|||");
        pthread_mutex_lock(&tls1.lock);
        snprintf(server_name, sizeof(server_name), "%s", tls1.server_name);
        pthread_mutex_unlock(&tls1.lock);
        assert_string_equal(server_name, "api.example");
        assert_int_equal(seen[5].result, -EPROTO);
}

static void streams_come_as_they_are_sent(void **state)
{
        seen[0].then = SEND_MORE;
        send_it(0, &(struct http_request){.url = http("/stream"), .sink = streamed, .context = &seen[0]});
        while (seen[0].streamed.len < 6 || !seen[9].done)
                uv_run(&loop, UV_RUN_ONCE);
        assert_string_equal(buf_text(&seen[0].streamed), "onetwo");
        assert_body(9, "GET /echo|||");
        assert_int_equal(http_async_pending(client), 1);
        http_async_cancel(seen[0].transfer);
        assert_int_equal(http_async_pending(client), 0);
        assert_int_equal(seen[0].done, 0);
}

/* More streams than connections do not block replies. */
static void streams_are_in_nobodys_way(void **state)
{
        for (int i = 0; i < 8; i++)
                send_it(i, &(struct http_request){.url = http("/stream"), .sink = streamed, .context = &seen[i]});
        for (int i = 10; i < 30; i++)
                send_it(i, &(struct http_request){.url = http("/echo")});
        while (http_async_pending(client) > 8)
                uv_run(&loop, UV_RUN_ONCE);
        for (int i = 10; i < 30; i++)
                assert_body(i, "GET /echo|||");
        for (int i = 0; i < 8; i++)
                http_async_cancel(seen[i].transfer);
}

static void sinks_may_end_it(void **state)
{
        seen[0].then = FAIL;
        send_it(0, &(struct http_request){.url = http("/stream"), .sink = streamed, .context = &seen[0]});
        run_until_done();
        assert_int_equal(seen[0].result, -ENOSPC);
        seen[1].then = CANCEL_SELF;
        send_it(1, &(struct http_request){.url = http("/stream"), .sink = streamed, .context = &seen[1]});
        run_until_done();
        assert_int_equal(seen[1].done, 0);
        assert_true(seen[1].streamed.len > 0);
        /* The text of an error is not content. */
        send_it(2, &(struct http_request){.url = http("/missing"), .sink = streamed, .context = &seen[2]});
        run_until_done();
        assert_int_equal(seen[2].status, 404);
        assert_body(2, "no such thing");
        assert_int_equal(seen[2].streamed.len, 0);
}

static void what_is_cancelled_is_not_done(void **state)
{
        for (int i = 0; i < 40; i++)
                send_it(i, &(struct http_request){.url = http(i % 2 ? "/never" : "/echo")});
        for (int i = 1; i < 40; i += 2)
                http_async_cancel(seen[i].transfer);
        run_until_done();
        for (int i = 0; i < 40; i++)
                assert_int_equal(seen[i].done, i % 2 ? 0 : 1);
        /* A callback cancels another request that is pending, or has its reply. */
        for (int i = 40; i < 80; i++)
                send_it(i, &(struct http_request){.url = http("/echo")});
        for (int i = 40; i < 60; i++)
                seen[i].other = &seen[i + 20];
        run_until_done();
        for (int i = 40; i < 60; i++)
                assert_int_equal(seen[i].done, 1);
        for (int i = 60; i < 80; i++)
                assert_int_equal(seen[i].done, seen[i].cancelled ? 0 : 1);
        if (options.plain)
                return;
        /* The same on one connection of HTTP/2. */
        for (int i = 100; i < 140; i++)
                send_it(i, &(struct http_request){
                                   .url = https("/"), .body = "never", .body_len = i % 2 ? 5 : 4, .ca_data = tls.ca});
        while (http_async_pending(client) > 20)
                uv_run(&loop, UV_RUN_ONCE);
        for (int i = 101; i < 140; i += 2)
                http_async_cancel(seen[i].transfer);
        for (int i = 100; i < 140; i += 2)
                assert_body(i, "neve");
}

static void the_client_may_be_freed_at_any_time(void **state)
{
        for (int round = 0; round < 3; round++) {
                memset(seen, 0, sizeof(seen));
                seen[3].then = round == 0 ? FREE_CLIENT : GO_ON;
                seen[0].then = round == 1 ? FREE_CLIENT : GO_ON;
                send_it(0, &(struct http_request){.url = http("/stream"), .sink = streamed, .context = &seen[0]});
                for (int i = 1; i < 20; i++)
                        send_it(i, &(struct http_request){.url = http("/echo")});
                if (round == 2)
                        http_async_free(steal(client));
                while (client)
                        uv_run(&loop, UV_RUN_ONCE);
                uv_run(&loop, UV_RUN_DEFAULT); /* no handle is left on the loop */
                for (size_t i = 0; i < 20; i++) {
                        assert_in_range(seen[i].done, 0, 1);
                        free(seen[i].body);
                        seen[i].body = NULL;
                        buf_deinit(&seen[i].streamed);
                }
                assert_int_equal(http_async_new(&loop, &options, &client, &error), 0);
        }
}

static void failures_have_their_number(void **state)
{
        struct http_fixture other;
        http_fixture_start(&other, serve);
        http_fixture_stop(&other);
        send_it(0, &(struct http_request){.url = at("http://me:secret@127.0.0.1:", other.port, "/x?token=secret")});
        send_it(1, &(struct http_request){.url = http("/broken")});
        send_it(2, &(struct http_request){.url = http("/never"), .timeout_ms = 50});
        send_it(3, &(struct http_request){.url = "file:///etc/hostname"});
        send_it(4, &(struct http_request){.url = NULL});
        send_it(5, &(struct http_request){.url = http("/echo"), .max_answer = 3});
        run_until_done();
        /* A plain client takes no name and password from a URL. */
        const int want[] = {options.plain ? -EINVAL : -ECONNREFUSED, -EIO, -ETIMEDOUT, -EINVAL, -EINVAL, -EFBIG};
        for (size_t i = 0; i < ARRAY_SIZE(want); i++) {
                assert_int_equal(seen[i].done, 1);
                assert_int_equal(seen[i].result, want[i]);
                assert_null(strstr(seen[i].message, "secret"));
        }
        assert_false(seen[0].sent);
        assert_true(seen[1].sent);
}

/* A request that the server may have executed is not sent again. */
static void nothing_is_sent_twice(void **state)
{
        send_it(0, &(struct http_request){.url = http("/echo")});
        run_until_done();
        assert_body(0, "GET /echo|||");
        int before = plain.requests;
        send_it(1, &(struct http_request){.url = http("/close"), .body = "x", .body_len = 1});
        run_until_done();
        assert_int_equal(seen[1].result, -ECONNRESET);
        assert_true(seen[1].sent);
        assert_int_equal(plain.requests - before, 1);
        if (options.plain)
                return;
        before = http2.requests;
        static const char *const bodies[] = {"reset", "refused", "away"};
        for (int i = 0; i < 3; i++) {
                send_it(2 + i, &(struct http_request){.url = https("/"),
                                                      .body = bodies[i],
                                                      .body_len = strlen(bodies[i]),
                                                      .ca_data = tls.ca});
                run_until_done();
                assert_true(seen[2 + i].result < 0);
                assert_int_equal(http2.requests - before, i + 1);
        }
        send_it(9, &(struct http_request){.url = https("/"), .ca_data = tls.ca}); /* later requests work */
        run_until_done();
        assert_body(9, "ok");
}

/* All requests are on their way before the first answer, and answers come in their order. */
static void pipelined_requests_share_a_connection(void **state)
{
        int before = plain.connections;
        for (int i = 0; i < 100; i++)
                send_it(i, &(struct http_request){
                                   .url = http(i == 50 ? "/missing" : "/echo"), .body = "x", .body_len = 1});
        while (!seen[0].done)
                uv_run(&loop, UV_RUN_ONCE);
        run_until_done();
        for (int i = 0; i < 100; i++)
                assert_body(i, i == 50 ? "no such thing" : "POST /echo||x|");
        assert_int_equal(plain.connections - before, 1);
}

/* The answers to cancelled requests are read and dropped. */
static void cancelled_requests_do_not_disturb_a_pipeline(void **state)
{
        for (int i = 0; i < 40; i++)
                send_it(i, &(struct http_request){.url = http("/echo")});
        for (int i = 0; i < 20; i++)
                seen[i].other = &seen[i + 20];
        run_until_done();
        for (int i = 0; i < 20; i++)
                assert_body(i, "GET /echo|||");
        for (int i = 20; i < 40; i++)
                assert_int_equal(seen[i].done, seen[i].cancelled ? 0 : 1);
}

/* Requests behind one that breaks the connection fail, too, and are reported as perhaps carried out. */
static void a_broken_pipeline_fails_all_that_was_sent(void **state)
{
        for (int i = 0; i < 3; i++)
                send_it(i, &(struct http_request){.url = http(i == 1 ? "/close" : "/echo")});
        run_until_done();
        assert_body(0, "GET /echo|||");
        assert_int_equal(seen[1].result, -ECONNRESET);
        assert_int_equal(seen[2].result, -ECONNABORTED);
        assert_true(seen[1].sent && seen[2].sent);
        send_it(3, &(struct http_request){.url = http("/echo")});
        run_until_done();
        assert_body(3, "GET /echo|||");
}

static void a_plain_client_refuses_what_it_cannot_do(void **state)
{
        send_it(0, &(struct http_request){.url = https("/")});
        send_it(1, &(struct http_request){.url = http("/echo"), .follow = true});
        send_it(2, &(struct http_request){.url = http("/echo"), .headers = (const char *[]){"A: b\r\nC: d", NULL}});
        send_it(3, &(struct http_request){.url = http("/a b")});
        send_it(4, &(struct http_request){.url = "http:///x"});
        send_it(5, &(struct http_request){.url = "http://no-such-host.invalid:1/"});
        run_until_done();
        for (int i = 0; i < 5; i++)
                assert_int_equal(seen[i].result, -EINVAL);
        assert_int_equal(seen[5].result, -EHOSTUNREACH);
        send_it(6, &(struct http_request){.url = at("http://localhost:", plain.port, "?q"), .user_password = "a:b"});
        run_until_done();
        assert_body(6, "GET /?q|||");
}

static int begin_with(struct http_async_options o)
{
        options = o;
        memset(seen, 0, sizeof(seen));
        int r = http_async_new(&loop, &options, &client, &error);
        if (r < 0)
                print_message("%s\n", error_message(&error));
        return r < 0;
}

static int begin(void **state)
{
        return begin_with((struct http_async_options){0});
}

static int begin_plain(void **state)
{
        return begin_with((struct http_async_options){.plain = true});
}

static int begin_pipeline(void **state)
{
        return begin_with((struct http_async_options){.plain = true, .pipeline = 64});
}

static int end(void **state)
{
        http_async_free(steal(client));
        uv_run(&loop, UV_RUN_DEFAULT);
        for (size_t i = 0; i < ARRAY_SIZE(seen); i++) {
                free(seen[i].body);
                free(seen[i].message);
                buf_deinit(&seen[i].streamed);
        }
        return 0;
}

static int start(void **state)
{
        uv_loop_init(&loop);
        http_fixture_start(&plain, serve);
        http2_fixture_start(&http2);
        tls_fixture_start(&tls, &(struct tls_fixture_options){.http1_port = plain.port, .http2_port = http2.port});
        tls_fixture_start(&tls1, &(struct tls_fixture_options){
                                         .http1_port = plain.port, .need_client = true, .name = "api.example"});
        return 0;
}

static int stop(void **state)
{
        tls_fixture_stop(&tls);
        tls_fixture_stop(&tls1);
        http2_fixture_stop(&http2);
        http_fixture_stop(&plain);
        error_deinit(&error);
        return uv_loop_close(&loop);
}

int main(void)
{
#define CASE(f) cmocka_unit_test_setup_teardown(f, begin, end)
#define PLAIN(f) cmocka_unit_test_setup_teardown(f, begin_plain, end)
#define PIPELINE(f) cmocka_unit_test_setup_teardown(f, begin_pipeline, end)
        const struct CMUnitTest tests[] = {
                CASE(requests_arrive),
                CASE(connections_are_kept),
                CASE(all_go_over_one_connection),
                CASE(one_handshake_from_the_beginning),
                CASE(http1_over_tls),
                CASE(certificates_are_checked),
                CASE(streams_come_as_they_are_sent),
                CASE(streams_are_in_nobodys_way),
                CASE(sinks_may_end_it),
                CASE(what_is_cancelled_is_not_done),
                CASE(the_client_may_be_freed_at_any_time),
                CASE(failures_have_their_number),
                CASE(nothing_is_sent_twice),
                PLAIN(requests_arrive),
                PLAIN(connections_are_kept),
                PLAIN(streams_come_as_they_are_sent),
                PLAIN(streams_are_in_nobodys_way),
                PLAIN(sinks_may_end_it),
                PLAIN(what_is_cancelled_is_not_done),
                PLAIN(the_client_may_be_freed_at_any_time),
                PLAIN(failures_have_their_number),
                PLAIN(nothing_is_sent_twice),
                PLAIN(a_plain_client_refuses_what_it_cannot_do),
                PIPELINE(requests_arrive),
                PIPELINE(streams_come_as_they_are_sent),
                PIPELINE(sinks_may_end_it),
                PIPELINE(the_client_may_be_freed_at_any_time),
                PIPELINE(pipelined_requests_share_a_connection),
                PIPELINE(cancelled_requests_do_not_disturb_a_pipeline),
                PIPELINE(a_broken_pipeline_fails_all_that_was_sent),
        };
        return cmocka_run_group_tests(tests, start, stop);
}
