/* Tests the messages from an application to its launcher, and launchers that misbehave. */
#include "driver/backend/launcher_backend.h"

#include "base/error.h"
#include "base/mem.h"
#include "base/strmap.h"
#include "net/socket.h"

#include <poll.h>
#include <semaphore.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include <cmocka.h>

struct fake_launcher {
        int listener, fd;
        struct launcher_reader reader;
        struct strmap conf; /* for the application */
};

static void listen_at(struct fake_launcher *l)
{
        int port;
        char text[16];
        l->listener = socket_listen(&(struct listen_options){.service = "test", .host = "127.0.0.1"}, &port, NULL);
        assert_true(l->listener >= 0);
        snprintf(text, sizeof(text), "%d", port);
        strmap_set(&l->conf, "spark.launcher.port", text);
        strmap_set(&l->conf, "spark.launcher.secret", "s3cret");
        l->fd = -1;
}

static void accept_it(struct fake_launcher *l)
{
        assert_int_equal(socket_wait(l->listener, POLLIN, -1, NULL), 1);
        l->fd = socket_accept(l->listener);
        assert_true(l->fd >= 0);
}

static void release(struct fake_launcher *l)
{
        launcher_reader_deinit(&l->reader);
        strmap_deinit(&l->conf);
        close(l->listener);
        if (l->fd >= 0)
                close(l->fd);
}

/* Reads the next message. Returns false once the connection has ended. */
static bool read_message(struct fake_launcher *l, struct launcher_message *m)
{
        char data[64];
        int r;
        while ((r = launcher_reader_next(&l->reader, m, NULL)) == 0) {
                assert_true(socket_wait(l->fd, POLLIN, -1, NULL) >= 0);
                ssize_t n = recv(l->fd, data, sizeof(data), 0);
                if (n <= 0)
                        return false;
                launcher_reader_feed(&l->reader, data, (size_t)n);
        }
        assert_int_equal(r, 1);
        return true;
}

static void assert_next_message(struct fake_launcher *l, enum launcher_message_kind kind, const char *text,
                                enum launcher_state state)
{
        struct launcher_message m;
        assert_true(read_message(l, &m));
        assert_int_equal(m.kind, kind);
        if (text)
                assert_string_equal(m.text, text);
        assert_int_equal(m.state, state);
        launcher_message_deinit(&m);
}

static void hears_the_end(struct fake_launcher *l)
{
        struct launcher_message m;
        assert_false(read_message(l, &m));
        close(l->fd);
        l->fd = -1;
}

static void on_unexpected_stop(struct launcher_backend *b, void *context)
{
        fail();
}

static void on_stop(struct launcher_backend *b, void *context)
{
        launcher_backend_set_state(b, LAUNCHER_KILLED);
        sem_post(context);
}

static void reports_id_and_states(void **state)
{
        struct fake_launcher l = {0};
        struct launcher_backend *b;
        listen_at(&l);
        assert_int_equal(launcher_backend_connect(&l.conf, on_unexpected_stop, NULL, &b, NULL), 0);
        assert_non_null(b);
        accept_it(&l);
        launcher_backend_set_state(b, LAUNCHER_SUBMITTED);
        launcher_backend_set_app_id(b, "app-1");
        launcher_backend_set_state(b, LAUNCHER_RUNNING);
        launcher_backend_set_state(b, LAUNCHER_RUNNING);
        launcher_backend_set_state(b, LAUNCHER_FINISHED);
        launcher_backend_set_state(b, LAUNCHER_KILLED);
        assert_true(launcher_backend_is_connected(b));
        assert_next_message(&l, LAUNCHER_HELLO, "s3cret", LAUNCHER_UNKNOWN);
        assert_next_message(&l, LAUNCHER_SET_STATE, NULL, LAUNCHER_SUBMITTED);
        assert_next_message(&l, LAUNCHER_SET_APP_ID, "app-1", LAUNCHER_UNKNOWN);
        assert_next_message(&l, LAUNCHER_SET_STATE, NULL, LAUNCHER_RUNNING);
        assert_next_message(&l, LAUNCHER_SET_STATE, NULL, LAUNCHER_FINISHED);
        shutdown(l.fd, SHUT_WR); /* so that closing need not wait for the other end */
        launcher_backend_close(b);
        hears_the_end(&l);
        release(&l);
}

/* The last messages arrive although the launcher reads them later. */
static void close_delivers_last_messages(void **state)
{
        struct fake_launcher l = {0};
        struct launcher_backend *b;
        listen_at(&l);
        assert_int_equal(launcher_backend_connect(&l.conf, on_unexpected_stop, NULL, &b, NULL), 0);
        accept_it(&l);
        launcher_backend_set_state(b, LAUNCHER_FINISHED);
        launcher_backend_close(b);
        assert_next_message(&l, LAUNCHER_HELLO, "s3cret", LAUNCHER_UNKNOWN);
        assert_next_message(&l, LAUNCHER_SET_STATE, NULL, LAUNCHER_FINISHED);
        hears_the_end(&l);
        release(&l);
}

static void stop_is_called_once(void **state)
{
        struct fake_launcher l = {0};
        struct launcher_backend *b;
        struct launcher_writer w = LAUNCHER_WRITER_INIT;
        _cleanup_(buf_deinit) struct buf out = BUF_INIT;
        sem_t stopped;
        int times = -1;
        sem_init(&stopped, 0, 0);
        listen_at(&l);
        assert_int_equal(launcher_backend_connect(&l.conf, on_stop, &stopped, &b, NULL), 0);
        accept_it(&l);
        assert_next_message(&l, LAUNCHER_HELLO, "s3cret", LAUNCHER_UNKNOWN);
        for (int i = 0; i < 2; i++)
                launcher_writer_put(&w, &(struct launcher_message){.kind = LAUNCHER_STOP}, &out, NULL);
        assert_int_equal(send(l.fd, out.data, out.len, 0), out.len);
        assert_next_message(&l, LAUNCHER_SET_STATE, NULL, LAUNCHER_KILLED);
        shutdown(l.fd, SHUT_WR);
        launcher_backend_close(b);
        hears_the_end(&l);
        sem_getvalue(&stopped, &times);
        assert_int_equal(times, 1);
        release(&l);
}

static void continues_without_launcher(void **state)
{
        struct fake_launcher l = {0};
        struct launcher_backend *b;
        listen_at(&l);
        assert_int_equal(launcher_backend_connect(&l.conf, on_unexpected_stop, NULL, &b, NULL), 0);
        accept_it(&l);
        assert_next_message(&l, LAUNCHER_HELLO, "s3cret", LAUNCHER_UNKNOWN);
        shutdown(l.fd, SHUT_RDWR);
        close(l.fd);
        l.fd = -1;
        while (launcher_backend_is_connected(b))
                usleep(1000);
        launcher_backend_set_state(b, LAUNCHER_RUNNING);
        launcher_backend_set_app_id(b, "app-1");
        launcher_backend_close(b);
        release(&l);
}

/* The application ignores a launcher that sends anything but Stop, and continues. */
static void ignores_invalid_messages(void **state)
{
        static const char *const words[] = {"HTTP/1.0 400 Bad Request\r\n", "\xac\xed\0\5sr\0\x11java.util.HashMap"};
        for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
                struct fake_launcher l = {0};
                struct launcher_backend *b;
                listen_at(&l);
                assert_int_equal(launcher_backend_connect(&l.conf, on_unexpected_stop, NULL, &b, NULL), 0);
                accept_it(&l);
                assert_int_equal(send(l.fd, words[i], 25, 0), 25);
                while (launcher_backend_is_connected(b))
                        usleep(1000);
                launcher_backend_close(b);
                release(&l);
        }
}

static void connects_only_with_port_and_secret(void **state)
{
        struct strmap conf = STRMAP_INIT;
        struct launcher_backend *b = (struct launcher_backend *)1;
        unsetenv("_SPARK_LAUNCHER_PORT");
        unsetenv("_SPARK_LAUNCHER_SECRET");
        assert_int_equal(launcher_backend_connect(NULL, on_unexpected_stop, NULL, &b, NULL), 0);
        assert_null(b);
        strmap_set(&conf, "spark.launcher.port", "1234"); /* without a secret */
        assert_int_equal(launcher_backend_connect(&conf, on_unexpected_stop, NULL, &b, NULL), 0);
        assert_null(b);
        launcher_backend_set_state(b, LAUNCHER_RUNNING);
        launcher_backend_set_app_id(b, "app-1");
        assert_false(launcher_backend_is_connected(b));
        launcher_backend_close(b);
        strmap_deinit(&conf);
}

static void rejects_unreachable_launcher(void **state)
{
        static const char *const ports[] = {"", "0", "65536", "80x", "port", "-1"};
        struct fake_launcher l = {0};
        struct launcher_backend *b = NULL;
        struct fst_error error = FST_ERROR_INIT;
        for (size_t i = 0; i < ARRAY_SIZE(ports); i++) {
                setenv("_SPARK_LAUNCHER_PORT", ports[i], 1);
                setenv("_SPARK_LAUNCHER_SECRET", "s3cret", 1);
                assert_int_equal(launcher_backend_connect(NULL, on_unexpected_stop, NULL, &b, &error), -EINVAL);
                assert_non_null(strstr(error_message(&error), "must be a number from 1 to 65535"));
        }
        unsetenv("_SPARK_LAUNCHER_PORT");
        unsetenv("_SPARK_LAUNCHER_SECRET");
        listen_at(&l);
        close(l.listener);
        l.listener = -1;
        assert_true(launcher_backend_connect(&l.conf, on_unexpected_stop, NULL, &b, &error) < 0);
        assert_non_null(strstr(error_message(&error), "connecting to this application's launcher"));
        assert_null(b);
        error_deinit(&error);
        release(&l);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(reports_id_and_states),        cmocka_unit_test(close_delivers_last_messages),
                cmocka_unit_test(stop_is_called_once),          cmocka_unit_test(continues_without_launcher),
                cmocka_unit_test(ignores_invalid_messages),     cmocka_unit_test(connects_only_with_port_and_secret),
                cmocka_unit_test(rejects_unreachable_launcher),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
