/* Calls of many threads over one connection, and the end of a thread whose service never answers. */
#include "hadoop/rpc_thread.h"

#include "hadoop/hadoop_rpc.pb-c.h"

#include "base/error.h"
#include "base/mem.h"
#include "net/socket.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>
#include <cmocka.h>

#define CALLERS 4
#define CALLS 100

/* A service on a thread of its own that accepts one connection, and answers each call with an empty message. */
struct service {
        int listener, connections;
        char address[32];
        bool silent;
        pthread_t thread;
};

static bool service_read(int fd, uint8_t *to, size_t n)
{
        for (ssize_t got; n > 0; to += got, n -= (size_t)got)
                if ((got = read(fd, to, n)) <= 0)
                        return false;
        return true;
}

static void service_answer(int fd, uint32_t call_id)
{
        Firesteel__Hadoop__RpcResponseHeader h = FIRESTEEL__HADOOP__RPC_RESPONSE_HEADER__INIT;
        uint8_t bytes[64] = {0};
        h.call_id = call_id;
        const size_t n = firesteel__hadoop__rpc_response_header__pack(&h, bytes + 5);
        bytes[3] = (uint8_t)(n + 2);
        bytes[4] = (uint8_t)n;
        assert_int_equal(send(fd, bytes, n + 6, MSG_NOSIGNAL), n + 6);
}

static void *service_main(void *context)
{
        struct service *s = context;
        uint8_t head[7], length[4], frame[1024];
        const int fd = accept(s->listener, NULL, NULL);
        s->connections += fd >= 0;
        if (fd < 0 || !service_read(fd, head, sizeof(head)))
                return NULL;
        while (service_read(fd, length, 4)) {
                const size_t len = (size_t)length[2] << 8 | length[3];
                assert_true(len <= sizeof(frame) && service_read(fd, frame, len));
                Firesteel__Hadoop__RpcRequestHeader *h =
                        firesteel__hadoop__rpc_request_header__unpack(NULL, frame[0], frame + 1);
                if (h->call_id >= 0 && !s->silent)
                        service_answer(fd, (uint32_t)h->call_id);
                firesteel__hadoop__rpc_request_header__free_unpacked(h, NULL);
        }
        close(fd);
        return NULL;
}

static void service_start(struct service *s, bool silent)
{
        struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr = {.s_addr = htonl(INADDR_LOOPBACK)}};
        socklen_t len = sizeof(a);
        *s = (struct service){.silent = silent, .listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
        assert_int_equal(bind(s->listener, (struct sockaddr *)&a, sizeof(a)), 0);
        assert_int_equal(listen(s->listener, 8), 0);
        getsockname(s->listener, (struct sockaddr *)&a, &len);
        snprintf(s->address, sizeof(s->address), "127.0.0.1:%d", ntohs(a.sin_port));
        assert_int_equal(pthread_create(&s->thread, NULL, service_main, s), 0);
}

static void service_stop(struct service *s)
{
        pthread_join(s->thread, NULL); /* its peer has closed */
        close(s->listener);
}

static int service_connect(void *owner, uv_loop_t *on, struct hadoop_rpc_client **out, struct fst_error *error)
{
        const struct service *s = owner;
        const char *address = s->address;
        const struct hadoop_rpc_client_options o = {
                .session = {.protocol = "org.example.P", .auth = HADOOP_RPC_SIMPLE, .user = "alice"},
                .addresses = &address,
                .n_addresses = *s->address ? 1 : 0,
                .service = "ResourceManager"};
        return hadoop_rpc_client_new(on, &o, out, error);
}

/* Counts the calls that have ended. */
struct ended_calls {
        pthread_mutex_t lock;
        pthread_cond_t changed;
        struct hadoop_rpc_thread *thread;
        int n, status;
        int more; /* calls that `done` makes */
};

static void on_call_ended(void *owner, struct hadoop_rpc_result *result);

static void call_once(struct ended_calls *e)
{
        struct buf nothing = BUF_INIT;
        hadoop_rpc_thread_call(e->thread,
                               &(struct hadoop_rpc_call){.method = "m",
                                                         .answer = &firesteel__hadoop__user_information__descriptor,
                                                         .done = on_call_ended,
                                                         .owner = e},
                               &nothing);
}

static void on_call_ended(void *owner, struct hadoop_rpc_result *result)
{
        struct ended_calls *e = owner;
        protobuf_c_message_free_unpacked(result->answer, NULL);
        pthread_mutex_lock(&e->lock);
        e->n++;
        e->status = result->status;
        const bool again = e->more > 0 && e->more--;
        pthread_cond_broadcast(&e->changed);
        pthread_mutex_unlock(&e->lock);
        if (again)
                call_once(e);
}

static void *caller_main(void *context)
{
        for (int i = 0; i < CALLS; i++)
                call_once(context);
        return NULL;
}

static void calls_of_all_threads_share_a_connection(void **state)
{
        struct service s;
        struct ended_calls e = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER, .more = 10};
        pthread_t callers[CALLERS];
        service_start(&s, false);
        assert_int_equal(hadoop_rpc_thread_new(service_connect, &s, &e.thread, NULL), 0);
        for (int i = 0; i < CALLERS; i++)
                pthread_create(&callers[i], NULL, caller_main, &e);
        for (int i = 0; i < CALLERS; i++)
                pthread_join(callers[i], NULL);
        pthread_mutex_lock(&e.lock);
        while (e.n < CALLERS * CALLS + 10)
                pthread_cond_wait(&e.changed, &e.lock);
        pthread_mutex_unlock(&e.lock);
        assert_int_equal(e.status, 0);
        hadoop_rpc_thread_free(e.thread);
        assert_int_equal(e.n, CALLERS * CALLS + 10);
        service_stop(&s);
        assert_int_equal(s.connections, 1);
}

/* Also those that `done` makes meanwhile. */
static void calls_without_an_answer_end_with_the_thread(void **state)
{
        struct service s;
        struct ended_calls e = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER, .more = 3};
        service_start(&s, true);
        assert_int_equal(hadoop_rpc_thread_new(service_connect, &s, &e.thread, NULL), 0);
        call_once(&e);
        call_once(&e);
        hadoop_rpc_thread_free(e.thread);
        assert_int_equal(e.n, 5);
        assert_int_equal(e.status, -ECANCELED);
        shutdown(s.listener, SHUT_RDWR); /* if it never connected */
        service_stop(&s);
}

static void a_client_that_cannot_be_made_is_no_thread(void **state)
{
        struct service s = {0};
        struct hadoop_rpc_thread *t = NULL;
        _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
        assert_int_equal(hadoop_rpc_thread_new(service_connect, &s, &t, &error), -EINVAL);
        assert_null(t);
        assert_string_equal(error_message(&error), "no address of the ResourceManager");
        hadoop_rpc_thread_free(NULL);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(calls_of_all_threads_share_a_connection),
                cmocka_unit_test(calls_without_an_answer_end_with_the_thread),
                cmocka_unit_test(a_client_that_cannot_be_made_is_no_thread),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
