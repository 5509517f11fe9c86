/* The legacy gateway's client against fake masters with scripted replies, each on its own thread. */
#include "submit/standalone/legacy_client.h"

#include "base/error.h"
#include "base/log.h"
#include "base/mem.h"
#include "standalone/wire/standalone_wire.h"
#include "submit/standalone/legacy_arguments.h"
#include "net/socket.h"
#include "rpc/rpc.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>
#include <uv.h>

// clang-format off
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
// clang-format on

#define TYPE(name) FIRESTEEL__STANDALONE__STANDALONE_TYPE__##name

struct gateway_master {
        pthread_t thread;
        uv_loop_t loop;
        uv_async_t end;
        struct rpc_env *env;
        int port;
        _Atomic int standby; /* requests that get this reply; negative: all */
        const char *refuses; /* launches, with this message */
        _Atomic bool held;   /* delays its reply */
        bool closed;
        _Atomic int launches;
        char heard[512]; /* of the last launch; read after the thread ended */
};

static void hear_launch(struct gateway_master *m, struct rpc_message *message)
{
        Firesteel__Standalone__SubmitDriver *s =
                firesteel__standalone__submit_driver__unpack(NULL, message->len, message->body);
        const Firesteel__Standalone__DriverDescription *d = s->driver;
        const Firesteel__Standalone__Command *c = d->command;
        size_t n = (size_t)snprintf(m->heard, sizeof(m->heard), "%u %s %d %lld %d %s", s->version->major, d->jar_url,
                                    d->cores, (long long)d->memory, d->supervise, c->main_class);
        for (size_t i = 0; i < c->n_arguments; i++)
                n += (size_t)snprintf(m->heard + n, sizeof(m->heard) - n, " %s", c->arguments[i]);
        for (size_t i = 0; i < c->n_properties; i++)
                if (strcmp(c->properties[i]->key, "spark.authenticate.secret") == 0)
                        snprintf(m->heard, sizeof(m->heard), "a secret");
        firesteel__standalone__submit_driver__free_unpacked(s, NULL);
        m->launches++;
}

static void answer_reply(struct gateway_master *m, struct rpc_message *message, bool standby)
{
        Firesteel__Standalone__DriverReply reply = FIRESTEEL__STANDALONE__DRIVER_REPLY__INIT;
        bool launch = message->type == TYPE(SUBMIT_DRIVER);
        reply.standby = standby;
        reply.success = !standby && !(launch && m->refuses);
        reply.driver_id = (char *)(launch && reply.success ? "driver-7" : "");
        reply.message = (char *)(launch && m->refuses ? m->refuses : launch ? "submitted" : "kill request submitted");
        if (launch && !standby)
                hear_launch(m, message);
        rpc_reply_packed(message, message->type, &reply.base, NULL);
}

static void receive(void *owner, struct rpc_message *message)
{
        struct gateway_master *m = owner;
        while (m->held)
                usleep(1000);
        bool standby = m->standby != 0;
        if (m->standby > 0)
                m->standby--;
        if (message->type != TYPE(DRIVER_STATUS)) {
                answer_reply(m, message, standby);
                return;
        }
        Firesteel__Standalone__DriverStatus status = FIRESTEEL__STANDALONE__DRIVER_STATUS__INIT;
        status.standby = standby;
        status.found = true;
        status.state = (char *)"RUNNING";
        status.worker_id = (char *)"worker-1";
        status.worker_host_port = (char *)"h:1";
        rpc_reply_packed(message, message->type, &status.base, NULL);
}

static const struct rpc_endpoint_class master_class = {.receive = receive};

static void on_closed(void *owner)
{
        ((struct gateway_master *)owner)->closed = true;
}

static void on_end(uv_async_t *async)
{
        struct gateway_master *m = async->data;
        rpc_env_close(m->env, 0, on_closed, m);
        uv_close((uv_handle_t *)async, NULL);
}

static void *run(void *master)
{
        uv_run(&((struct gateway_master *)master)->loop, UV_RUN_DEFAULT);
        return NULL;
}

static void master_start(struct gateway_master *m)
{
        struct rpc_options options;
        rpc_options_init(&options);
        options.name = STANDALONE_MASTER_ENV;
        uv_loop_init(&m->loop);
        uv_async_init(&m->loop, &m->end, on_end);
        m->end.data = m;
        assert_int_equal(rpc_env_new(&m->loop, &options, &m->env, NULL), 0);
        assert_int_equal(rpc_env_listen(m->env, "127.0.0.1", NULL, m->port, 0, NULL), 0);
        assert_int_equal(rpc_env_register(m->env, STANDALONE_MASTER_ENDPOINT, &master_class, m, NULL), 0);
        m->port = rpc_env_port(m->env);
        assert_int_equal(pthread_create(&m->thread, NULL, run, m), 0);
}

static void master_end(struct gateway_master *m)
{
        uv_async_send(&m->end);
        pthread_join(m->thread, NULL);
        assert_true(m->closed);
        assert_int_equal(uv_loop_close(&m->loop), 0);
}

static struct legacy_client *client_for(int first, int second, struct strmap *conf)
{
        struct legacy_client *c;
        _cleanup_free_ char *one = mem_printf("spark://127.0.0.1:%d", first);
        _cleanup_free_ char *masters = second ? mem_printf("%s,127.0.0.1:%d", one, second) : mem_strdup(one);
        log_set_level(LOG_OFF);
        assert_int_equal(legacy_client_new(masters, conf, &c, NULL), 0);
        return c;
}

static int launch(struct legacy_client *c, const struct strmap *conf, struct legacy_answer *answer,
                  struct fst_error *error)
{
        char *arguments[] = {(char *)"a", (char *)"b"};
        struct legacy_arguments words = {.masters = "spark://h:1",
                                         .url = "file:/x/app.so",
                                         .main_class = "start",
                                         .arguments = arguments,
                                         .n_arguments = 2,
                                         .cores = 2,
                                         .memory_mib = 300,
                                         .supervise = true};
        return legacy_client_launch(c, &words, conf, answer, error);
}

static void launches_queries_and_kills_drivers(void **state)
{
        struct gateway_master m = {0};
        _cleanup_(strmap_deinit) struct strmap conf = STRMAP_INIT;
        _cleanup_(legacy_answer_deinit) struct legacy_answer a = LEGACY_ANSWER_INIT, s = a, k = a;
        strmap_set(&conf, "spark.authenticate.secret", "nobody's");
        master_start(&m);
        struct legacy_client *c = client_for(m.port, 0, &conf);
        assert_int_equal(launch(c, &conf, &a, NULL), 0);
        assert_true(a.success);
        assert_string_equal(a.driver_id, "driver-7");
        assert_int_equal(legacy_client_status(c, "driver-7", &s, NULL), 0);
        assert_string_equal(s.state, "RUNNING");
        assert_string_equal(s.worker_host_port, "h:1");
        assert_int_equal(legacy_client_kill(c, "driver-7", &k, NULL), 0);
        assert_string_equal(k.message, "kill request submitted");
        legacy_client_free(c);
        master_end(&m);
        assert_string_equal(m.heard, "1 file:/x/app.so 2 300 1 org.apache.spark.deploy.worker.DriverWrapper "
                                     "{{WORKER_URL}} {{USER_JAR}} start a b");
        legacy_answer_deinit(&s);
        legacy_answer_deinit(&k);
}

static void waits_for_leader(void **state)
{
        struct gateway_master a = {.standby = -1}, b = {.standby = 2};
        _cleanup_(strmap_deinit) struct strmap conf = STRMAP_INIT;
        _cleanup_(legacy_answer_deinit) struct legacy_answer answer = LEGACY_ANSWER_INIT;
        master_start(&a);
        master_start(&b);
        struct legacy_client *c = client_for(a.port, b.port, &conf);
        assert_int_equal(launch(c, &conf, &answer, NULL), 0);
        assert_true(answer.success);
        legacy_client_free(c);
        master_end(&a);
        master_end(&b);
        assert_int_equal(a.launches, 0);
        assert_int_equal(b.launches, 1);
}

static void zero_timeout_does_not_wait_for_leader(void **state)
{
        struct gateway_master m = {.standby = -1};
        _cleanup_(strmap_deinit) struct strmap conf = STRMAP_INIT;
        _cleanup_(legacy_answer_deinit) struct legacy_answer answer = LEGACY_ANSWER_INIT;
        struct fst_error error = FST_ERROR_INIT;
        master_start(&m);
        struct legacy_client *c = client_for(m.port, 0, &conf);
        legacy_client_set_timeout(c, 0);
        assert_int_equal(launch(c, &conf, &answer, &error), -EAGAIN);
        assert_string_equal(error_message(&error), "No master is the leader now");
        legacy_client_free(c);
        master_end(&m);
        error_deinit(&error);
}

/* Nor does it affect a freed client. */
static void ignores_late_reply(void **state)
{
        struct gateway_master late = {.standby = -1, .held = true}, leader = {0};
        _cleanup_(strmap_deinit) struct strmap conf = STRMAP_INIT;
        _cleanup_(legacy_answer_deinit) struct legacy_answer answer = LEGACY_ANSWER_INIT;
        master_start(&late);
        master_start(&leader);
        struct legacy_client *c = client_for(late.port, leader.port, &conf);
        assert_int_equal(launch(c, &conf, &answer, NULL), 0);
        leader.standby = 1; /* keeps the client waiting for more than this reply */
        late.held = false;
        legacy_answer_deinit(&answer);
        assert_int_equal(legacy_client_status(c, "driver-7", &answer, NULL), 0);
        assert_string_equal(answer.state, "RUNNING");
        late.held = true;
        legacy_answer_deinit(&answer);
        assert_int_equal(legacy_client_status(c, "driver-7", &answer, NULL), 0);
        legacy_client_free(c);
        late.held = false;
        master_end(&late);
        master_end(&leader);
}

/* The closed connection received no part of the launch, so the launch need not fail. */
static void reconnects_to_restarted_master(void **state)
{
        struct gateway_master m = {0};
        _cleanup_(strmap_deinit) struct strmap conf = STRMAP_INIT;
        _cleanup_(legacy_answer_deinit) struct legacy_answer status = LEGACY_ANSWER_INIT, launched = status;
        master_start(&m);
        struct legacy_client *c = client_for(m.port, 0, &conf);
        assert_int_equal(legacy_client_status(c, "driver-7", &status, NULL), 0);
        master_end(&m);
        m.closed = false;
        master_start(&m);
        assert_int_equal(launch(c, &conf, &launched, NULL), 0);
        assert_true(launched.success);
        legacy_client_free(c);
        master_end(&m);
        assert_int_equal(m.launches, 1);
        legacy_answer_deinit(&launched);
}

static void tolerates_unreachable_standby(void **state)
{
        struct gateway_master gone = {0}, b = {0};
        _cleanup_(strmap_deinit) struct strmap conf = STRMAP_INIT;
        _cleanup_(legacy_answer_deinit) struct legacy_answer answer = LEGACY_ANSWER_INIT;
        struct fst_error error = FST_ERROR_INIT;
        master_start(&gone);
        master_end(&gone);
        master_start(&b);
        struct legacy_client *c = client_for(gone.port, b.port, &conf);
        assert_int_equal(legacy_client_status(c, "driver-7", &answer, NULL), 0);
        assert_true(answer.success);
        legacy_client_free(c);
        master_end(&b);
        c = client_for(gone.port, 0, &conf);
        legacy_answer_deinit(&answer);
        assert_int_equal(launch(c, &conf, &answer, &error), FST_LEGACY_E_NO_MASTER);
        assert_non_null(strstr(error_message(&error), "Connection refused"));
        legacy_client_free(c);
        error_deinit(&error);
}

static void reports_refusal_as_reply(void **state)
{
        struct gateway_master m = {.refuses = "no jars here"};
        _cleanup_(strmap_deinit) struct strmap conf = STRMAP_INIT;
        _cleanup_(legacy_answer_deinit) struct legacy_answer answer = LEGACY_ANSWER_INIT;
        master_start(&m);
        struct legacy_client *c = client_for(m.port, 0, &conf);
        assert_int_equal(launch(c, &conf, &answer, NULL), 0);
        assert_false(answer.success);
        assert_string_equal(answer.message, "no jars here");
        legacy_client_free(c);
        master_end(&m);
}

static void *set_soon(void *stopped)
{
        usleep(20000);
        __atomic_store_n((int *)stopped, 1, __ATOMIC_RELAXED);
        return NULL;
}

static void stopped_flag_ends_wait(void **state)
{
        struct gateway_master m = {.standby = -1};
        _cleanup_(strmap_deinit) struct strmap conf = STRMAP_INIT;
        _cleanup_(legacy_answer_deinit) struct legacy_answer answer = LEGACY_ANSWER_INIT;
        struct fst_error error = FST_ERROR_INIT;
        pthread_t thread;
        int stopped = 0;
        master_start(&m);
        struct legacy_client *c = client_for(m.port, 0, &conf);
        legacy_client_set_stopped(c, &stopped);
        assert_int_equal(pthread_create(&thread, NULL, set_soon, &stopped), 0);
        assert_int_equal(launch(c, &conf, &answer, &error), -ECANCELED);
        pthread_join(thread, NULL);
        legacy_client_free(c);
        master_end(&m);
        error_deinit(&error);
}

static void *close_connections(void *listener)
{
        int fd = -1;
        while (fd < 0)
                fd = socket_accept(*(int *)listener);
        char some[16];
        socket_wait(fd, 1 /* POLLIN */, -1, NULL);
        (void)!read(fd, some, sizeof(some));
        close(fd);
        return NULL;
}

/* Behaves like a genuine Spark master that received an unreadable message. */
static void names_port_of_other_server(void **state)
{
        struct listen_options options = {.service = "other", .host = "127.0.0.1"};
        _cleanup_(strmap_deinit) struct strmap conf = STRMAP_INIT;
        _cleanup_(legacy_answer_deinit) struct legacy_answer answer = LEGACY_ANSWER_INIT;
        struct fst_error error = FST_ERROR_INIT;
        pthread_t thread;
        int port, fd = socket_listen(&options, &port, NULL);
        assert_true(fd >= 0);
        assert_int_equal(pthread_create(&thread, NULL, close_connections, &fd), 0);
        struct legacy_client *c = client_for(port, 0, &conf);
        assert_int_equal(launch(c, &conf, &answer, &error), -EPROTO);
        assert_non_null(strstr(error_message(&error), "is not a Firesteel master"));
        pthread_join(thread, NULL);
        legacy_client_free(c);
        close(fd);
        error_deinit(&error);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(launches_queries_and_kills_drivers),
                cmocka_unit_test(waits_for_leader),
                cmocka_unit_test(zero_timeout_does_not_wait_for_leader),
                cmocka_unit_test(ignores_late_reply),
                cmocka_unit_test(reconnects_to_restarted_master),
                cmocka_unit_test(tolerates_unreachable_standby),
                cmocka_unit_test(reports_refusal_as_reply),
                cmocka_unit_test(stopped_flag_ends_wait),
                cmocka_unit_test(names_port_of_other_server),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
