/* Streams of bytes, stop flags, timeouts and error messages of channels. */
#include "net/channel.h"

#include "base/error.h"
#include "base/mem.h"

#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#define SECOND 1000000000L
#define MUCH ((size_t)4 << 20)

struct pair {
        struct channel *a, *b;
};

static struct pair pair_new(void)
{
        struct pair p;
        int ends[2];
        assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
        assert_int_equal(channel_new(ends[0], NULL, CHANNEL_CLIENT, &p.a, NULL), 0);
        assert_int_equal(channel_new(ends[1], NULL, CHANNEL_SERVER, &p.b, NULL), 0);
        return p;
}

static void pair_free(struct pair *p)
{
        channel_free(p->a);
        channel_free(p->b);
}

static void answers_at_once(void **state)
{
        struct pair p = pair_new();
        char text[16];
        struct iovec iov[] = {{"ab", 2}, {"", 0}, {"cde", 3}};
        assert_int_equal(channel_read(p.b, text, sizeof(text)), -EAGAIN);
        assert_int_equal(channel_writev(p.a, iov, 3), 5);
        assert_int_equal(channel_read(p.b, text, sizeof(text)), 5);
        assert_memory_equal(text, "abcde", 5);
        assert_true(channel_ready(p.a));
        assert_int_equal(channel_events(p.a), 0);
        assert_false(channel_pending(p.a));
        assert_string_equal(channel_peer(p.a), "socket");
        channel_free(steal(p.a));
        assert_int_equal(channel_read(p.b, text, sizeof(text)), 0);
        ssize_t r = channel_writev(p.b, iov, 3); /* and no SIGPIPE */
        assert_int_equal(r, -EPIPE);
        assert_string_equal(channel_error(p.b), "Broken pipe");
        assert_int_equal(channel_read(p.b, text, sizeof(text)), -EPIPE);
        pair_free(&p);
}

static void *write_much(void *arg)
{
        struct channel *ch = arg;
        _cleanup_free_ uint8_t *data = mem_alloc(MUCH);
        for (size_t i = 0; i < MUCH; i++)
                data[i] = (uint8_t)(i * 7 >> 3);
        struct iovec iov[] = {{data, 1}, {data + 1, 100}, {data + 101, 0}, {data + 101, MUCH - 101}};
        intptr_t r = channel_writev_all(ch, iov, 4, 10 * SECOND, NULL, NULL);
        return (void *)r;
}

static void much_through_little(void **state)
{
        struct pair p = pair_new();
        pthread_t writer;
        void *r = NULL;
        _cleanup_free_ uint8_t *data = mem_alloc(MUCH);
        assert_int_equal(pthread_create(&writer, NULL, write_much, p.a), 0);
        assert_int_equal(channel_read_all(p.b, data, MUCH, 10 * SECOND, NULL, NULL), 0);
        pthread_join(writer, &r);
        assert_null(r);
        for (size_t i = 0; i < MUCH; i++)
                if (data[i] != (uint8_t)(i * 7 >> 3))
                        fail_msg("byte %zu differs", i);
        pair_free(&p);
}

static void waiting_ends(void **state)
{
        struct pair p = pair_new();
        struct fst_error error = FST_ERROR_INIT;
        char text[16];
        int stopped = 0;
        assert_int_equal(channel_read_all(p.a, text, 1, SECOND / 100, NULL, &error), -ETIMEDOUT);
        assert_non_null(strstr(error_message(&error), "nothing moved for 10 ms"));
        assert_int_equal(channel_read_all(p.a, text, 1, SECOND / 100, &stopped, &error), -ETIMEDOUT);
        stopped = 1;
        assert_int_equal(channel_read_all(p.a, text, 1, -1, &stopped, &error), -ECANCELED);
        struct iovec iov = {text, sizeof(text)};
        assert_int_equal(channel_writev_all(p.a, &iov, 1, -1, &stopped, &error), -ECANCELED);
        iov = (struct iovec){"abc", 3};
        assert_int_equal(channel_writev_all(p.a, &iov, 1, -1, NULL, &error), 0);
        channel_free(steal(p.a));
        assert_int_equal(channel_read_all(p.b, text, 5, SECOND, NULL, &error), -ECONNRESET);
        assert_non_null(strstr(error_message(&error), "2 bytes too early"));
        assert_memory_equal(text, "abc", 3);
        error_deinit(&error);
        pair_free(&p);
}

static void no_descriptor(void **state)
{
        struct channel *ch = NULL;
        struct fst_error error = FST_ERROR_INIT;
        assert_int_equal(channel_new(-1, NULL, CHANNEL_CLIENT, &ch, &error), -EBADF);
        assert_null(ch);
        error_deinit(&error);
        channel_free(NULL);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(answers_at_once),
                cmocka_unit_test(much_through_little),
                cmocka_unit_test(waiting_ends),
                cmocka_unit_test(no_descriptor),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
