/* Loading of the module, requests as the server sees them, replies and failures. */
#include "net/http/http.h"

#include "base/error.h"
#include "net/http/http_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <sys/uio.h>

#include <cmocka.h>

static struct http_fixture server;
static struct http_client *client;
static struct http_answer answer;
static struct fst_error error;

/* "/PATH?…" returns the request, or the reply that the path names. */
static void serve(struct fixture_exchange *x)
{
        char value[256];
        _cleanup_(buf_deinit) struct buf text = BUF_INIT;
        if (strcmp(x->target, "/to-ftp") == 0)
                return fixture_answer(x, 302, "Location: ftp://127.0.0.1:1/x\r\n", "");
        if (strcmp(x->target, "/long-headers") == 0) {
                _cleanup_(buf_deinit) struct buf headers = BUF_INIT;
                for (int i = 0; i < 10; i++)
                        buf_printf(&headers, "X-%d: %030000d\r\n", i, i);
                return fixture_answer(x, 200, buf_text(&headers), "");
        }
        if (strcmp(x->target, "/redirect") == 0)
                return fixture_answer(x, 302, "Location: /echo?then\r\nX-From: redirect\r\n", "not this");
        if (strcmp(x->target, "/to-file") == 0)
                return fixture_answer(x, 302, "Location: file:///etc/hostname\r\n", "");
        if (strcmp(x->target, "/loop") == 0)
                return fixture_answer(x, 302, "Location: /loop\r\n", "");
        if (strcmp(x->target, "/missing") == 0)
                return fixture_answer(x, 404, "", "no such thing");
        if (strcmp(x->target, "/large") == 0) {
                for (int i = 0; i < 20000; i++)
                        buf_printf(&text, "line %d\n", i);
                return fixture_answer(x, 200, "", buf_text(&text));
        }
        if (strcmp(x->target, "/broken") == 0) {
                buf_puts(&x->out, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nonly this");
                x->close = true;
                return;
        }
        x->close = strcmp(x->target, "/hang-up") == 0; /* without notice */
        if (strcmp(x->target, "/strange") == 0) {
                buf_puts(&x->out, "SSH-2.0-dropbear\r\n\r\n");
                x->close = true;
                return;
        }
        buf_printf(&text, "%s %s", x->method, x->target);
        static const char *const shown[] = {"Authorization", "Content-Type", "Expect", "X-Mine"};
        for (size_t i = 0; i < ARRAY_SIZE(shown); i++)
                if (fixture_header(x, shown[i], value, sizeof(value)))
                        buf_printf(&text, "|%s: %s", shown[i], value);
        if (x->body_len)
                buf_printf(&text, "|%s", x->body);
        fixture_answer(x, 200, "X-Answer:  yes \r\nContent-Type: text/plain\r\n", buf_text(&text));
}

/* Returns the path's URL, valid until the next call. */
static const char *at(const char *path)
{
        static char url[256];
        snprintf(url, sizeof(url), "%s%s", server.url, path);
        return url;
}

static int perform(const struct http_request *request)
{
        error_deinit(&error);
        return http_perform(client, request, &answer, &error);
}

static void assert_says(const char *body)
{
        assert_int_equal(answer.status, 200);
        assert_string_equal(buf_text(&answer.body), body);
}

static void requests_arrive(void **state)
{
        const char *const mine[] = {"X-Mine: 1", NULL}, *const json[] = {"Content-Type: application/json", NULL};
        assert_int_equal(perform(&(struct http_request){.url = at("/echo"), .headers = mine}), 0);
        assert_says("GET /echo|X-Mine: 1");
        assert_int_equal(perform(&(struct http_request){.url = at("/p"), .body = "{}", .body_len = 2, .headers = json}),
                         0);
        assert_says("POST /p|Content-Type: application/json|{}");
        assert_int_equal(perform(&(struct http_request){.url = at("/p"), .method = "PUT", .body = "a", .body_len = 1}),
                         0);
        assert_says("PUT /p|Content-Type: application/octet-stream|a");
        assert_int_equal(perform(&(struct http_request){.url = at("/p"), .method = "DELETE"}), 0);
        assert_says("DELETE /p"); /* without data of earlier requests */
        assert_int_equal(perform(&(struct http_request){.url = at("/p"), .method = "HEAD"}), 0);
        assert_says("");
        assert_int_equal(perform(&(struct http_request){.url = at("/k"), .method = "POST"}), 0);
        assert_memory_equal(buf_text(&answer.body), "POST /k", 7);
        assert_int_equal(perform(&(struct http_request){.url = at("/"), .user_password = "me:secret"}), 0);
        assert_says("GET /|Authorization: Basic bWU6c2VjcmV0");
        assert_int_equal(perform(&(struct http_request){.url = at("/"), .bearer = "tok"}), 0);
        assert_says("GET /|Authorization: Bearer tok");
        assert_int_equal(server.connections, 1);
}

static void large_bodies_are_sent_at_once(void **state)
{
        struct buf body = BUF_INIT;
        for (int i = 0; i < 2 << 20; i++)
                buf_putc(&body, "abcdefghijklmnopq"[i % 17]);
        assert_int_equal(perform(&(struct http_request){.url = at("/p"), .body = body.data, .body_len = body.len}), 0);
        assert_int_equal(answer.status, 200);
        const size_t shown = strlen("POST /p|Content-Type: application/octet-stream|");
        assert_int_equal(answer.body.len, shown + body.len);
        assert_memory_equal(answer.body.data + shown, body.data, body.len);
        buf_deinit(&body);
}

static void sends_a_body_in_pieces(void **state)
{
        struct buf middle = BUF_INIT;
        for (int i = 0; i < 2 << 20; i++)
                buf_putc(&middle, "abcdefghijklmnopq"[i % 17]);
        const struct iovec pieces[] = {{"<<", 2}, {middle.data, middle.len}, {"", 0}, {">>", 2}};
        const struct http_request request = {
                .url = at("/p"), .pieces = pieces, .n_pieces = ARRAY_SIZE(pieces), .body_len = middle.len + 4};
        const size_t shown = strlen("PUT /p|Content-Type: application/octet-stream|");
        for (int times = 0; times < 2; times++) {
                assert_int_equal(perform(&request), 0);
                assert_int_equal(answer.body.len, shown + request.body_len);
                assert_memory_equal(answer.body.data + shown, "<<", 2);
                assert_memory_equal(answer.body.data + shown + 2, middle.data, middle.len);
                assert_memory_equal(answer.body.data + shown + 2 + middle.len, ">>", 2);
        }
        buf_deinit(&middle);
}

static void sends_pieces_again_on_a_new_connection(void **state)
{
        const struct iovec pieces[] = {{"on", 2}, {"ce", 2}};
        int before = server.connections;
        assert_int_equal(perform(&(struct http_request){.url = at("/hang-up")}), 0);
        assert_int_equal(perform(&(struct http_request){
                                 .url = at("/p"), .pieces = pieces, .n_pieces = ARRAY_SIZE(pieces), .body_len = 4}),
                         0);
        assert_says("PUT /p|Content-Type: application/octet-stream|once");
        assert_true(server.connections > before);
}

static void headers_are_found(void **state)
{
        assert_int_equal(perform(&(struct http_request){.url = at("/echo")}), 0);
        _cleanup_free_ char *mine = http_answer_header(&answer, "x-answer");
        _cleanup_free_ char *type = http_answer_header(&answer, "Content-Type");
        assert_string_equal(mine, "yes");
        assert_string_equal(type, "text/plain");
        assert_null(http_answer_header(&answer, "X-None"));
        assert_null(answer.url);
}

static void redirections(void **state)
{
        assert_int_equal(perform(&(struct http_request){.url = at("/redirect")}), 0);
        assert_int_equal(answer.status, 302);
        _cleanup_free_ char *location = http_answer_header(&answer, "Location");
        assert_string_equal(location, "/echo?then");
        assert_int_equal(perform(&(struct http_request){.url = at("/redirect"), .follow = true}), 0);
        assert_says("GET /echo?then");
        assert_string_equal(answer.url, at("/echo?then"));
        assert_null(http_answer_header(&answer, "X-From")); /* of the last reply only */
        assert_int_equal(perform(&(struct http_request){.url = at("/to-file"), .follow = true}), -EPROTO);
        assert_int_equal(perform(&(struct http_request){.url = at("/to-ftp"), .follow = true}), -EPROTO);
        assert_int_equal(perform(&(struct http_request){.url = at("/loop"), .follow = true}), -EPROTO);
}

static void statuses_are_answers(void **state)
{
        assert_int_equal(perform(&(struct http_request){.url = at("/missing")}), 0);
        assert_int_equal(answer.status, 404);
        assert_string_equal(buf_text(&answer.body), "no such thing");
}

struct taken {
        struct buf data;
        int result;
        int64_t total;
};

static int take(void *context, const char *data, size_t n)
{
        struct taken *t = context;
        buf_append(&t->data, data, n);
        return t->result;
}

static int progress(void *context, int64_t done, int64_t total)
{
        struct taken *t = context;
        t->total = total;
        return done > 0 && t->result;
}

static void bodies_can_go_elsewhere(void **state)
{
        struct taken taken = {0};
        struct http_request q = {.url = at("/large"), .sink = take, .progress = progress, .context = &taken};
        assert_int_equal(perform(&q), 0);
        assert_int_equal(taken.data.len, 208890);
        assert_int_equal(taken.total, 208890);
        assert_int_equal(answer.body.len, 0);
        buf_reset(&taken.data);
        q.url = at("/missing"); /* the text of an error is not content */
        assert_int_equal(perform(&q), 0);
        assert_int_equal(taken.data.len, 0);
        assert_string_equal(buf_text(&answer.body), "no such thing");
        q.url = at("/large");
        taken.result = -ENOSPC;
        assert_int_equal(perform(&q), -ENOSPC);
        assert_non_null(strstr(error_message(&error), "/large: the transfer was ended: No space left on device"));
        q.sink = NULL;
        assert_int_equal(perform(&q), -ECANCELED);
        buf_deinit(&taken.data);
}

static void failures_have_their_number(void **state)
{
        assert_int_equal(perform(&(struct http_request){.url = at("/large"), .max_answer = 1000}), -EFBIG);
        assert_non_null(strstr(error_message(&error), "/large: the answer is larger than 1000 bytes"));
        assert_int_equal(perform(&(struct http_request){.url = at("/long-headers")}), -EFBIG);
        assert_non_null(strstr(error_message(&error), "/long-headers: the headers are larger than 262144 bytes"));
        assert_int_equal(perform(&(struct http_request){.url = at("/broken")}), -EIO);
        assert_int_equal(perform(&(struct http_request){.url = at("/strange")}), -EPROTO);
        assert_int_equal(perform(&(struct http_request){.url = "file:///etc/hostname"}), -EINVAL);
        assert_int_equal(perform(&(struct http_request){.url = ""}), -EINVAL);
        assert_int_equal(perform(&(struct http_request){0}), -EINVAL);
        /* Returns an unused port. */
        struct http_fixture other;
        http_fixture_start(&other, serve);
        http_fixture_stop(&other);
        char url[128];
        snprintf(url, sizeof(url), "http://me:secret@127.0.0.1:%d/x?token=secret", other.port);
        assert_int_equal(perform(&(struct http_request){.url = url}), -ECONNREFUSED);
        assert_null(strstr(error_message(&error), "secret"));
        snprintf(url, sizeof(url), "http://127.0.0.1:%d/x: ", other.port);
        assert_memory_equal(error_message(&error), url, strlen(url));
        /* The client still works afterwards. */
        assert_int_equal(perform(&(struct http_request){.url = at("/echo")}), 0);
        assert_says("GET /echo");
}

/* Requests to other machines use the proxy, requests to this machine and `direct` ones do not. */
static void proxies_are_used(void **state)
{
        assert_int_equal(setenv("http_proxy", server.url, 1), 0);
        assert_int_equal(setenv("no_proxy", "", 1), 0);
        assert_int_equal(perform(&(struct http_request){.url = "http://far.invalid/thing"}), 0);
        assert_says("GET http://far.invalid/thing");
        assert_int_equal(perform(&(struct http_request){.url = "http://far.invalid/thing", .direct = true}),
                         -EHOSTUNREACH);
        assert_int_equal(setenv("http_proxy", "http://127.0.0.1:1", 1), 0);
        assert_int_equal(perform(&(struct http_request){.url = at("/echo")}), 0);
        assert_says("GET /echo");
        unsetenv("http_proxy");
        unsetenv("no_proxy");
}

static void printable_urls(void **state)
{
        static const char *const cases[][2] = {
                {"http://a:b@h:1/p?q=1", "http://h:1/p"},
                {"http://h/p@x", "http://h/p@x"},
                {"http://a@b@h#f", "http://h"},
                {"ftp://h", "ftp://h"},
                {"nonsense", "nonsense"},
                {"", ""},
        };
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                _cleanup_free_ char *text = http_printable_url(cases[i][0]);
                assert_string_equal(text, cases[i][1]);
        }
}

static int start(void **state)
{
        http_fixture_start(&server, serve);
        int r = http_client_new(&client, &error);
        if (r < 0)
                print_message("%s\n", error_message(&error));
        return r < 0;
}

static int stop(void **state)
{
        http_client_free(client);
        http_client_free(NULL);
        http_answer_deinit(&answer);
        error_deinit(&error);
        http_fixture_stop(&server);
        return 0;
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(requests_arrive),
                cmocka_unit_test(large_bodies_are_sent_at_once),
                cmocka_unit_test(sends_a_body_in_pieces),
                cmocka_unit_test(sends_pieces_again_on_a_new_connection),
                cmocka_unit_test(headers_are_found),
                cmocka_unit_test(redirections),
                cmocka_unit_test(statuses_are_answers),
                cmocka_unit_test(bodies_can_go_elsewhere),
                cmocka_unit_test(failures_have_their_number),
                cmocka_unit_test(proxies_are_used),
                cmocka_unit_test(printable_urls),
        };
        return cmocka_run_group_tests(tests, start, stop);
}
