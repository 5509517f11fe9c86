/* Reads and writes between two ends of a pair of sockets. */
#include "net/socket_exact.h"

#include "base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#define SECOND 1000000000

static int pair_open(void **state)
{
        static int ends[2];
        if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends) < 0)
                return -1;
        *state = ends;
        return 0;
}

static int pair_close(void **state)
{
        int *ends = *state;
        close(ends[0]);
        if (ends[1] >= 0)
                close(ends[1]);
        return 0;
}

static void *send_in_parts(void *data)
{
        const int *ends = data;
        for (const char *at = "abcdef"; *at; at++)
                assert_int_equal(write(ends[1], at, 1), 1);
        return NULL;
}

static void reads_bytes_that_come_in_parts(void **state)
{
        int *ends = *state;
        char text[7] = "";
        pthread_t thread;
        assert_int_equal(pthread_create(&thread, NULL, send_in_parts, ends), 0);
        assert_int_equal(socket_read_exactly(ends[0], text, 6, now_ns() + (int64_t)60 * SECOND, NULL), 0);
        pthread_join(thread, NULL);
        assert_string_equal(text, "abcdef");
}

static void reports_end_deadline_and_stop(void **state)
{
        int *ends = *state, stopped = 1;
        char text[4];
        assert_int_equal(write(ends[1], "ab", 2), 2);
        assert_int_equal(socket_read_exactly(ends[0], text, 4, now_ns() - 1, NULL), -ETIMEDOUT);
        assert_int_equal(socket_read_exactly(ends[0], text, 4, SOCKET_NO_DEADLINE, &stopped), -ECANCELED);
        assert_int_equal(write(ends[1], "cd", 2), 2);
        assert_int_equal(socket_read_exactly(ends[0], text, 2, now_ns() - 1, &stopped), 0);
        close(ends[1]);
        ends[1] = -1;
        assert_int_equal(socket_read_exactly(ends[0], text, 4, SOCKET_NO_DEADLINE, NULL), -EPIPE);
        assert_int_equal(socket_write_exactly(ends[0], text, 4, SOCKET_NO_DEADLINE, NULL), -EPIPE);
}

static void writes_until_deadline(void **state)
{
        int *ends = *state;
        static const char data[1 << 20];
        assert_int_equal(socket_write_exactly(ends[0], data, 8, now_ns() - 1, NULL), 0);
        assert_int_equal(socket_write_exactly(ends[0], data, sizeof(data), now_ns() - 1, NULL), -ETIMEDOUT);
}

static void assert_answer(int fd, const char *expected, size_t len)
{
        char answer[16];
        assert_int_equal(read(fd, answer, sizeof(answer)), len);
        assert_memory_equal(answer, expected, len);
}

static int accept_sent(int *ends, const char *sent, size_t len, enum secret_end end)
{
        assert_int_equal(write(ends[1], sent, len), len);
        return socket_accept_secret(ends[0], "secret", end, now_ns() + (int64_t)60 * SECOND, NULL);
}

static void accepts_secrets_of_both_forms(void **state)
{
        int *ends = *state;
        char next;
        assert_int_equal(accept_sent(ends, "\0\0\0\6secretN", 11, SECRET_END_NONE), 0);
        assert_answer(ends[1], "\0\0\0\2ok", 6);
        assert_int_equal(read(ends[0], &next, 1), 1); /* what follows is the caller's */
        assert_int_equal(next, 'N');
        assert_int_equal(accept_sent(ends, "\0\0\0\7secret\0", 11, SECRET_END_NUL), 0);
        assert_answer(ends[1], "\0\0\0\3ok\0", 7);
}

static void refuses_other_secrets(void **state)
{
        int *ends = *state;
        assert_int_equal(accept_sent(ends, "\0\0\0\6Secret", 10, SECRET_END_NONE), -EACCES);
        assert_answer(ends[1], "\0\0\0\3err", 7);
        assert_int_equal(accept_sent(ends, "\0\0\0\7secretx", 11, SECRET_END_NUL), -EACCES);
        assert_answer(ends[1], "\0\0\0\4err\0", 8);
        assert_int_equal(accept_sent(ends, "\377\377\377\377", 4, SECRET_END_NONE), -EACCES);
        assert_answer(ends[1], "\0\0\0\3err", 7);
        assert_int_equal(accept_sent(ends, "\0\0\0\0", 4, SECRET_END_NUL), -EACCES);
        assert_answer(ends[1], "\0\0\0\4err\0", 8);
}

static void refuses_parts_of_a_secret(void **state)
{
        int *ends = *state;
        assert_int_equal(write(ends[1], "\0\0\0\6sec", 7), 7);
        assert_int_equal(socket_accept_secret(ends[0], "secret", SECRET_END_NONE, now_ns() - 1, NULL), -ETIMEDOUT);
        assert_int_equal(write(ends[1], "\0\0", 2), 2);
        close(ends[1]);
        ends[1] = -1;
        assert_int_equal(socket_accept_secret(ends[0], "secret", SECRET_END_NONE, SOCKET_NO_DEADLINE, NULL), -EPIPE);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test_setup_teardown(reads_bytes_that_come_in_parts, pair_open, pair_close),
                cmocka_unit_test_setup_teardown(reports_end_deadline_and_stop, pair_open, pair_close),
                cmocka_unit_test_setup_teardown(writes_until_deadline, pair_open, pair_close),
                cmocka_unit_test_setup_teardown(accepts_secrets_of_both_forms, pair_open, pair_close),
                cmocka_unit_test_setup_teardown(refuses_other_secrets, pair_open, pair_close),
                cmocka_unit_test_setup_teardown(refuses_parts_of_a_secret, pair_open, pair_close),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
