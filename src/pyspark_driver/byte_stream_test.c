/* Bytes of Python through a socket, in both directions. */
#include "pyspark_driver/byte_stream.h"

#include "base/buf.h"
#include "base/error.h"
#include "base/fs.h"
#include "base/mem.h"
#include "net/socket.h"

#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <unistd.h>
#include <cmocka.h>

#define SECOND ((int64_t)1000000000)

static int dial(const struct byte_stream *s)
{
        int fd = socket_connect("127.0.0.1", byte_stream_port(s), 10 * SECOND, NULL, NULL);
        assert_true(fd >= 0);
        return fd;
}

static void say(int fd, const void *data, size_t n)
{
        assert_int_equal(write(fd, data, n), n);
}

/* Sends @secret and returns whether it was accepted. */
static bool prove(int fd, const char *secret)
{
        char head[4] = {0, 0, 0, (char)strlen(secret)}, answer[6];
        size_t n = 0;
        say(fd, head, sizeof(head));
        say(fd, secret, strlen(secret));
        while (n < sizeof(answer)) {
                assert_int_equal(socket_wait(fd, POLLIN, 30 * SECOND, NULL), 1);
                ssize_t r = read(fd, answer + n, sizeof(answer) - n);
                if (r <= 0)
                        return false;
                n += (size_t)r;
        }
        return memcmp(answer, "\0\0\0\2ok", sizeof(answer)) == 0;
}

static void receives_chunks_and_sends_them_back(void **state)
{
        (void)state;
        struct byte_stream *in, *out;
        struct buf text = BUF_INIT;
        char back[6];
        size_t n = 0;
        assert_int_equal(byte_stream_receive(&in, NULL), 0);
        int fd = dial(in);
        assert_true(prove(fd, byte_stream_secret(in)));
        say(fd, "\0\0\0\3abc\0\0\0\0\0\0\0\2de\xff\xff\xff\xff", 21);
        assert_int_equal(byte_stream_wait(in, NULL), 0);
        close(fd);
        assert_int_equal(file_text_read(byte_stream_path(in), 100, &text, NULL), 0);
        assert_string_equal(buf_text(&text), "abcde");
        assert_int_equal(byte_stream_send(in, &out, NULL), 0);
        fd = dial(out);
        assert_true(prove(fd, byte_stream_secret(out)));
        for (ssize_t r; n < sizeof(back) && socket_wait(fd, POLLIN, 30 * SECOND, NULL) == 1 &&
                        (r = read(fd, back + n, sizeof(back) - n)) > 0;)
                n += (size_t)r;
        assert_int_equal(n, 5);
        assert_memory_equal(back, "abcde", 5);
        close(fd);
        byte_stream_free(out);
        byte_stream_free(in);
        buf_deinit(&text);
}

static void connection_without_the_secret_does_not_count(void **state)
{
        (void)state;
        struct byte_stream *in;
        assert_int_equal(byte_stream_receive(&in, NULL), 0);
        int fd = dial(in);
        assert_false(prove(fd, "0000000000000000000000000000000000000000000000000000000000000000"));
        close(fd);
        fd = dial(in);
        assert_true(prove(fd, byte_stream_secret(in)));
        say(fd, "\xff\xff\xff\xff", 4);
        assert_int_equal(byte_stream_wait(in, NULL), 0);
        close(fd);
        byte_stream_free(in);
}

static void reports_end_within_data(void **state)
{
        (void)state;
        static const char *const cases[] = {"\0\0\0\5ab", "\x80\0\0\0"};
        static const size_t sizes[] = {6, 4};
        static const char *const reasons[] = {"Python closed its connection before the end of the data",
                                              "Python sent a chunk of -2147483648 bytes"};
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                struct byte_stream *in;
                struct fst_error error = FST_ERROR_INIT;
                assert_int_equal(byte_stream_receive(&in, NULL), 0);
                int fd = dial(in);
                assert_true(prove(fd, byte_stream_secret(in)));
                say(fd, cases[i], sizes[i]);
                close(fd);
                assert_true(byte_stream_wait(in, &error) < 0);
                assert_string_equal(error_message(&error), reasons[i]);
                error_deinit(&error);
                byte_stream_free(in);
        }
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(receives_chunks_and_sends_them_back),
                cmocka_unit_test(connection_without_the_secret_does_not_count),
                cmocka_unit_test(reports_end_within_data),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
