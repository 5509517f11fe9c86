/* A client of Hadoop's RPC against servers on the same loop: fail-over, repeated calls, time limits, the end. */
#include "hadoop/rpc_client.h"

#include "hadoop/hadoop_rpc.pb-c.h"

#include "base/error.h"
#include "base/mem.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/socket.h>
#include <cmocka.h>

enum server_answer {
        SERVER_ANSWERS,
        SERVER_IS_STANDBY,
        SERVER_IS_BUSY,
        SERVER_THROWS,
        SERVER_REFUSES,
        SERVER_CLOSES,
        SERVER_IS_SILENT
};

/* Answers each call in one way; `turns` changes it to SERVER_ANSWERS after so many calls. */
struct server {
        uv_tcp_t listener;
        char address[32];
        enum server_answer answer;
        int turns, calls, last_retry;
        const char *refusal; /* the exception with SERVER_REFUSES */
        uv_tcp_t *peers[8];
        int n_peers;
        struct buf in[8];
};

static uv_loop_t loop;

static void on_server_written(uv_write_t *w, int status)
{
        free(w->data);
        free(w);
}

static void server_write(uv_tcp_t *peer, const char *bytes, size_t len)
{
        uv_write_t *w = new0(uv_write_t);
        char *copy = mem_alloc(len);
        memcpy(copy, bytes, len);
        w->data = copy;
        const uv_buf_t b = uv_buf_init(copy, (unsigned)len);
        uv_write(w, (uv_stream_t *)peer, &b, 1, on_server_written);
}

/* @status: 0 is an empty answer, 1 an exception, 2 one that ends the connection. */
static void server_reply(uv_tcp_t *peer, int call_id, int status, const char *exception)
{
        Firesteel__Hadoop__RpcResponseHeader h = FIRESTEEL__HADOOP__RPC_RESPONSE_HEADER__INIT;
        uint8_t bytes[512];
        h.call_id = (uint32_t)call_id;
        h.status = status;
        h.exception_class = (char *)exception;
        h.error_message = exception ? "because" : NULL;
        const size_t n = firesteel__hadoop__rpc_response_header__pack(&h, bytes + 5);
        bytes[0] = bytes[1] = bytes[2] = 0;
        bytes[3] = (uint8_t)(n + 1 + (exception ? 0 : 1));
        bytes[4] = (uint8_t)n;
        bytes[5 + n] = 0; /* an empty answer */
        server_write(peer, (const char *)bytes, 5 + n + (exception ? 0 : 1));
}

static void on_peer_closed(uv_handle_t *h)
{
        free(h);
}

static void server_drop(struct server *s, int i)
{
        if (s->peers[i])
                uv_close((uv_handle_t *)s->peers[i], on_peer_closed);
        s->peers[i] = NULL;
}

static void server_call(struct server *s, int i, const Firesteel__Hadoop__RpcRequestHeader *h)
{
        const enum server_answer answer = s->turns && s->calls >= s->turns ? SERVER_ANSWERS : s->answer;
        s->calls++;
        s->last_retry = h->retry_count;
        if (answer == SERVER_ANSWERS)
                server_reply(s->peers[i], h->call_id, 0, NULL);
        else if (answer == SERVER_IS_STANDBY)
                server_reply(s->peers[i], h->call_id, 1, "org.apache.hadoop.ipc.StandbyException");
        else if (answer == SERVER_IS_BUSY)
                server_reply(s->peers[i], h->call_id, 1, "org.apache.hadoop.ipc.RetriableException");
        else if (answer == SERVER_THROWS)
                server_reply(s->peers[i], h->call_id, 1, "org.example.NoQueueException");
        else if (answer == SERVER_REFUSES)
                server_reply(s->peers[i], -1, 2, s->refusal);
        else if (answer == SERVER_CLOSES)
                server_drop(s, i);
}

static void on_server_read(uv_stream_t *stream, ssize_t n, const uv_buf_t *bytes)
{
        struct server *s = stream->data;
        int i = 0;
        while (s->peers[i] != (uv_tcp_t *)stream)
                i++;
        if (n > 0)
                buf_append(&s->in[i], bytes->base, (size_t)n);
        free(bytes->base);
        if (n < 0) {
                server_drop(s, i);
                return;
        }
        size_t used = 0;
        if (s->in[i].len >= 7 && memcmp(s->in[i].data, "hrpc", 4) == 0)
                used = 7;
        while (s->peers[i] && s->in[i].len - used >= 4) {
                const uint8_t *p = (const uint8_t *)s->in[i].data + used;
                const size_t len = (size_t)p[2] << 8 | p[3];
                if (s->in[i].len - used - 4 < len)
                        break;
                Firesteel__Hadoop__RpcRequestHeader *h =
                        firesteel__hadoop__rpc_request_header__unpack(NULL, p[4], p + 5);
                if (h->call_id >= 0)
                        server_call(s, i, h);
                firesteel__hadoop__rpc_request_header__free_unpacked(h, NULL);
                used += 4 + len;
        }
        memmove(s->in[i].data, s->in[i].data + used, s->in[i].len - used);
        buf_truncate(&s->in[i], s->in[i].len - used);
}

static void on_server_alloc(uv_handle_t *h, size_t suggested, uv_buf_t *out)
{
        *out = uv_buf_init(mem_alloc(suggested), (unsigned)suggested);
}

static void on_server_connection(uv_stream_t *listener, int status)
{
        struct server *s = listener->data;
        uv_tcp_t *peer = new0(uv_tcp_t);
        uv_tcp_init(&loop, peer);
        peer->data = s;
        assert_true(s->n_peers < 8);
        s->peers[s->n_peers++] = peer;
        uv_accept(listener, (uv_stream_t *)peer);
        uv_read_start((uv_stream_t *)peer, on_server_alloc, on_server_read);
}

static void server_start(struct server *s, enum server_answer answer)
{
        struct sockaddr_in a;
        int len = sizeof(a);
        *s = (struct server){.answer = answer};
        uv_ip4_addr("127.0.0.1", 0, &a);
        uv_tcp_init(&loop, &s->listener);
        s->listener.data = s;
        uv_tcp_bind(&s->listener, (struct sockaddr *)&a, 0);
        assert_int_equal(uv_listen((uv_stream_t *)&s->listener, 8, on_server_connection), 0);
        uv_tcp_getsockname(&s->listener, (struct sockaddr *)&a, &len);
        snprintf(s->address, sizeof(s->address), "127.0.0.1:%d", ntohs(a.sin_port));
}

static void server_stop(struct server *s)
{
        uv_close((uv_handle_t *)&s->listener, NULL);
        for (int i = 0; i < s->n_peers; i++) {
                server_drop(s, i);
                buf_deinit(&s->in[i]);
        }
}

static struct hadoop_rpc_client *client_of(const char *const *addresses, size_t n, int64_t max_wait_ms,
                                           int64_t answer_timeout_ms)
{
        struct hadoop_rpc_client_options o = {
                .session = {.protocol = "org.example.P", .auth = HADOOP_RPC_SIMPLE, .user = "alice"},
                .addresses = addresses,
                .n_addresses = n,
                .service = "ResourceManager",
                .retry_ms = 5,
                .answer_timeout_ms = answer_timeout_ms,
                .max_wait_ms = max_wait_ms};
        struct hadoop_rpc_client *c;
        assert_int_equal(hadoop_rpc_client_new(&loop, &o, &c, NULL), 0);
        return c;
}

static int client_try(struct hadoop_rpc_client *c, struct fst_error *error)
{
        Firesteel__Hadoop__UserInformation m = FIRESTEEL__HADOOP__USER_INFORMATION__INIT;
        const struct hadoop_rpc_call call = {.method = "m", .answer = &firesteel__hadoop__user_information__descriptor};
        ProtobufCMessage *answer = NULL;
        const int r = hadoop_rpc_client_wait(c, &call, &m.base, &answer, error);
        protobuf_c_message_free_unpacked(answer, NULL);
        return r;
}

static void one_connection_serves_many_calls(void **state)
{
        struct server s;
        server_start(&s, SERVER_ANSWERS);
        const char *a[] = {s.address};
        struct hadoop_rpc_client *c = client_of(a, 1, 0, 0);
        for (int i = 0; i < 5; i++)
                assert_int_equal(client_try(c, NULL), 0);
        assert_int_equal(s.calls, 5);
        assert_int_equal(s.n_peers, 1);
        hadoop_rpc_client_free(c);
        server_stop(&s);
        uv_run(&loop, UV_RUN_DEFAULT);
}

static void a_standby_service_is_passed_over(void **state)
{
        struct server standby, active;
        server_start(&standby, SERVER_IS_STANDBY);
        server_start(&active, SERVER_ANSWERS);
        const char *a[] = {"127.0.0.1:1", standby.address, active.address};
        struct hadoop_rpc_client *c = client_of(a, 3, 0, 0);
        assert_int_equal(client_try(c, NULL), 0);
        assert_string_equal(hadoop_rpc_client_address(c), active.address);
        assert_int_equal(standby.calls, 1);
        assert_int_equal(client_try(c, NULL), 0);
        assert_int_equal(standby.calls, 1); /* it stays with the active one */
        hadoop_rpc_client_free(c);
        server_stop(&standby);
        server_stop(&active);
        uv_run(&loop, UV_RUN_DEFAULT);
}

static void a_call_is_sent_again_when_its_connection_breaks(void **state)
{
        struct server s;
        server_start(&s, SERVER_CLOSES);
        s.turns = 2;
        const char *a[] = {s.address};
        struct hadoop_rpc_client *c = client_of(a, 1, 20000, 0);
        assert_int_equal(client_try(c, NULL), 0);
        assert_int_equal(s.calls, 3);
        assert_int_equal(s.last_retry, 2);
        hadoop_rpc_client_free(c);
        server_stop(&s);
        uv_run(&loop, UV_RUN_DEFAULT);
}

static void on_cancelled(void *owner, struct hadoop_rpc_result *result)
{
        assert_int_equal(result->status, -ECANCELED);
        ++*(int *)owner;
}

static void cancelled_calls_end_and_later_ones_are_sent(void **state)
{
        struct server s;
        int n = 0;
        const Firesteel__Hadoop__UserInformation m = FIRESTEEL__HADOOP__USER_INFORMATION__INIT;
        const struct hadoop_rpc_call call = {.method = "m",
                                             .answer = &firesteel__hadoop__user_information__descriptor,
                                             .done = on_cancelled,
                                             .owner = &n};
        server_start(&s, SERVER_ANSWERS);
        const char *a[] = {s.address};
        struct hadoop_rpc_client *c = client_of(a, 1, 0, 0);
        hadoop_rpc_client_call(c, &call, &m.base);
        hadoop_rpc_client_call(c, &call, &m.base);
        hadoop_rpc_client_cancel(c);
        assert_int_equal(n, 2);
        assert_int_equal(client_try(c, NULL), 0);
        assert_int_equal(s.calls, 1);
        hadoop_rpc_client_free(c);
        server_stop(&s);
        uv_run(&loop, UV_RUN_DEFAULT);
}

static struct hadoop_rpc_client *client_with_long_pauses(const char *const *address)
{
        struct hadoop_rpc_client_options o = {
                .session = {.protocol = "org.example.P", .auth = HADOOP_RPC_SIMPLE, .user = "alice"},
                .addresses = address,
                .n_addresses = 1,
                .service = "ResourceManager",
                .retry_ms = 3600000,
                .max_wait_ms = 20};
        struct hadoop_rpc_client *c;
        assert_int_equal(hadoop_rpc_client_new(&loop, &o, &c, NULL), 0);
        return c;
}

static void an_idle_connection_that_was_closed_is_replaced_at_once(void **state)
{
        struct server s;
        server_start(&s, SERVER_ANSWERS);
        const char *a[] = {s.address};
        struct hadoop_rpc_client *c = client_with_long_pauses(a);
        assert_int_equal(client_try(c, NULL), 0);
        server_drop(&s, 0);
        assert_int_equal(client_try(c, NULL), 0);
        s.answer = SERVER_CLOSES; /* only the first of the next calls */
        s.turns = s.calls + 1;
        assert_int_equal(client_try(c, NULL), 0);
        assert_int_equal(s.n_peers, 3);
        hadoop_rpc_client_free(c);
        server_stop(&s);
        uv_run(&loop, UV_RUN_DEFAULT);
}

static void a_server_that_closes_each_connection_is_not_hurried(void **state)
{
        struct server s;
        server_start(&s, SERVER_ANSWERS);
        const char *a[] = {s.address};
        struct hadoop_rpc_client *c = client_with_long_pauses(a);
        assert_int_equal(client_try(c, NULL), 0);
        s.answer = SERVER_CLOSES;
        assert_int_equal(client_try(c, NULL), -ECONNRESET);
        assert_int_equal(s.n_peers, 2);
        hadoop_rpc_client_free(c);
        server_stop(&s);
        uv_run(&loop, UV_RUN_DEFAULT);
}

/* Closes the client's direction of its connection to @s, whose other side does not notice. */
static void server_stop_hearing(struct server *s)
{
        uv_read_stop((uv_stream_t *)s->peers[0]);
        for (int fd = 3; fd < 256; fd++) {
                struct sockaddr_in peer;
                socklen_t len = sizeof(peer);
                char text[32];
                if (getpeername(fd, (struct sockaddr *)&peer, &len) < 0 || peer.sin_family != AF_INET)
                        continue;
                snprintf(text, sizeof(text), "127.0.0.1:%d", ntohs(peer.sin_port));
                if (strcmp(text, s->address) == 0)
                        assert_int_equal(shutdown(fd, SHUT_WR), 0);
        }
}

static void a_failed_write_gives_the_connection_up(void **state)
{
        struct server s;
        struct sigaction ignore = {.sa_handler = SIG_IGN}, before;
        sigaction(SIGPIPE, &ignore, &before);
        server_start(&s, SERVER_ANSWERS);
        const char *a[] = {s.address};
        struct hadoop_rpc_client *c = client_of(a, 1, 20000, 0);
        assert_int_equal(client_try(c, NULL), 0);
        server_stop_hearing(&s);
        assert_int_equal(client_try(c, NULL), 0);
        assert_int_equal(s.n_peers, 2);
        hadoop_rpc_client_free(c);
        server_stop(&s);
        uv_run(&loop, UV_RUN_DEFAULT);
        sigaction(SIGPIPE, &before, NULL);
}

static int stop_flag;

static void on_stop_time(uv_timer_t *timer)
{
        __atomic_store_n(&stop_flag, 1, __ATOMIC_RELAXED);
        uv_close((uv_handle_t *)timer, NULL);
}

static void a_stopped_client_waits_no_longer(void **state)
{
        struct fst_error error = FST_ERROR_INIT;
        struct server s;
        uv_timer_t timer;
        server_start(&s, SERVER_IS_SILENT);
        const char *a[] = {s.address};
        struct hadoop_rpc_client *c = client_of(a, 1, -1, 0);
        hadoop_rpc_client_set_stopped(c, &stop_flag);
        uv_timer_init(&loop, &timer);
        uv_timer_start(&timer, on_stop_time, 20, 0);
        assert_int_equal(client_try(c, &error), -EINTR);
        assert_non_null(
                strstr(error_message(&error), "interrupted while waiting for the ResourceManager at 127.0.0.1:"));
        assert_int_equal(client_try(c, NULL), -EINTR);
        stop_flag = 0;
        error_deinit(&error);
        hadoop_rpc_client_free(c);
        server_stop(&s);
        uv_run(&loop, UV_RUN_DEFAULT);
}

/* The pause between attempts is longer than the wait. */
static void a_wait_ends_before_the_next_attempt(void **state)
{
        struct hadoop_rpc_client_options o = {
                .session = {.protocol = "org.example.P", .auth = HADOOP_RPC_SIMPLE, .user = "alice"},
                .addresses = (const char *[]){"127.0.0.1:1"},
                .n_addresses = 1,
                .service = "ResourceManager",
                .retry_ms = 3600000,
                .max_wait_ms = 3600000};
        struct hadoop_rpc_client *c;
        assert_int_equal(hadoop_rpc_client_new(&loop, &o, &c, NULL), 0);
        hadoop_rpc_client_limit_wait(c, 30);
        assert_int_equal(client_try(c, NULL), -ECONNREFUSED);
        hadoop_rpc_client_free(c);
        uv_run(&loop, UV_RUN_DEFAULT);
}

static void waits_without_limit(void **state)
{
        static const int64_t waits[] = {-1, INT64_MAX};
        for (size_t i = 0; i < ARRAY_SIZE(waits); i++) {
                struct server s;
                server_start(&s, SERVER_CLOSES);
                s.turns = 3;
                const char *a[] = {s.address};
                struct hadoop_rpc_client *c = client_of(a, 1, waits[i], -1);
                assert_int_equal(client_try(c, NULL), 0);
                assert_int_equal(s.calls, 4);
                hadoop_rpc_client_free(c);
                server_stop(&s);
                uv_run(&loop, UV_RUN_DEFAULT);
        }
}

static void rejects_a_client_without_its_token(void **state)
{
        static const char *const a[] = {"127.0.0.1:1"};
        _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
        struct hadoop_rpc_client_options o = {.session = {.protocol = "p", .auth = HADOOP_RPC_TOKEN},
                                              .addresses = a,
                                              .n_addresses = 1,
                                              .service = "NodeManager"};
        struct hadoop_rpc_client *c = NULL;
        assert_int_equal(hadoop_rpc_client_new(&loop, &o, &c, &error), -EINVAL);
        assert_non_null(strstr(error_message(&error), "no token for the NodeManager"));
}

static void a_thrown_exception_ends_the_call(void **state)
{
        struct server s;
        _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
        server_start(&s, SERVER_THROWS);
        const char *a[] = {s.address};
        struct hadoop_rpc_client *c = client_of(a, 1, 20000, 0);
        assert_int_equal(client_try(c, &error), -EREMOTEIO);
        assert_string_equal(error_message(&error), "NoQueueException: because");
        assert_int_equal(s.calls, 1);
        hadoop_rpc_client_free(c);
        server_stop(&s);
        uv_run(&loop, UV_RUN_DEFAULT);
}

static void a_busy_service_is_asked_again_after_a_pause(void **state)
{
        struct server s;
        _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
        server_start(&s, SERVER_IS_BUSY);
        s.turns = 2;
        const char *a[] = {s.address};
        struct hadoop_rpc_client *c = client_of(a, 1, 20000, 0);
        assert_int_equal(client_try(c, NULL), 0);
        assert_int_equal(s.calls, 3);
        assert_int_equal(s.last_retry, 2);
        assert_int_equal(s.n_peers, 1);
        hadoop_rpc_client_free(c);

        s.turns = s.calls = 0;
        c = client_of(a, 1, 100, 0);
        assert_int_equal(client_try(c, &error), -EREMOTEIO);
        assert_string_equal(error_message(&error), "RetriableException: because");
        assert_in_range(s.calls, 2, 20); /* at most one in 5 ms */
        hadoop_rpc_client_free(c);
        server_stop(&s);
        uv_run(&loop, UV_RUN_DEFAULT);
}

static void a_standby_service_may_refuse_the_client(void **state)
{
        static const char *const refusals[] = {"org.apache.hadoop.ipc.StandbyException",
                                               "org.apache.hadoop.ipc.RetriableException"};
        struct server standby, active;
        for (size_t i = 0; i < ARRAY_SIZE(refusals); i++) {
                server_start(&standby, SERVER_REFUSES);
                server_start(&active, SERVER_ANSWERS);
                standby.refusal = refusals[i];
                const char *a[] = {standby.address, active.address};
                struct hadoop_rpc_client *c = client_of(a, 2, 0, 0);
                assert_int_equal(client_try(c, NULL), 0);
                assert_int_equal(standby.calls, 1);
                hadoop_rpc_client_free(c);
                server_stop(&standby);
                server_stop(&active);
                uv_run(&loop, UV_RUN_DEFAULT);
        }
}

/* An owner that makes a failed call once more. */
struct persistent_owner {
        struct hadoop_rpc_client *client;
        int failed, answered;
};

static void owner_call(struct persistent_owner *o);

static void on_owner_done(void *owner, struct hadoop_rpc_result *result)
{
        struct persistent_owner *o = owner;
        if (result->status == 0)
                o->answered++;
        else if (o->failed++ < 100)
                owner_call(o);
        protobuf_c_message_free_unpacked(result->answer, NULL);
        if (o->answered == 2)
                uv_stop(&loop);
}

static void owner_call(struct persistent_owner *o)
{
        Firesteel__Hadoop__UserInformation m = FIRESTEEL__HADOOP__USER_INFORMATION__INIT;
        const struct hadoop_rpc_call call = {.method = "m",
                                             .answer = &firesteel__hadoop__user_information__descriptor,
                                             .done = on_owner_done,
                                             .owner = o};
        hadoop_rpc_client_call(o->client, &call, &m.base);
}

static void a_call_made_by_a_failed_one_is_tried(void **state)
{
        static const enum server_answer failures[] = {SERVER_REFUSES, SERVER_CLOSES};
        for (size_t i = 0; i < ARRAY_SIZE(failures); i++) {
                struct server s;
                server_start(&s, failures[i]);
                s.refusal = "org.apache.hadoop.security.AccessControlException";
                s.turns = i == 0 ? 2 : 1; /* a server that closes sees only the first of both calls */
                const char *a[] = {s.address};
                struct persistent_owner o = {.client = client_of(a, 1, 0, 0)};
                owner_call(&o);
                owner_call(&o);
                uv_run(&loop, UV_RUN_DEFAULT);
                assert_int_equal(o.answered, 2);
                assert_int_equal(o.failed, 2);
                hadoop_rpc_client_free(o.client);
                server_stop(&s);
                uv_run(&loop, UV_RUN_DEFAULT);
        }
}

static void an_unreachable_service_is_named(void **state)
{
        static const char *const a[] = {"127.0.0.1:1", "127.0.0.1:2"};
        _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
        struct hadoop_rpc_client *c = client_of(a, 2, 0, 0);
        assert_int_equal(client_try(c, &error), -ECONNREFUSED);
        assert_string_equal(error_message(&error),
                            "cannot reach the ResourceManager at 127.0.0.1:2: connection refused");
        hadoop_rpc_client_free(c);
        uv_run(&loop, UV_RUN_DEFAULT);
}

static void a_silent_service_is_given_up(void **state)
{
        struct server s;
        _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
        server_start(&s, SERVER_IS_SILENT);
        const char *a[] = {s.address};
        struct hadoop_rpc_client *c = client_of(a, 1, 0, 20);
        assert_int_equal(client_try(c, &error), -ETIMEDOUT);
        assert_non_null(strstr(error_message(&error), "no answer"));
        hadoop_rpc_client_free(c);
        server_stop(&s);
        uv_run(&loop, UV_RUN_DEFAULT);
}

static void on_unexpected_answer(void *owner, struct hadoop_rpc_result *result)
{
        fail_msg("a client that was freed has answered");
}

static void a_freed_client_drops_its_calls(void **state)
{
        struct server s;
        Firesteel__Hadoop__UserInformation m = FIRESTEEL__HADOOP__USER_INFORMATION__INIT;
        const struct hadoop_rpc_call call = {.method = "m",
                                             .answer = &firesteel__hadoop__user_information__descriptor,
                                             .done = on_unexpected_answer};
        server_start(&s, SERVER_ANSWERS);
        const char *a[] = {s.address, "host.invalid:1"};
        for (int turns = 0; turns < 6; turns++) { /* freed in each phase of connecting */
                struct hadoop_rpc_client *c = client_of(a + turns % 2, 1, 0, 0);
                hadoop_rpc_client_call(c, &call, &m.base);
                for (int i = 0; i < turns / 2; i++)
                        uv_run(&loop, UV_RUN_NOWAIT);
                hadoop_rpc_client_free(c);
        }
        server_stop(&s);
        uv_run(&loop, UV_RUN_DEFAULT);
}

/* ---------------------------------------------------------------------------------------- a host with two addresses */

/* Ports of "two.example" on 127.0.0.1; the first address has a family that cannot be connected to if `foreign`. */
static struct {
        int ports[2];
        bool foreign;
} two_addresses;

__attribute__((visibility("default"))) int getaddrinfo(const char *host, const char *port, const struct addrinfo *hints,
                                                       struct addrinfo **out)
{
        int (*real)(const char *, const char *, const struct addrinfo *, struct addrinfo **) =
                (__typeof__(real))dlsym(RTLD_NEXT, "getaddrinfo");
        char ports[2][8];
        struct addrinfo *second;
        if (!host || strcmp(host, "two.example") != 0)
                return real(host, port, hints, out);
        for (int i = 0; i < 2; i++)
                snprintf(ports[i], sizeof(ports[i]), "%d", two_addresses.ports[i]);
        if (real("127.0.0.1", ports[0], hints, out) != 0 || real("127.0.0.1", ports[1], hints, &second) != 0)
                return EAI_FAIL;
        if (two_addresses.foreign)
                (*out)->ai_addr->sa_family = AF_UNIX;
        (*out)->ai_next = second;
        return 0;
}

static int port_of(const char *address)
{
        return atoi(strchr(address, ':') + 1);
}

static void tries_the_next_address_when_a_host_has_several(void **state)
{
        static const char *const a[] = {"two.example:1"};
        struct server s;
        for (int foreign = 0; foreign < 2; foreign++) {
                server_start(&s, SERVER_ANSWERS);
                two_addresses.ports[0] = 1;
                two_addresses.ports[1] = port_of(s.address);
                two_addresses.foreign = foreign;
                struct hadoop_rpc_client *c = client_of(a, 1, 0, 0);
                assert_int_equal(client_try(c, NULL), 0);
                assert_int_equal(s.calls, 1);
                hadoop_rpc_client_free(c);
                server_stop(&s);
                uv_run(&loop, UV_RUN_DEFAULT);
        }
}

/* A listener whose queue is full: connections to it wait. Returns its port; the caller closes @fds. */
static int listener_start_full(int fds[5])
{
        struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
        socklen_t len = sizeof(a);
        fds[0] = socket(AF_INET, SOCK_STREAM, 0);
        assert_int_equal(bind(fds[0], (struct sockaddr *)&a, sizeof(a)), 0);
        assert_int_equal(listen(fds[0], 0), 0);
        assert_int_equal(getsockname(fds[0], (struct sockaddr *)&a, &len), 0);
        for (int i = 1; i < 5; i++) {
                fds[i] = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
                connect(fds[i], (struct sockaddr *)&a, sizeof(a));
        }
        return ntohs(a.sin_port);
}

static void tries_the_next_address_when_one_is_silent(void **state)
{
        static const char *const a[] = {"two.example:1"};
        struct server s;
        int fds[5];
        server_start(&s, SERVER_ANSWERS);
        two_addresses.ports[0] = listener_start_full(fds);
        two_addresses.ports[1] = port_of(s.address);
        two_addresses.foreign = false;
        struct hadoop_rpc_client_options o = {
                .session = {.protocol = "org.example.P", .auth = HADOOP_RPC_SIMPLE, .user = "alice"},
                .addresses = a,
                .n_addresses = 1,
                .service = "ResourceManager",
                .connect_timeout_ms = 300};
        struct hadoop_rpc_client *c;
        assert_int_equal(hadoop_rpc_client_new(&loop, &o, &c, NULL), 0);
        assert_int_equal(client_try(c, NULL), 0);
        hadoop_rpc_client_free(c);
        server_stop(&s);
        for (int i = 0; i < 5; i++)
                close(fds[i]);
        uv_run(&loop, UV_RUN_DEFAULT);
}

static int turns_until_freed;

static void on_turn_end(uv_check_t *check)
{
        if (turns_until_freed-- > 0)
                return;
        hadoop_rpc_client_free(check->data);
        uv_close((uv_handle_t *)check, NULL);
}

static void may_be_freed_between_two_addresses(void **state)
{
        static const char *const a[] = {"two.example:1"};
        Firesteel__Hadoop__UserInformation m = FIRESTEEL__HADOOP__USER_INFORMATION__INIT;
        const struct hadoop_rpc_call call = {.method = "m",
                                             .answer = &firesteel__hadoop__user_information__descriptor,
                                             .done = on_unexpected_answer};
        two_addresses.ports[0] = 1;
        two_addresses.ports[1] = 2;
        two_addresses.foreign = false;
        for (int turns = 0; turns < 5; turns++) { /* a check handle runs before handles are closed */
                uv_check_t check;
                struct hadoop_rpc_client *c = client_of(a, 1, 20000, 0);
                hadoop_rpc_client_call(c, &call, &m.base);
                uv_check_init(&loop, &check);
                check.data = c;
                turns_until_freed = turns;
                uv_check_start(&check, on_turn_end);
                uv_run(&loop, UV_RUN_DEFAULT);
        }
}

static void rejects_addresses_without_port(void **state)
{
        static const char *const a[] = {"rm.example.com"};
        _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
        struct hadoop_rpc_client_options o = {.session = {.protocol = "p"}, .addresses = a, .n_addresses = 1};
        struct hadoop_rpc_client *c = NULL;
        o.service = "ResourceManager";
        assert_int_equal(hadoop_rpc_client_new(&loop, &o, &c, &error), -EINVAL);
        assert_non_null(strstr(error_message(&error), "rm.example.com"));
        o.n_addresses = 0;
        assert_int_equal(hadoop_rpc_client_new(&loop, &o, &c, &error), -EINVAL);
        assert_null(c);
}

static int loop_open(void **state)
{
        return uv_loop_init(&loop);
}

static int loop_end(void **state)
{
        uv_run(&loop, UV_RUN_DEFAULT);
        return uv_loop_close(&loop);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(one_connection_serves_many_calls),
                cmocka_unit_test(a_standby_service_is_passed_over),
                cmocka_unit_test(a_call_is_sent_again_when_its_connection_breaks),
                cmocka_unit_test(cancelled_calls_end_and_later_ones_are_sent),
                cmocka_unit_test(an_idle_connection_that_was_closed_is_replaced_at_once),
                cmocka_unit_test(a_server_that_closes_each_connection_is_not_hurried),
                cmocka_unit_test(a_failed_write_gives_the_connection_up),
                cmocka_unit_test(a_stopped_client_waits_no_longer),
                cmocka_unit_test(a_wait_ends_before_the_next_attempt),
                cmocka_unit_test(waits_without_limit),
                cmocka_unit_test(rejects_a_client_without_its_token),
                cmocka_unit_test(a_thrown_exception_ends_the_call),
                cmocka_unit_test(a_busy_service_is_asked_again_after_a_pause),
                cmocka_unit_test(a_standby_service_may_refuse_the_client),
                cmocka_unit_test(a_call_made_by_a_failed_one_is_tried),
                cmocka_unit_test(an_unreachable_service_is_named),
                cmocka_unit_test(a_silent_service_is_given_up),
                cmocka_unit_test(a_freed_client_drops_its_calls),
                cmocka_unit_test(tries_the_next_address_when_a_host_has_several),
                cmocka_unit_test(tries_the_next_address_when_one_is_silent),
                cmocka_unit_test(may_be_freed_between_two_addresses),
                cmocka_unit_test(rejects_addresses_without_port),
        };
        return cmocka_run_group_tests(tests, loop_open, loop_end);
}
