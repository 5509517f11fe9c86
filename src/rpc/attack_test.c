/*
 * Attacks on a driver's socket. Each is refused with one line in the log and gets as little information as possible. An
 * honest executor that is connected meanwhile, and one that connects later, work as usual.
 */
#include "rpc/rpc.h"

#include "rpc/frame.h"
#include "rpc/handshake.h"

#include "base/buf.h"
#include "base/log.h"
#include "base/mem.h"
#include "conf/conf.h"
#include "net/security.h"
#include "net/socket.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include <uv.h>

#include <cmocka.h>

#define GREETING_MS 300
#define STRANGERS 8

static struct {
        uv_loop_t loop;
        uv_timer_t tick; /* keeps loop iterations short */
        struct security *secured;
        struct rpc_env *driver, *executor;
        struct rpc_ref *to_driver;
        int received, connected, disconnected, answers, closed;
        int log_pipe, saved_stderr;
        char log[65536];
        size_t log_len;
} w;

static void receive(void *owner, struct rpc_message *m)
{
        w.received++;
        rpc_reply(m, m->type, m->body, m->len, NULL);
}

static void connected(void *owner, struct rpc_peer *peer)
{
        w.connected++;
}

static void disconnected(void *owner, struct rpc_peer *peer, const char *why)
{
        w.disconnected++;
}

static const struct rpc_endpoint_class cls = {.receive = receive, .connected = connected, .disconnected = disconnected};

static void answered(void *owner, struct rpc_answer *a)
{
        if (a->status != 0)
                fail_msg("%s", a->message);
        w.answers++;
}

static void on_tick(uv_timer_t *t)
{
}

static void read_log(void)
{
        ssize_t n;
        while ((n = read(w.log_pipe, w.log + w.log_len, sizeof(w.log) - 1 - w.log_len)) > 0)
                w.log_len += (size_t)n;
        w.log[w.log_len] = '\0';
}

static int log_lines(void)
{
        int n = 0;
        read_log();
        for (const char *p = w.log; (p = strchr(p, '\n')); p++)
                n++;
        return n;
}

static void turn_for(int ms)
{
        uint64_t end = uv_hrtime() + (uint64_t)ms * 1000000;
        do
                uv_run(&w.loop, UV_RUN_ONCE);
        while (uv_hrtime() < end);
}

static void honest_ask(struct rpc_ref *ref)
{
        uint64_t end = uv_hrtime() + 60000000000u;
        int before = w.answers;
        assert_int_equal(rpc_ask(ref, 1, "honest", 6, NULL, 0, answered, NULL), 0);
        while (w.answers == before) {
                assert_true(uv_hrtime() < end);
                uv_run(&w.loop, UV_RUN_ONCE);
        }
}

static struct rpc_env *env_new(const char *name)
{
        struct rpc_options o;
        struct rpc_env *env;
        rpc_options_init(&o);
        o.name = name;
        o.security = w.secured;
        o.greeting_timeout_ms = GREETING_MS;
        o.max_strangers = STRANGERS;
        o.max_message_bytes = 1 << 20;
        assert_int_equal(rpc_env_new(&w.loop, &o, &env, NULL), 0);
        return env;
}

static int begin(bool secured)
{
        int pipes[2];
        struct fst_conf conf;
        memset(&w, 0, sizeof(w));
        conf_init(&conf);
        if (secured) {
                conf_set(&conf, "spark.authenticate", "true");
                conf_set(&conf, "spark.authenticate.secret", "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b");
        }
        int r = security_new(&conf, "app", SECURITY_DRIVER, &w.secured, NULL);
        conf_deinit(&conf);
        if (r < 0 || pipe2(pipes, O_CLOEXEC | O_NONBLOCK) < 0)
                return -1;
        w.saved_stderr = dup(2);
        w.log_pipe = pipes[0];
        dup2(pipes[1], 2);
        close(pipes[1]);
        log_set_level(LOG_WARN);
        uv_loop_init(&w.loop);
        uv_timer_init(&w.loop, &w.tick);
        uv_timer_start(&w.tick, on_tick, 5, 5);
        w.driver = env_new("sparkDriver");
        w.executor = env_new("sparkExecutor");
        assert_int_equal(rpc_env_register(w.driver, "Scheduler", &cls, NULL, NULL), 0);
        assert_int_equal(rpc_env_listen(w.driver, "127.0.0.1", NULL, 0, 0, NULL), 0);
        _cleanup_free_ char *url = mem_printf("spark://Scheduler@%s", rpc_env_address(w.driver));
        assert_int_equal(rpc_env_ref(w.executor, url, &w.to_driver, NULL), 0);
        honest_ask(w.to_driver);
        return 0;
}

static int begin_plain(void **state)
{
        return begin(false);
}

static int begin_secured(void **state)
{
        return begin(true);
}

static void one_closed(void *owner)
{
        w.closed++;
}

static int end(void **state)
{
        rpc_ref_unref(w.to_driver);
        rpc_env_close(w.executor, 0, one_closed, NULL);
        rpc_env_close(w.driver, 0, one_closed, NULL);
        while (w.closed < 2)
                uv_run(&w.loop, UV_RUN_ONCE);
        uv_close((uv_handle_t *)&w.tick, NULL);
        uv_run(&w.loop, UV_RUN_DEFAULT);
        security_free(w.secured);
        read_log();
        dup2(w.saved_stderr, 2);
        close(w.saved_stderr);
        if (strstr(w.log, "ERROR   ]"))
                fputs(w.log, stderr);
        close(w.log_pipe);
        return uv_loop_close(&w.loop);
}

static int attacker(void)
{
        int fd = socket_connect("127.0.0.1", rpc_env_port(w.driver), 1000000000, NULL, NULL);
        assert_true(fd >= 0);
        return fd;
}

/* Returns the number of bytes received until the connection ended, or -1 if it did not end within @ms. */
static ssize_t told_until_end(int fd, char *text, size_t size, int ms)
{
        uint64_t until = uv_hrtime() + (uint64_t)ms * 1000000;
        size_t len = 0;
        while (uv_hrtime() < until) {
                uv_run(&w.loop, UV_RUN_ONCE);
                ssize_t n = recv(fd, text + len, size - 1 - len, 0);
                if (n > 0)
                        len += (size_t)n;
                if (n == 0 || (n < 0 && errno != EAGAIN)) {
                        text[len] = '\0';
                        return (ssize_t)len;
                }
        }
        return -1;
}

/* The state before an attack, and the check that an attack only added one line to the log. */
struct before {
        int received, connected, disconnected, lines;
};

static struct before before(void)
{
        return (struct before){w.received, w.connected, w.disconnected, log_lines()};
}

static void unharmed(struct before b, int greeted, const char *line)
{
        turn_for(20);
        for (int i = 0; i < 3000 && (w.disconnected - b.disconnected < greeted || (line && log_lines() == b.lines)); i++)
                turn_for(20);
        assert_int_equal(w.connected - b.connected, greeted);
        assert_int_equal(w.disconnected - b.disconnected, greeted);
        int lines = log_lines() - b.lines;
        if (lines != (line ? 1 : 0) || (line && !strstr(w.log, line)))
                fail_msg("%d lines, among which should be \"%s\": %s", lines, line ? line : "(none)", w.log);
        honest_ask(w.to_driver);
}

static void put_frame(struct buf *b, struct frame_header h, const void *body)
{
        uint8_t head[FRAME_HEADER_SIZE];
        h.checksum = frame_checksum(body, body ? h.body_len : 0, NULL, 0);
        frame_header_put(head, &h);
        buf_append(b, head, frame_header_size(h.kind));
        if (body)
                buf_append(b, body, h.body_len);
}

static void put_hello(struct buf *b, uint32_t version)
{
        struct hello h;
        _cleanup_(buf_deinit) struct buf body = BUF_INIT;
        hello_init(&h);
        h.version_low = h.version_high = version;
        h.max_message_bytes = 1 << 20;
        hello_encode(&h, &body);
        put_frame(b, (struct frame_header){.kind = FRAME_HELLO, .body_len = (uint32_t)body.len}, body.data);
}

static struct frame_header send_header(uint64_t id)
{
        return (struct frame_header){
                .kind = FRAME_SEND, .id = id, .type = 1, .endpoint = frame_endpoint("Scheduler"), .body_len = 3};
}

/* Sends bytes, which must be refused. Returns the received bytes. */
static const char *attack(const struct buf *b, int greeted, const char *line)
{
        static char told[65536];
        struct before state = before();
        int fd = attacker();
        for (size_t at = 0; at < b->len;) {
                ssize_t n = send(fd, b->data + at, b->len - at, MSG_NOSIGNAL);
                if (n < 0 && errno != EAGAIN)
                        break;
                at += n > 0 ? (size_t)n : 0;
                uv_run(&w.loop, UV_RUN_NOWAIT);
        }
        ssize_t n = told_until_end(fd, told, sizeof(told), 60000);
        assert_true(n >= 0);
        for (ssize_t i = 0; i < n; i++)
                told[i] = told[i] ? told[i] : ' ';
        close(fd);
        unharmed(state, greeted, line);
        return told;
}

static void garbage(void **state)
{
        _cleanup_(buf_deinit) struct buf b = BUF_INIT;
        buf_puts(&b, "GET /cgi-bin/luci HTTP/1.1\r\nHost: victim\r\n\r\n");
        assert_true(strlen(attack(&b, 0, w.secured ? "does not speak TLS" : "it speaks HTTP")) <= 7);
        buf_reset(&b);
        for (int i = 0; i < 100000; i++)
                buf_putc(&b, (char)(i * 7919 >> 3));
        assert_true(strlen(attack(&b, 0, "refused the connection from 127.0.0.1:")) <= 7);
}

static void hello_of_any_size(void **state)
{
        _cleanup_(buf_deinit) struct buf b = BUF_INIT;
        put_frame(&b, (struct frame_header){.kind = FRAME_HELLO, .body_len = 0xffffffff}, NULL);
        assert_string_equal(attack(&b, 0, "a handshake of 4294967295 bytes"), "");
        buf_reset(&b);
        put_frame(&b, (struct frame_header){.kind = FRAME_HELLO, .body_len = 20}, "aaaaaaaaaaaaaaaaaaaa");
        assert_string_equal(attack(&b, 0, "a malformed handshake"), "");
}

static void other_version(void **state)
{
        _cleanup_(buf_deinit) struct buf b = BUF_INIT;
        put_hello(&b, 77);
        const char *told = attack(&b, 0, "with version 77");
        assert_non_null(strstr(told, "version 77")); /* a Firesteel peer gets the reason */
        assert_non_null(strstr(told, "version 2"));
        assert_non_null(strstr(attack(&b, 0, NULL), "version 77")); /* logged once, however often it tries */
}

static void before_the_greeting(void **state)
{
        _cleanup_(buf_deinit) struct buf b = BUF_INIT;
        put_frame(&b, send_header(1), "abc");
        int received = w.received;
        attack(&b, 0, "a message before the handshake");
        assert_int_equal(w.received, received + 1); /* from the honest executor, later */
}

static void replayed(void **state)
{
        _cleanup_(buf_deinit) struct buf b = BUF_INIT;
        put_hello(&b, FRAME_VERSION);
        put_frame(&b, send_header(1), "abc");
        put_frame(&b, send_header(1), "abc");
        put_frame(&b, send_header(2), "abc");
        int received = w.received;
        assert_non_null(strstr(attack(&b, 1, "message 1 instead of 2"), "repeated"));
        assert_int_equal(w.received, received + 2); /* one attacker's, and the honest executor's */
}

static void oversized(void **state)
{
        _cleanup_(buf_deinit) struct buf b = BUF_INIT;
        put_hello(&b, FRAME_VERSION);
        struct frame_header h = send_header(1);
        h.attachment_len = 1ull << 62;
        put_frame(&b, h, "abc");
        attack(&b, 1, "spark.rpc.message.maxSize");
}

static void never_asked(void **state)
{
        _cleanup_(buf_deinit) struct buf b = BUF_INIT;
        put_hello(&b, FRAME_VERSION);
        put_frame(&b, (struct frame_header){.kind = FRAME_REPLY, .id = 1}, NULL);
        attack(&b, 1, "a reply without a request");
        buf_reset(&b);
        put_hello(&b, FRAME_VERSION);
        put_hello(&b, FRAME_VERSION);
        attack(&b, 1, "a second handshake");
}

static void truncated(void **state)
{
        _cleanup_(buf_deinit) struct buf b = BUF_INIT;
        put_hello(&b, FRAME_VERSION);
        put_frame(&b, send_header(1), "abc");
        struct before s = before();
        int fd = attacker();
        assert_int_equal(send(fd, b.data, b.len - 1, MSG_NOSIGNAL), (ssize_t)b.len - 1);
        turn_for(30);
        close(fd);
        unharmed(s, 1, "in the middle of a message");
}

static void silent(void **state)
{
        char told[64];
        struct before s = before();
        int fd = attacker();
        assert_int_equal(told_until_end(fd, told, sizeof(told), 60000), 0);
        close(fd);
        unharmed(s, 0, "spark.network.auth.rpcTimeout");
}

static void slow(void **state)
{
        _cleanup_(buf_deinit) struct buf b = BUF_INIT;
        char told[64];
        put_hello(&b, FRAME_VERSION);
        struct before s = before();
        int fd = attacker();
        ssize_t end_of_it = -1;
        for (size_t i = 0; i < b.len && end_of_it < 0; i++) { /* byte by byte, for longer than its timeout */
                (void)!send(fd, (w.secured ? "\x16\x03\x01\x01\x00\x01" : b.data) + (w.secured ? i % 6 : i), 1,
                            MSG_NOSIGNAL);
                end_of_it = told_until_end(fd, told, sizeof(told), GREETING_MS / 20);
                if (w.secured && i == 4)
                        break;
        }
        if (end_of_it < 0)
                end_of_it = told_until_end(fd, told, sizeof(told), 60000);
        assert_int_equal(end_of_it, 0);
        close(fd);
        unharmed(s, 0, "spark.network.auth.rpcTimeout");
}

static void crowd(void **state)
{
        int fds[5 * STRANGERS], lines = log_lines();
        for (size_t i = 0; i < ARRAY_SIZE(fds); i++)
                fds[i] = attacker();
        turn_for(20);
        honest_ask(w.to_driver); /* registered peers stay connected */
        struct rpc_env *late = env_new("late");
        struct rpc_ref *ref;
        _cleanup_free_ char *url = mem_printf("spark://Scheduler@%s", rpc_env_address(w.driver));
        assert_int_equal(rpc_env_ref(late, url, &ref, NULL), 0);
        int before = w.answers;
        uint64_t begin = uv_hrtime();
        while (w.answers == before) { /* its own timeout is as short as the driver's for unregistered peers */
                assert_true(uv_hrtime() - begin < 60000000000u);
                int r = rpc_ask(ref, 1, "late", 4, NULL, 60000, answered, NULL);
                assert_int_equal(r, 0);
                while (w.answers == before && uv_hrtime() - begin < 60000000000u)
                        uv_run(&w.loop, UV_RUN_ONCE);
        }
        rpc_ref_unref(ref);
        int closed = w.closed;
        rpc_env_close(late, 0, one_closed, NULL);
        while (w.closed == closed)
                uv_run(&w.loop, UV_RUN_ONCE);
        w.closed = closed;
        for (size_t i = 0; i < ARRAY_SIZE(fds); i++)
                close(fds[i]);
        turn_for(50);
        honest_ask(w.to_driver);
        assert_true(log_lines() - lines <= 12); /* not one line for each peer */
}

/* With a secret: valid frames are refused too, and the attacker gets at most a TLS alert. */
static void frames_without_secret(void **state)
{
        _cleanup_(buf_deinit) struct buf b = BUF_INIT;
        put_hello(&b, FRAME_VERSION);
        put_frame(&b, send_header(1), "abc");
        int received = w.received;
        assert_true(strlen(attack(&b, 0, "does not speak TLS")) <= 7);
        assert_int_equal(w.received, received + 1);
}

static void other_secret(void **state)
{
        struct fst_conf conf;
        struct security *wrong;
        struct rpc_options o;
        struct rpc_env *env;
        struct rpc_ref *ref;
        struct before s = before();
        conf_init(&conf);
        conf_set(&conf, "spark.authenticate", "true");
        conf_set(&conf, "spark.authenticate.secret", "0000111122223333444455556666777788889999");
        assert_int_equal(security_new(&conf, "app", SECURITY_EXECUTOR, &wrong, NULL), 0);
        conf_deinit(&conf);
        rpc_options_init(&o);
        o.security = wrong;
        assert_int_equal(rpc_env_new(&w.loop, &o, &env, NULL), 0);
        _cleanup_free_ char *url = mem_printf("spark://Scheduler@%s", rpc_env_address(w.driver));
        assert_int_equal(rpc_env_ref(env, url, &ref, NULL), 0);
        assert_int_equal(rpc_send(ref, 1, "x", 1, NULL), 0);
        for (int i = 0; i < 3000 && log_lines() - s.lines < 2; i++)
                turn_for(20);
        rpc_ref_unref(ref);
        rpc_env_close(env, 0, one_closed, NULL);
        while (w.closed == 0)
                uv_run(&w.loop, UV_RUN_ONCE);
        w.closed = 0;
        security_free(wrong);
        assert_int_equal(w.received, s.received);
        assert_int_equal(w.connected, s.connected);
        read_log();
        assert_non_null(strstr(w.log, "its secret is not this application's"));
        assert_non_null(strstr(w.log, "does not accept this application's secret"));
        assert_int_equal(log_lines() - s.lines, 2); /* one on each side */
        honest_ask(w.to_driver);
}

int main(void)
{
        const struct CMUnitTest plain[] = {
                cmocka_unit_test(garbage),       cmocka_unit_test(hello_of_any_size),
                cmocka_unit_test(other_version), cmocka_unit_test(before_the_greeting),
                cmocka_unit_test(replayed),      cmocka_unit_test(oversized),
                cmocka_unit_test(never_asked),   cmocka_unit_test(truncated),
                cmocka_unit_test(silent),        cmocka_unit_test(slow),
                cmocka_unit_test(crowd),
        };
        const struct CMUnitTest secured[] = {
                cmocka_unit_test(garbage),      cmocka_unit_test(frames_without_secret),
                cmocka_unit_test(other_secret), cmocka_unit_test(silent),
                cmocka_unit_test(slow),         cmocka_unit_test(crowd),
        };
        return cmocka_run_group_tests(plain, begin_plain, end) + cmocka_run_group_tests(secured, begin_secured, end);
}
