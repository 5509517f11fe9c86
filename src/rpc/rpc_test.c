/*
 * Two envs on one loop, like a driver and an executor: messages, replies, refs in messages, losses, limits. All tests
 * run over plain connections, and again with a secret.
 */
#include "rpc/rpc.h"

#include "rpc/handshake.pb-c.h"

#include "base/log.h"
#include "base/mem.h"
#include "conf/conf.h"
#include "net/security.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <uv.h>

#include <cmocka.h>

#undef ECHO /* of a terminal */
enum { ECHO = 1, FAIL_IT, FORGET, LATER, CALL_BACK, COUNT, LARGE, TAKE };
enum { TIMEOUT_MS = 120000 }; /* order_is_kept takes 20 s with ThreadSanitizer at a load of 50 */

struct rpc_world {
        uv_loop_t loop;
        uv_timer_t limit;
        struct rpc_env *driver, *executor;
        struct rpc_ref *to_driver;
        int connected, disconnected, executor_disconnected, received, closed;
        char why[300];
        struct rpc_call *call;
        struct rpc_peer *peer; /* the executor, as the driver sees it; borrowed */
        struct rpc_ref *back;
        uint64_t last;
        bool in_order;
        uint8_t *taken;
        size_t taken_len;
        bool reply_seen, timed_out;
        struct rpc_answer answer; /* copied */
        char body[64], message[300];
        int answers;
};

static void driver_receive(void *owner, struct rpc_message *m)
{
        struct rpc_world *w = owner;
        uint64_t n;
        w->received++;
        w->peer = m->peer;
        switch (m->type) {
        case ECHO:
                assert_int_equal(rpc_reply(m, ECHO, m->body, m->len,
                                           &(struct rpc_attachment){.data = m->attachment, .len = m->attachment_len}),
                                 0);
                break;
        case FAIL_IT:
                rpc_fail(m, "executor %d is excluded", 7);
                break;
        case LATER:
                w->call = rpc_message_defer(m);
                break;
        case CALL_BACK: {
                _cleanup_free_ char *url = mem_strndup((const char *)m->body, m->len);
                assert_int_equal(rpc_ref_read(m, url, &w->back, NULL), 0);
                break;
        }
        case COUNT:
                memcpy(&n, m->body, sizeof(n));
                w->in_order = w->in_order && n == w->last + 1;
                w->last = n;
                break;
        case TAKE:
                w->taken_len = m->attachment_len;
                w->taken = rpc_message_take_attachment(m);
                break;
        default:
                break;
        }
}

static void driver_connected(void *owner, struct rpc_peer *peer)
{
        struct rpc_world *w = owner;
        w->connected++;
        w->peer = peer;
}

static void driver_disconnected(void *owner, struct rpc_peer *peer, const char *why)
{
        struct rpc_world *w = owner;
        w->disconnected++;
        assert_false(rpc_peer_connected(peer));
        snprintf(w->why, sizeof(w->why), "%s", why);
}

static void executor_receive(void *owner, struct rpc_message *m)
{
        struct rpc_world *w = owner;
        w->received += 100;
        if (m->ask)
                rpc_reply(m, m->type, "from the executor", 17, NULL);
}

static void executor_disconnected(void *owner, struct rpc_peer *peer, const char *why)
{
        struct rpc_world *w = owner;
        w->executor_disconnected++;
        snprintf(w->why, sizeof(w->why), "%s", why);
}

static const struct rpc_endpoint_class driver_class = {
        .receive = driver_receive, .connected = driver_connected, .disconnected = driver_disconnected};
static const struct rpc_endpoint_class executor_class = {.receive = executor_receive,
                                                         .disconnected = executor_disconnected};

static void answered(void *owner, struct rpc_answer *a)
{
        struct rpc_world *w = owner;
        w->answers++;
        w->answer = *a;
        snprintf(w->message, sizeof(w->message), "%s", a->message ? a->message : "");
        memset(w->body, 0, sizeof(w->body));
        if (a->len > 0)
                memcpy(w->body, a->body, MIN(a->len, sizeof(w->body) - 1));
        if (a->attachment) {
                w->taken = steal(a->attachment);
                w->taken_len = a->attachment_len;
        }
}

static void limit_reached(uv_timer_t *t)
{
        fail_msg("the loop did not come to where it should");
}

/* Runs the loop until @condition. */
#define RUN_UNTIL(w, condition)                                                                                        \
        do {                                                                                                           \
                uv_timer_start(&(w)->limit, limit_reached, TIMEOUT_MS, 0);                                             \
                while (!(condition))                                                                                   \
                        uv_run(&(w)->loop, UV_RUN_ONCE);                                                               \
                uv_timer_stop(&(w)->limit);                                                                            \
        } while (0)

static void turn(struct rpc_world *w)
{
        for (int i = 0; i < 10; i++)
                uv_run(&w->loop, UV_RUN_NOWAIT);
}

static struct security *secured; /* NULL: plain */

static struct rpc_options options_of(const char *name)
{
        struct rpc_options o;
        rpc_options_init(&o);
        o.name = name;
        o.security = secured;
        return o;
}

static struct rpc_world *world_with(const struct rpc_options *driver, const struct rpc_options *executor,
                                    const char *host)
{
        struct rpc_world *w = new0(struct rpc_world);
        log_set_level(LOG_OFF);
        w->in_order = true;
        uv_loop_init(&w->loop);
        uv_timer_init(&w->loop, &w->limit);
        assert_int_equal(rpc_env_new(&w->loop, driver, &w->driver, NULL), 0);
        assert_int_equal(rpc_env_new(&w->loop, executor, &w->executor, NULL), 0);
        assert_int_equal(rpc_env_register(w->driver, "Scheduler", &driver_class, w, NULL), 0);
        assert_int_equal(rpc_env_register(w->executor, "Executor", &executor_class, w, NULL), 0);
        assert_int_equal(rpc_env_listen(w->driver, host, NULL, 0, 0, NULL), 0);
        _cleanup_free_ char *url = mem_printf("spark://Scheduler@%s", rpc_env_address(w->driver));
        assert_int_equal(rpc_env_ref(w->executor, url, &w->to_driver, NULL), 0);
        return w;
}

static struct rpc_world *world_new(void)
{
        struct rpc_options d = options_of("sparkDriver"), e = options_of("sparkExecutor");
        return world_with(&d, &e, "127.0.0.1");
}

static void one_closed(void *owner)
{
        ((struct rpc_world *)owner)->closed++;
}

static void world_free(struct rpc_world *w)
{
        rpc_ref_unref(w->to_driver);
        rpc_ref_unref(w->back);
        rpc_env_close(w->executor, 0, one_closed, w);
        rpc_env_close(w->driver, 0, one_closed, w);
        RUN_UNTIL(w, w->closed == 2);
        uv_close((uv_handle_t *)&w->limit, NULL);
        uv_run(&w->loop, UV_RUN_DEFAULT);
        assert_int_equal(uv_loop_close(&w->loop), 0);
        free(w->taken);
        free(w);
}

static void ask_and_answer(void **state)
{
        struct rpc_world *w = world_new();
        assert_null(rpc_ref_peer(w->to_driver));
        assert_int_equal(rpc_ask(w->to_driver, ECHO, "hello", 5, NULL, 0, answered, w), 0);
        assert_int_equal(w->answers, 0); /* no callback runs inside a call */
        RUN_UNTIL(w, w->answers == 1);
        assert_int_equal(w->answer.status, 0);
        assert_string_equal(w->body, "hello");
        assert_int_equal(w->connected, 1);
        assert_non_null(rpc_ref_peer(w->to_driver));
        assert_string_equal(rpc_peer_address(rpc_ref_peer(w->to_driver)), rpc_env_address(w->driver));
        assert_string_equal(rpc_peer_address(w->peer), "");

        assert_int_equal(rpc_ask(w->to_driver, FAIL_IT, NULL, 0, NULL, 0, answered, w), 0);
        RUN_UNTIL(w, w->answers == 2);
        assert_int_equal(w->answer.status, FST_RPC_E_FAILED);
        assert_string_equal(w->message, "executor 7 is excluded");

        assert_int_equal(rpc_ask(w->to_driver, FORGET, NULL, 0, NULL, 0, answered, w), 0);
        RUN_UNTIL(w, w->answers == 3);
        assert_int_equal(w->answer.status, FST_RPC_E_FAILED);
        assert_non_null(strstr(w->message, "does not answer messages of type 3"));

        struct rpc_ref *nobody = rpc_peer_ref(rpc_ref_peer(w->to_driver), "Nobody");
        assert_int_equal(rpc_ask(nobody, ECHO, NULL, 0, NULL, 0, answered, w), 0);
        assert_int_equal(rpc_send(nobody, ECHO, NULL, 0, NULL), 0);
        RUN_UNTIL(w, w->answers == 4);
        assert_int_equal(w->answer.status, FST_RPC_E_NO_ENDPOINT);
        rpc_ref_unref(nobody);

        Firesteel__Rpc__Hello hello = FIRESTEEL__RPC__HELLO__INIT;
        hello.app_id = "packed";
        assert_int_equal(rpc_ask_packed(w->to_driver, ECHO, &hello.base, NULL, 0, answered, w), 0);
        RUN_UNTIL(w, w->answers == 5);
        Firesteel__Rpc__Hello *back = firesteel__rpc__hello__unpack(NULL, w->answer.len, (const uint8_t *)w->body);
        assert_non_null(back);
        assert_string_equal(back->app_id, "packed");
        firesteel__rpc__hello__free_unpacked(back, NULL);
        world_free(w);
}

static void answer_later(void **state)
{
        struct rpc_world *w = world_new();
        assert_int_equal(rpc_ask(w->to_driver, LATER, NULL, 0, NULL, 0, answered, w), 0);
        RUN_UNTIL(w, w->call);
        turn(w);
        assert_int_equal(w->answers, 0);
        assert_int_equal(rpc_call_reply(steal(w->call), LATER, "now", 3, NULL), 0);
        RUN_UNTIL(w, w->answers == 1);
        assert_string_equal(w->body, "now");
        assert_int_equal(rpc_ask(w->to_driver, LATER, NULL, 0, NULL, 0, answered, w), 0);
        RUN_UNTIL(w, w->call);
        rpc_peer_close(w->peer, "it is over");
        RUN_UNTIL(w, w->answers == 2 && w->disconnected == 1 && w->executor_disconnected == 1);
        assert_int_equal(w->answer.status, -ENOTCONN);
        assert_non_null(strstr(w->message, "it is over"));
        assert_int_equal(rpc_call_fail(steal(w->call), "too late"), -ENOTCONN);
        /* an address connects again */
        assert_int_equal(rpc_ask(w->to_driver, LATER, NULL, 0, NULL, 0, answered, w), 0);
        RUN_UNTIL(w, w->call);
        assert_int_equal(w->connected, 2);
        struct rpc_call *call = steal(w->call);
        world_free(w);
        assert_int_equal(rpc_call_fail(call, "the env is gone"), -ESHUTDOWN);
}

static void time_is_over(void **state)
{
        struct rpc_world *w = world_new();
        assert_int_equal(rpc_ask(w->to_driver, LATER, NULL, 0, NULL, 20, answered, w), 0);
        RUN_UNTIL(w, w->answers == 1);
        assert_int_equal(w->answer.status, -ETIMEDOUT);
        assert_non_null(strstr(w->message, "spark.rpc.askTimeout"));
        RUN_UNTIL(w, w->call);
        rpc_call_reply(steal(w->call), LATER, NULL, 0, NULL); /* dropped, and the connection stays */
        assert_int_equal(rpc_ask(w->to_driver, ECHO, "a", 1, NULL, 0, answered, w), 0);
        RUN_UNTIL(w, w->answers == 2);
        assert_int_equal(w->answer.status, 0);
        assert_int_equal(w->disconnected, 0);
        world_free(w);
}

static void refs_travel(void **state)
{
        struct rpc_world *w = world_new();
        struct rpc_ref *own = rpc_env_own_ref(w->executor, "Executor");
        assert_string_equal(rpc_ref_url(own), "spark-client://Executor");
        assert_int_equal(rpc_send(w->to_driver, CALL_BACK, rpc_ref_url(own), strlen(rpc_ref_url(own)), NULL), 0);
        RUN_UNTIL(w, w->back);
        assert_int_equal(rpc_ask(w->back, ECHO, NULL, 0, NULL, 0, answered, w), 0);
        RUN_UNTIL(w, w->answers == 1);
        assert_string_equal(w->body, "from the executor");
        rpc_ref_unref(own);
        /* it has only a connection */
        rpc_peer_close(w->peer, "over");
        RUN_UNTIL(w, w->disconnected == 1);
        assert_int_equal(rpc_send(w->back, ECHO, NULL, 0, NULL), -ENOTCONN);
        assert_int_equal(rpc_ask(w->back, ECHO, NULL, 0, NULL, 0, answered, w), -ENOTCONN);
        /* an own endpoint, by name and by address */
        own = rpc_env_own_ref(w->driver, "Scheduler");
        struct rpc_ref *by_address;
        assert_int_equal(rpc_env_ref(w->driver, rpc_ref_url(own), &by_address, NULL), 0);
        static const char attached[] = "attached";
        struct rpc_attachment a = {.data = attached, .len = sizeof(attached)};
        assert_int_equal(rpc_ask(own, ECHO, "mine", 4, &a, 0, answered, w), 0);
        assert_int_equal(rpc_ask(by_address, ECHO, "mine", 4, NULL, 0, answered, w), 0);
        assert_int_equal(w->answers, 1);
        RUN_UNTIL(w, w->answers == 3);
        assert_string_equal(w->body, "mine");
        assert_string_equal((char *)w->taken, "attached");
        assert_int_equal(w->connected, 1);
        rpc_ref_unref(own);
        rpc_ref_unref(by_address);
        struct fst_error error = FST_ERROR_INIT;
        static const char *const bad[] = {"",
                                          "Name",
                                          "spark://",
                                          "spark://Name",
                                          "spark://@h:1",
                                          "spark://N@h",
                                          "spark://N@h:0",
                                          "http://N@h:1",
                                          "spark://N@::1:5"};
        for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
                assert_int_equal(rpc_env_ref(w->driver, bad[i], &by_address, &error), -EINVAL);
        error_deinit(&error);
        world_free(w);
}

static void order_is_kept(void **state)
{
        struct rpc_world *w = world_new();
        uint8_t body[5000] = {0};
        for (uint64_t n = 1; n <= 20000; n++) {
                memcpy(body, &n, sizeof(n));
                assert_int_equal(rpc_send(w->to_driver, COUNT, body, n * 31 % 997 + 8, NULL), 0);
        }
        RUN_UNTIL(w, w->last == 20000);
        assert_true(w->in_order);
        assert_int_equal(w->received, 20000);
        world_free(w);
}

static void release_flag(void *arg, const void *data)
{
        ++*(int *)arg;
}

static void attachments(void **state)
{
        struct rpc_world *w = world_new();
        size_t len = 9 << 20;
        int released = 0;
        _cleanup_free_ uint8_t *data = mem_alloc(len);
        for (size_t i = 0; i < len; i++)
                data[i] = (uint8_t)(i * 31 >> 4);
        struct rpc_attachment a = {.data = data, .len = len, .release = release_flag, .arg = &released};
        assert_int_equal(rpc_send(w->to_driver, TAKE, "x", 1, &a), 0);
        RUN_UNTIL(w, w->taken);
        assert_int_equal(w->taken_len, len);
        assert_memory_equal(w->taken, data, len);
        free(steal(w->taken));
        RUN_UNTIL(w, released == 1);
        a = (struct rpc_attachment){.data = data, .len = 100000}; /* copied */
        assert_int_equal(rpc_ask(w->to_driver, ECHO, "x", 1, &a, 0, answered, w), 0);
        RUN_UNTIL(w, w->answers == 1);
        assert_int_equal(w->taken_len, 100000);
        assert_memory_equal(w->taken, data, 100000);
        world_free(w);
}

static void too_large(void **state)
{
        struct rpc_options d = options_of("sparkDriver"), e = options_of("sparkExecutor");
        int released = 0;
        d.max_message_bytes = e.max_message_bytes = 1 << 20;
        struct rpc_world *w = world_with(&d, &e, "127.0.0.1");
        _cleanup_free_ uint8_t *data = mem_zero(2 << 20);
        struct rpc_attachment a = {.data = data, .len = 1 << 20, .release = release_flag, .arg = &released};
        assert_int_equal(rpc_send(w->to_driver, LARGE, data, 1, &a), -EMSGSIZE);
        assert_int_equal(released, 1);
        assert_int_equal(rpc_send(w->to_driver, LARGE, data, (1 << 20) + 1, NULL), -EMSGSIZE);
        a.len = (1 << 20) - 1;
        assert_int_equal(rpc_send(w->to_driver, LARGE, data, 1, &a), 0); /* refused messages leave no gap */
        RUN_UNTIL(w, w->received == 1);
        assert_int_equal(w->disconnected, 0);
        world_free(w);
}

static void who_does_not_read(void **state)
{
        struct rpc_options d = options_of("sparkDriver"), e = options_of("sparkExecutor");
        e.max_queued_bytes = 1 << 20;
        struct rpc_world *w = world_with(&d, &e, "127.0.0.1");
        assert_int_equal(rpc_ask(w->to_driver, ECHO, "a", 1, NULL, 0, answered, w), 0);
        RUN_UNTIL(w, w->answers == 1);
        rpc_peer_pause(w->peer);
        uint8_t body[65536] = {0};
        int sent = 0, r;
        while ((r = rpc_send(w->to_driver, FORGET, body, sizeof(body), NULL)) == 0) {
                turn(w);
                assert_true(++sent < 2000);
        }
        assert_int_equal(r, -ENOBUFS);
        assert_int_equal(w->received, 1);
        RUN_UNTIL(w, w->executor_disconnected == 1);
        assert_non_null(strstr(w->why, "does not read"));
        rpc_peer_resume(w->peer); /* sent messages still arrive, then the end */
        RUN_UNTIL(w, w->disconnected == 1);
        assert_true(w->received > 1);
        world_free(w);
}

static void pause_and_resume(void **state)
{
        struct rpc_world *w = world_new();
        assert_int_equal(rpc_ask(w->to_driver, ECHO, "a", 1, NULL, 0, answered, w), 0);
        RUN_UNTIL(w, w->answers == 1);
        rpc_peer_pause(w->peer);
        rpc_peer_pause(w->peer);
        for (uint64_t n = 1; n <= 100; n++)
                assert_int_equal(rpc_send(w->to_driver, COUNT, &n, sizeof(n), NULL), 0);
        turn(w);
        rpc_peer_resume(w->peer);
        turn(w);
        assert_int_equal(w->received, 1);
        rpc_peer_resume(w->peer);
        RUN_UNTIL(w, w->last == 100);
        assert_true(w->in_order);
        world_free(w);
}

static void not_reached(void **state)
{
        struct rpc_world *w = world_new();
        struct rpc_ref *ref;
        _cleanup_free_ char *url = mem_printf("spark://Scheduler@127.0.0.1:%d", rpc_env_port(w->driver));
        rpc_env_close(w->driver, 0, one_closed, w);
        RUN_UNTIL(w, w->closed == 1);
        assert_int_equal(rpc_env_ref(w->executor, url, &ref, NULL), 0);
        assert_int_equal(rpc_ask(ref, ECHO, NULL, 0, NULL, 0, answered, w), 0);
        assert_int_equal(rpc_ask(ref, ECHO, NULL, 0, NULL, 0, answered, w), 0);
        RUN_UNTIL(w, w->answers == 2);
        assert_int_equal(w->answer.status, -ENOTCONN);
        assert_non_null(strstr(w->message, "Connection refused"));
        assert_int_equal(w->executor_disconnected, 0); /* never connected */
        rpc_ref_unref(ref);
        assert_int_equal(rpc_env_ref(w->executor, "spark://Scheduler@no-such-host.invalid:1", &ref, NULL), 0);
        assert_int_equal(rpc_ask(ref, ECHO, NULL, 0, NULL, 0, answered, w), 0);
        RUN_UNTIL(w, w->answers == 3);
        assert_non_null(strstr(w->message, "no-such-host.invalid"));
        rpc_ref_unref(ref);
        rpc_ref_unref(steal(w->to_driver));
        rpc_env_close(w->executor, 0, one_closed, w);
        RUN_UNTIL(w, w->closed == 2);
        uv_close((uv_handle_t *)&w->limit, NULL);
        uv_run(&w->loop, UV_RUN_DEFAULT);
        assert_int_equal(uv_loop_close(&w->loop), 0);
        free(w);
}

static void other_application(void **state)
{
        struct rpc_options d = options_of("sparkDriver"), e = options_of("sparkExecutor");
        d.app_id = "app-1";
        e.app_id = "app-2";
        struct rpc_world *w = world_with(&d, &e, "127.0.0.1");
        assert_int_equal(rpc_ask(w->to_driver, ECHO, NULL, 0, NULL, 0, answered, w), 0);
        RUN_UNTIL(w, w->answers == 1);
        assert_int_equal(w->answer.status, -ENOTCONN);
        assert_non_null(strstr(w->message, "app-2"));
        assert_non_null(strstr(w->message, "app-1"));
        assert_int_equal(w->connected + w->received, 0);
        world_free(w);
}

static void silence(void **state)
{
        struct rpc_options d = options_of("sparkDriver"), e = options_of("sparkExecutor");
        e.idle_timeout_ms = 120;
        struct rpc_world *w = world_with(&d, &e, "127.0.0.1");
        assert_int_equal(rpc_ask(w->to_driver, ECHO, NULL, 0, NULL, 0, answered, w), 0);
        RUN_UNTIL(w, w->answers == 1);
        uint64_t begin = uv_hrtime();
        RUN_UNTIL(w, uv_hrtime() - begin > 400 * 1000000ull); /* silent, but it answers pings */
        assert_int_equal(w->executor_disconnected, 0);
        rpc_peer_pause(w->peer); /* now it does not answer */
        RUN_UNTIL(w, w->executor_disconnected == 1);
        assert_non_null(strstr(w->why, "silent"));
        rpc_peer_resume(w->peer);
        world_free(w);
}

static void what_was_sent_is_written(void **state)
{
        struct rpc_world *w = world_new();
        assert_int_equal(rpc_ask(w->to_driver, ECHO, NULL, 0, NULL, 0, answered, w), 0);
        RUN_UNTIL(w, w->answers == 1);
        for (uint64_t n = 1; n <= 1000; n++)
                assert_int_equal(rpc_send(w->to_driver, COUNT, &n, sizeof(n), NULL), 0);
        rpc_env_close(w->executor, 5000, one_closed, w);
        assert_int_equal(rpc_send(w->to_driver, COUNT, "", 0, NULL), -ESHUTDOWN);
        RUN_UNTIL(w, w->closed == 1 && w->disconnected == 1);
        assert_int_equal(w->last, 1000);
        assert_true(w->in_order);
        rpc_ref_unref(steal(w->to_driver));
        rpc_env_close(w->driver, 0, one_closed, w);
        RUN_UNTIL(w, w->closed == 2);
        uv_close((uv_handle_t *)&w->limit, NULL);
        uv_run(&w->loop, UV_RUN_DEFAULT);
        assert_int_equal(uv_loop_close(&w->loop), 0);
        free(w);
}

static void names_and_families(void **state)
{
        struct rpc_world *w;
        struct rpc_options d = options_of("sparkDriver"), e = options_of("sparkExecutor");
        w = world_with(&d, &e, "localhost");
        assert_int_equal(rpc_ask(w->to_driver, ECHO, "by name", 7, NULL, 0, answered, w), 0);
        RUN_UNTIL(w, w->answers == 1);
        assert_string_equal(w->body, "by name");
        struct fst_error error = FST_ERROR_INIT;
        assert_int_equal(rpc_env_listen(w->driver, "127.0.0.1", NULL, 0, 0, &error), -EALREADY);
        assert_int_equal(rpc_env_register(w->driver, "Scheduler", &driver_class, w, &error), -EEXIST);
        int v6 = rpc_env_listen(w->executor, "::1", NULL, 0, 0, &error);
        if (v6 == 0) {
                assert_true(strncmp(rpc_env_address(w->executor), "[::1]:", 6) == 0);
                _cleanup_free_ char *url = mem_printf("spark://Executor@%s", rpc_env_address(w->executor));
                struct rpc_ref *ref;
                assert_int_equal(rpc_env_ref(w->driver, url, &ref, NULL), 0);
                assert_int_equal(rpc_ask(ref, ECHO, NULL, 0, NULL, 0, answered, w), 0);
                RUN_UNTIL(w, w->answers == 2);
                assert_string_equal(w->body, "from the executor");
                rpc_ref_unref(ref);
        }
        error_deinit(&error);
        world_free(w);
}

static void settings(void **state)
{
        struct fst_conf conf;
        struct rpc_options o;
        struct fst_error error = FST_ERROR_INIT;
        conf_init(&conf);
        rpc_options_init(&o);
        assert_int_equal(rpc_options_configure(&o, &conf, &error), 0);
        assert_int_equal(o.max_message_bytes, 128 << 20);
        assert_int_equal(o.ask_timeout_ms, 120000);
        assert_int_equal(o.greeting_timeout_ms, 30000);
        conf_set(&conf, "spark.network.timeout", "77s");
        conf_set(&conf, "spark.rpc.message.maxSize", "5");
        conf_set(&conf, "spark.rpc.lookupTimeout", "9");
        assert_int_equal(rpc_options_configure(&o, &conf, &error), 0);
        assert_int_equal(o.max_message_bytes, 5 << 20);
        assert_int_equal(o.ask_timeout_ms, 77000);
        assert_int_equal(o.idle_timeout_ms, 77000);
        assert_int_equal(o.lookup_timeout_ms, 9000);
        conf_set(&conf, "spark.rpc.askTimeout", "soon");
        assert_int_equal(rpc_options_configure(&o, &conf, &error), -EINVAL);
        assert_non_null(strstr(error_message(&error), "spark.rpc.askTimeout: \"soon\""));
        conf_set(&conf, "spark.rpc.askTimeout", "5s");
        conf_set(&conf, "spark.rpc.message.maxSize", "2048");
        assert_int_equal(rpc_options_configure(&o, &conf, &error), -EINVAL);
        error_deinit(&error);
        conf_deinit(&conf);
}

static int make_secret(void **state)
{
        struct fst_conf conf;
        conf_init(&conf);
        conf_set(&conf, "spark.authenticate", "true");
        conf_set(&conf, "spark.authenticate.secret", "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b");
        int r = security_new(&conf, "app", SECURITY_DRIVER, &secured, NULL);
        conf_deinit(&conf);
        return r;
}

static int forget_secret(void **state)
{
        security_free(steal(secured));
        return 0;
}

int main(void)
{
        const struct CMUnitTest plain_connections[] = {
                cmocka_unit_test(ask_and_answer),     cmocka_unit_test(answer_later),
                cmocka_unit_test(time_is_over),       cmocka_unit_test(refs_travel),
                cmocka_unit_test(order_is_kept),      cmocka_unit_test(attachments),
                cmocka_unit_test(too_large),          cmocka_unit_test(who_does_not_read),
                cmocka_unit_test(pause_and_resume),   cmocka_unit_test(not_reached),
                cmocka_unit_test(other_application),  cmocka_unit_test(silence),
                cmocka_unit_test(names_and_families), cmocka_unit_test(what_was_sent_is_written),
                cmocka_unit_test(settings),
        };
        const struct CMUnitTest *const secured_connections = plain_connections;
        int failed = cmocka_run_group_tests(plain_connections, NULL, NULL);
        return failed + _cmocka_run_group_tests("secured_connections", secured_connections,
                                                ARRAY_SIZE(plain_connections), make_secret, forget_secret);
}
