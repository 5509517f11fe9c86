/* Bodies of every length, replies, early replies and failures. */
#include "net/http/http_upload.h"

#include "base/error.h"
#include "net/http/http_fixture.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static struct http_fixture server;
static struct http_client *client;
static struct http_answer answer;
static struct fst_error error;
static struct buf got;

static void serve(struct fixture_exchange *x)
{
        _cleanup_(buf_deinit) struct buf text = BUF_INIT;
        char value[256];
        if (strcmp(x->target, "/refuse") == 0)
                return fixture_answer(x, 403, "", "not you");
        if (strcmp(x->target, "/redirect") == 0)
                return fixture_answer(x, 307, "Location: /elsewhere\r\n", "");
        buf_reset(&got);
        buf_append(&got, x->body, x->body_len);
        buf_printf(&text, "%s %s", x->method, x->target);
        static const char *const shown[] = {"Content-Length", "Content-Type", "Transfer-Encoding", "Expect", "X-Mine"};
        for (size_t i = 0; i < ARRAY_SIZE(shown); i++)
                if (fixture_header(x, shown[i], value, sizeof(value)))
                        buf_printf(&text, "|%s: %s", shown[i], value);
        fixture_answer(x, 201, "", buf_text(&text));
}

static const char *at(const char *path)
{
        static char url[256];
        snprintf(url, sizeof(url), "%s%s", server.url, path);
        return url;
}

static struct http_upload *begin(const struct http_request *request)
{
        struct http_upload *upload = NULL;
        error_deinit(&error);
        assert_int_equal(http_upload_begin(client, request, &upload, &error), 0);
        return upload;
}

static void pieces_arrive(void **state)
{
        const char *const mine[] = {"X-Mine: 1", NULL};
        struct http_upload *u = begin(&(struct http_request){.url = at("/a"), .headers = mine});
        assert_int_equal(http_upload_write(u, "one,", 4, &error), 0);
        assert_int_equal(http_upload_write(u, "", 0, &error), 0);
        assert_int_equal(http_upload_write(u, "two", 3, &error), 0);
        assert_int_equal(http_upload_end(u, 0, &answer, &error), 0);
        assert_int_equal(answer.status, 201);
        assert_string_equal(buf_text(&answer.body),
                            "PUT /a|Content-Type: application/octet-stream|Transfer-Encoding: chunked|X-Mine: 1");
        assert_string_equal(buf_text(&got), "one,two");
        int connections = server.connections;
        u = begin(&(struct http_request){.url = at("/b"), .method = "POST"});
        assert_int_equal(http_upload_end(u, 0, &answer, &error), 0);
        assert_memory_equal(buf_text(&answer.body), "POST /b|", 8);
        assert_int_equal(got.len, 0);
        assert_int_equal(server.connections, connections);
}

static void large_bodies_arrive_whole(void **state)
{
        _cleanup_(buf_deinit) struct buf all = BUF_INIT;
        struct http_upload *u = begin(&(struct http_request){.url = at("/large")});
        for (int i = 0; i < 300; i++) {
                _cleanup_(buf_deinit) struct buf piece = BUF_INIT;
                for (int k = 0; k < 1000 + i; k++)
                        buf_printf(&piece, "%d,", i * k);
                assert_int_equal(http_upload_write(u, buf_text(&piece), piece.len, &error), 0);
                buf_append(&all, buf_text(&piece), piece.len);
        }
        assert_int_equal(http_upload_end(u, 0, &answer, &error), 0);
        assert_int_equal(got.len, all.len);
        assert_memory_equal(buf_text(&got), buf_text(&all), all.len);
}

static void requests_go_on_meanwhile(void **state)
{
        struct http_upload *second = NULL, *u = begin(&(struct http_request){.url = at("/x")});
        assert_int_equal(http_upload_write(u, "a", 1, &error), 0);
        assert_int_equal(http_perform(client, &(struct http_request){.url = at("/y")}, &answer, &error), 0);
        assert_memory_equal(buf_text(&answer.body), "GET /y", 6);
        assert_int_equal(http_upload_begin(client, &(struct http_request){.url = at("/z")}, &second, NULL), -EBUSY);
        assert_int_equal(http_upload_write(u, "b", 1, &error), 0);
        assert_int_equal(http_upload_end(u, 0, &answer, &error), 0);
        assert_string_equal(buf_text(&got), "ab");
}

static void refusals_are_answers(void **state)
{
        struct http_upload *u = begin(&(struct http_request){.url = at("/refuse")});
        assert_int_equal(http_upload_write(u, "a", 1, &error), 0);
        assert_int_equal(http_upload_end(u, 0, &answer, &error), 0);
        assert_int_equal(answer.status, 403);
        assert_string_equal(buf_text(&answer.body), "not you");
        u = begin(&(struct http_request){.url = at("/redirect"), .follow = true});
        assert_int_equal(http_upload_end(u, 0, &answer, &error), 0);
        assert_int_equal(answer.status, 307);
}

static void what_is_broken_off_is_no_request(void **state)
{
        buf_reset(&got);
        int requests = server.requests;
        struct http_upload *u = begin(&(struct http_request){.url = at("/half")});
        assert_int_equal(http_upload_write(u, "half", 4, &error), 0);
        error_set(&error, -ENOSPC, "the reason");
        assert_int_equal(http_upload_end(u, -ENOSPC, &answer, &error), -ENOSPC);
        assert_string_equal(error_message(&error), "the reason");
        assert_int_equal(http_perform(client, &(struct http_request){.url = at("/next")}, &answer, &error), 0);
        assert_int_equal(server.requests, requests + 1);
        assert_int_equal(got.len, 0);
}

static void failures_have_their_number(void **state)
{
        struct http_upload *u;
        int r = http_upload_begin(client, &(struct http_request){.url = ""}, &u, &error);
        assert_int_equal(r, -EINVAL);
        u = begin(&(struct http_request){.url = "http://me:secret@127.0.0.1:1/x?key=y"});
        r = http_upload_write(u, "a", 1, &error);
        r = http_upload_end(u, r, &answer, &error);
        assert_int_equal(r, -ECONNREFUSED);
        assert_non_null(strstr(error_message(&error), "http://127.0.0.1:1/x: "));
        assert_null(strstr(error_message(&error), "secret"));
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
        http_answer_deinit(&answer);
        error_deinit(&error);
        http_fixture_stop(&server);
        buf_deinit(&got);
        return 0;
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(pieces_arrive),
                cmocka_unit_test(large_bodies_arrive_whole),
                cmocka_unit_test(requests_go_on_meanwhile),
                cmocka_unit_test(refusals_are_answers),
                cmocka_unit_test(what_is_broken_off_is_no_request),
                cmocka_unit_test(failures_have_their_number),
        };
        return cmocka_run_group_tests(tests, start, stop);
}
