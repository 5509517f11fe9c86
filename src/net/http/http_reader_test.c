/* HTTP replies: complete, in pieces of every size, truncated, malicious. */
#include "net/http/http_reader.h"

#include "base/error.h"
#include "base/mem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <string.h>

/* Feeds @text in pieces of @piece bytes, then the end. Returns the first result other than 0. */
static int feed(struct http_reader *r, const char *text, size_t piece, struct fst_error *error)
{
        size_t size = strlen(text);
        http_reader_begin(r, 100);
        for (size_t at = 0; at < size && !r->done;) {
                ssize_t n = http_reader_take(r, text + at, MIN(piece, size - at), error);
                if (n < 0)
                        return (int)n;
                at += (size_t)n;
        }
        return r->done ? 0 : http_reader_end(r, error);
}

static void test_answers(void **state)
{
        (void)state;
        static const struct {
                const char *text;
                int status;
                const char *type, *body;
                bool close;
        } cases[] = {
                {"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Type:  application/json \r\n\r\nhello", 200,
                 "application/json", "hello", false},
                {"HTTP/1.1 200 OK\r\nConnection: keep-alive, Close\r\ncontent-length: 2\r\n\r\nab", 200, "", "ab",
                 true},
                {"HTTP/1.1 468 \r\n\r\nuntil the end", 468, "", "until the end", true},
                {"HTTP/1.0 404 Not Found\nContent-Length: 1\n\nx", 404, "", "x", true},
                {"HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 1\r\n\r\nx", 200, "", "x", false},
                {"HTTP/1.1 204 No Content\r\n\r\n", 204, "", "", false},
                {"HTTP/1.1 500\r\nContent-Length: 0\r\n\r\n", 500, "", "", false},
                {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n3\r\nabc\r\nA;x=1\r\n0123456789\r\n"
                 "0\r\nTrailer: y\r\n\r\n",
                 200, "", "abc0123456789", false},
                {"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Hints\r\nLink: x\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: "
                 "1\r\n\r\n!",
                 200, "", "!", false},
        };
        struct http_reader r = HTTP_READER_INIT;
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
                for (size_t piece = 1; piece < 200; piece++) {
                        assert_int_equal(feed(&r, cases[i].text, piece, NULL), 0);
                        assert_true(r.done);
                        assert_int_equal(r.status, cases[i].status);
                        assert_string_equal(r.content_type, cases[i].type);
                        assert_string_equal(buf_text(&r.body), cases[i].body);
                        assert_int_equal(r.close, cases[i].close);
                }
        http_reader_deinit(&r);
}

static void test_what_is_no_answer(void **state)
{
        (void)state;
        static const struct {
                const char *text;
                int code;
                const char *says;
        } cases[] = {
                {"", -ECONNRESET, "the connection ended without an answer"},
                {"HTTP/1.1 20", -ENODATA, "the connection ended in the middle of the answer"},
                {"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf", -ENODATA,
                 "the connection ended in the middle of the answer"},
                {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n", -ENODATA,
                 "the connection ended in the middle of the answer"},
                {"SSH-2.0-OpenSSH\r\n", -EBADMSG, "the answer is not HTTP: it begins with 'SSH-2.0-OpenSSH'"},
                {"HTTP/1.1 2000 OK\r\n", -EBADMSG, "the answer is not HTTP: it begins with 'HTTP/1.1 2000 OK'"},
                {"HTTP/1.1 200 OK\r\nno header\r\n", -EBADMSG, "a header of the answer has no colon: 'no header'"},
                {"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n", -EBADMSG, "the answer has the invalid length '-1'"},
                {"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n", -EBADMSG,
                 "the answer has the invalid length '2'"},
                {"HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\n", -EBADMSG,
                 "the answer has the invalid length '99999999999999999999'"},
                {"HTTP/1.1 200 OK\r\nContent-Length: 101\r\n\r\n", -EMSGSIZE, "the answer is larger than 100 bytes"},
                {"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n", -EBADMSG,
                 "the answer has the unsupported transfer encoding 'gzip'"},
                {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n", -EBADMSG,
                 "a chunk of the answer has the invalid size 'xyz'"},
                {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n65\r\n", -EMSGSIZE,
                 "the answer is larger than 100 bytes"},
                {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nab\r\n", -EBADMSG,
                 "a chunk of the answer is longer than it says"},
        };
        struct http_reader r = HTTP_READER_INIT;
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
                for (size_t piece = 1; piece < 100; piece += 7) {
                        _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
                        assert_int_equal(feed(&r, cases[i].text, piece, &error), cases[i].code);
                        assert_string_equal(error.message, cases[i].says);
                }
        http_reader_deinit(&r);
}

static void test_endless_headers_and_bodies_are_refused(void **state)
{
        (void)state;
        struct http_reader r = HTTP_READER_INIT;
        http_reader_begin(&r, 100);
        ssize_t n = http_reader_take(&r, "HTTP/1.1 200 OK\r\n", 17, NULL);
        for (int i = 0; n > 0 && i < HTTP_MAX_HEADERS; i++)
                n = http_reader_take(&r, "X: yyyyyyyyyyyy\r\n", 17, NULL);
        assert_int_equal(n, -EMSGSIZE);
        http_reader_begin(&r, 100);
        n = http_reader_take(&r, "HTTP/1.1 200 OK\r\n\r\n", 19, NULL);
        for (int i = 0; n > 0 && i < 101; i++)
                n = http_reader_take(&r, "z", 1, NULL);
        assert_int_equal(n, -EMSGSIZE);
        assert_int_equal(r.body.len, 100);
        http_reader_deinit(&r);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_answers),
                cmocka_unit_test(test_what_is_no_answer),
                cmocka_unit_test(test_endless_headers_and_bodies_are_refused),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
