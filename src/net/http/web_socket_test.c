/* WebSocket: the handshake of the RFC, frames of all lengths, messages in pieces, and servers that break the protocol.
 */
#include "net/http/web_socket.h"

#include "base/error.h"
#include "base/mem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <string.h>

#define PROTOCOL "v4.channel.k8s.io"

/* The example of RFC 6455, 1.3. */
static const struct web_socket_key rfc_key = {"dGhlIHNhbXBsZSBub25jZQ=="};
#define RFC_ACCEPT "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="

static void test_requests(void **state)
{
        (void)state;
        _cleanup_(buf_deinit) struct buf out = BUF_INIT;
        static const char *const headers[] = {"Authorization: Bearer x", NULL};
        web_socket_put_request(&out, "10.0.0.1:6443", "/pods?ports=4040", PROTOCOL, headers, &rfc_key);
        assert_string_equal(buf_text(&out),
                            "GET /pods?ports=4040 HTTP/1.1\r\nHost: 10.0.0.1:6443\r\nConnection: Upgrade\r\n"
                            "Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
                            "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
                            "Sec-WebSocket-Protocol: v4.channel.k8s.io\r\nAuthorization: Bearer x\r\n\r\n");
}

static void test_keys_differ(void **state)
{
        (void)state;
        _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
        struct web_socket_key a, b;
        assert_int_equal(web_socket_key_make(&a, &error), 0);
        assert_int_equal(web_socket_key_make(&b, &error), 0);
        assert_int_equal(strlen(a.text), 24);
        assert_string_not_equal(a.text, b.text);
}

static void test_answers(void **state)
{
        (void)state;
        static const struct {
                const char *head, *said; /* NULL: accepted */
        } cases[] = {
                {"HTTP/1.1 101 Switching Protocols\r\nsec-websocket-accept:  " RFC_ACCEPT
                 " \r\nSec-WebSocket-Protocol: " PROTOCOL "\r\n\r\n",
                 NULL},
                {"HTTP/1.1 403 Forbidden\r\n\r\n",
                 "the server does not upgrade the connection: HTTP/1.1 403 Forbidden"},
                {"HTTP/1.1 101 x\r\nSec-WebSocket-Protocol: " PROTOCOL "\r\n\r\n", "wrong key"},
                {"HTTP/1.1 101 x\r\nSec-WebSocket-Accept: AAAA\r\n\r\n", "wrong key"},
                {"HTTP/1.1 101 x\r\nSec-WebSocket-Accept: " RFC_ACCEPT "\r\n\r\n", "does not speak " PROTOCOL},
                {"HTTP/1.1 101 x\r\nSec-WebSocket-Accept: " RFC_ACCEPT "\r\nSec-WebSocket-Protocol: v5\r\n\r\n",
                 "does not speak"},
                {"HTTP/1.1 101 x\r\nSec-WebSocket-Accept: " RFC_ACCEPT "\r\nSec-WebSocket-Protocol: " PROTOCOL
                 "\r\nSec-WebSocket-Extensions: permessage-deflate\r\n\r\n",
                 "the WebSocket extension permessage-deflate"},
                {"", "does not upgrade"},
        };
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
                int r = web_socket_verify_answer(cases[i].head, strlen(cases[i].head), PROTOCOL, &rfc_key, &error);
                if (!cases[i].said)
                        assert_int_equal(r, 0);
                else if (r != -EPROTO || !strstr(error_message(&error), cases[i].said))
                        fail_msg("%s: %d, %s", cases[i].head, r, error_message(&error));
        }
}

/* Keeps what a reader delivers as "opcode:text;". */
static int keep(void *owner, enum web_socket_opcode opcode, const char *data, size_t n)
{
        struct buf *kept = owner;
        buf_printf(kept, "%d:", opcode);
        buf_append(kept, data, n);
        buf_putc(kept, ';');
        return n == 4 && memcmp(data, "stop", 4) == 0 ? -ECANCELED : 0;
}

/* Feeds @n bytes in pieces of @piece. Returns the first result other than 0. */
static int feed(struct buf *kept, const char *data, size_t n, size_t piece, struct fst_error *error)
{
        struct web_socket_reader reader = {.on_message = keep, .owner = kept, .max_message = 70000};
        int r = 0;
        for (size_t at = 0; at < n && r == 0; at += piece)
                r = web_socket_reader_take(&reader, data + at, MIN(piece, n - at), error);
        web_socket_reader_deinit(&reader);
        return r;
}

static void test_messages_in_pieces_of_every_size(void **state)
{
        (void)state;
        static const char stream[] = "\x82\x05hello" /* binary */
                                     "\x01\x03one"   /* text, first part */
                                     "\x89\x01p"     /* a ping between */
                                     "\x80\x04+two"  /* its end */
                                     "\x82\x7e\x00\x03"
                                     "abc" /* a length of 16 bits */
                                     "\x82\x00"
                                     "\x88\x02\x03\xe8";
        for (size_t piece = 1; piece < sizeof(stream); piece++) {
                _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
                _cleanup_(buf_deinit) struct buf kept = BUF_INIT;
                assert_int_equal(feed(&kept, stream, sizeof(stream) - 1, piece, &error), 0);
                assert_string_equal(buf_text(&kept), "2:hello;9:p;1:one+two;2:abc;2:;8:\x03\xe8;");
        }
}

static void test_frames_of_all_lengths(void **state)
{
        (void)state;
        static const size_t lengths[] = {0, 1, 125, 126, 127, 65535, 65536};
        for (size_t i = 0; i < ARRAY_SIZE(lengths); i++) {
                _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
                _cleanup_(buf_deinit) struct buf out = BUF_INIT, plain = BUF_INIT, kept = BUF_INIT;
                const size_t n = lengths[i], head = n < 126 ? 2 : n < 65536 ? 4 : 10;
                _cleanup_free_ char *data = mem_alloc(n + 1);
                memset(data, 'x', n);
                assert_int_equal(web_socket_put_message(&out, WEB_SOCKET_BINARY, data, n, &error), 0);
                assert_int_equal(out.len, head + 4 + n);
                assert_true(out.data[1] & 0x80);
                /* Without the mask it is a frame of a server. */
                buf_append(&plain, out.data, head);
                plain.data[1] &= 0x7f;
                for (size_t k = 0; k < n; k++)
                        buf_putc(&plain, (char)(out.data[head + 4 + k] ^ out.data[head + k % 4]));
                assert_int_equal(feed(&kept, plain.data, plain.len, 1000, &error), 0);
                assert_int_equal(kept.len, n + 3);
                assert_int_equal(strspn(buf_text(&kept) + 2, "x"), n);
        }
}

static void test_broken_frames(void **state)
{
        (void)state;
        static const struct {
                const char *stream;
                size_t n;
                int r;
                const char *said;
        } cases[] = {
                {"\xc2\x00", 2, -EBADMSG, "extension"},
                {"\x82\x81mask-", 7, -EBADMSG, "masked"},
                {"\x83\x00", 2, -EBADMSG, "unknown kind 3"},
                {"\x8b\x00", 2, -EBADMSG, "unknown kind 11"},
                {"\x09\x00", 2, -EBADMSG, "control frame"},
                {"\x89\x7e\x00\x80", 4, -EBADMSG, "control frame"},
                {"\x80\x01x", 3, -EBADMSG, "never began"},
                {"\x02\x01x\x82\x01y", 6, -EBADMSG, "inside another"},
                {"\x82\x7f\x00\x00\x00\x00\x00\x02\x00\x00", 10, -EMSGSIZE, "longer than 70000 bytes"},
                {"\x82\x7f\xff\xff\xff\xff\xff\xff\xff\xff", 10, -EMSGSIZE, "longer than 70000 bytes"},
                {"\x82\x04stop\x82\x01x", 9, -ECANCELED, ""},
        };
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
                _cleanup_(buf_deinit) struct buf kept = BUF_INIT;
                int r = feed(&kept, cases[i].stream, cases[i].n, 3, &error);
                if (r != cases[i].r || !strstr(error_message(&error), cases[i].said))
                        fail_msg("case %zu: %d, %s", i, r, error_message(&error));
        }
}

static void test_fragments_are_limited(void **state)
{
        (void)state;
        _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
        _cleanup_(buf_deinit) struct buf kept = BUF_INIT, stream = BUF_INIT;
        char data[1000] = {0};
        for (int i = 0; i < 100; i++) {
                buf_append(&stream, i == 0 ? "\x02\x7e\x03\xe8" : "\x00\x7e\x03\xe8", 4);
                buf_append(&stream, data, sizeof(data));
        }
        assert_int_equal(feed(&kept, stream.data, stream.len, 4096, &error), -EMSGSIZE);
        assert_int_equal(kept.len, 0);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_requests),
                cmocka_unit_test(test_keys_differ),
                cmocka_unit_test(test_answers),
                cmocka_unit_test(test_messages_in_pieces_of_every_size),
                cmocka_unit_test(test_frames_of_all_lengths),
                cmocka_unit_test(test_broken_frames),
                cmocka_unit_test(test_fragments_are_limited),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
