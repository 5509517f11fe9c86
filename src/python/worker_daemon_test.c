/* Texts from Python processes: sizes at the borders of what is read at once, texts that end early or are too long. */
#include "python/worker_daemon.h"

#include "base/buf.h"
#include "base/mem.h"
#include "python/worker_task.h"
#include "unit/cases.h"

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <cmocka.h>

enum { PART = 65536, TIMEOUT_MS = 60000 };

/* A peer that writes a length and @len bytes, and closes. */
struct peer {
        int fd;
        int32_t announced;
        size_t len;
};

static char peer_byte(size_t i)
{
        return (char)('a' + i % 23);
}

static void *peer_write(void *data)
{
        const struct peer *p = data;
        _cleanup_(buf_deinit) struct buf out = BUF_INIT;
        python_put_int(&out, p->announced);
        for (size_t i = 0; i < p->len; i++)
                buf_putc(&out, peer_byte(i));
        assert_int_equal(python_write(p->fd, out.data, out.len, TIMEOUT_MS, NULL), 0);
        close(p->fd);
        return NULL;
}

/* Reads a text of at most @most bytes that such a peer sends, behind what @text has. */
static int read_from_peer(int32_t announced, size_t len, size_t most, struct buf *text)
{
        int fds[2];
        assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
        struct peer peer = {fds[1], announced, len};
        pthread_t thread;
        assert_int_equal(pthread_create(&thread, NULL, peer_write, &peer), 0);
        int r = python_read_text(fds[0], most, TIMEOUT_MS, NULL, text);
        pthread_join(thread, NULL);
        close(fds[0]);
        return r;
}

static void texts_arrive_whole(void **state)
{
        (void)state;
        static const size_t sizes[] = {0, 1, PART - 1, PART, PART + 1, 2 * PART, 4 * PART, 4 * PART + 1, 1000003};
        for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
                _cleanup_(buf_deinit) struct buf text = BUF_INIT;
                buf_puts(&text, "before");
                assert_int_equal(read_from_peer((int32_t)sizes[i], sizes[i], 1000003, &text), 0);
                assert_int_equal(text.len, 6 + sizes[i]);
                assert_memory_equal(text.data, "before", 6);
                for (size_t j = 0; j < sizes[i]; j++)
                        assert_int_equal(text.data[6 + j], peer_byte(j));
                assert_int_equal(text.data[text.len], 0);
        }
}

static void empty_text_is_a_string(void **state)
{
        (void)state;
        _cleanup_(buf_deinit) struct buf text = BUF_INIT;
        assert_int_equal(read_from_peer(0, 0, 10, &text), 0);
        assert_string_equal(text.data, "");
}

static void lengths_out_of_range_are_refused(void **state)
{
        (void)state;
        _cleanup_(buf_deinit) struct buf text = BUF_INIT;
        assert_int_equal(read_from_peer(-1, 0, 10, &text), -EBADMSG);
        assert_int_equal(read_from_peer(11, 11, 10, &text), -EBADMSG);
        assert_int_equal(text.len, 0);
}

static void announced_bytes_are_not_reserved(void **state)
{
        (void)state;
        static const size_t sent[] = {0, 10, PART + 10};
        for (size_t i = 0; i < ARRAY_SIZE(sent); i++) {
                _cleanup_(buf_deinit) struct buf text = BUF_INIT;
                assert_int_equal(read_from_peer(256 << 20, sent[i], 256 << 20, &text), -EPIPE);
                assert_true(text.cap <= 4 * PART);
        }
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(texts_arrive_whole),
                cmocka_unit_test(empty_text_is_a_string),
                cmocka_unit_test(lengths_out_of_range_are_refused),
                cmocka_unit_test(announced_bytes_are_not_reserved),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
