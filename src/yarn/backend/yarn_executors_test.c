/* An ApplicationMaster against a ResourceManager on the same loop that answers from a script. */
#include "yarn/backend/yarn_executors.h"

#include "hadoop/hadoop_rpc.pb-c.h"

#include "base/error.h"
#include "base/mem.h"
#include "base/strmap.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <cmocka.h>

#define NOT_REGISTERED "org.apache.hadoop.yarn.exceptions.ApplicationMasterNotRegisteredException"
#define REGISTERED_ALREADY "org.apache.hadoop.yarn.exceptions.InvalidApplicationMasterRequestException"

/* The expected next call and its answer: an exception, or bytes. */
struct am_step {
        const char *method, *exception, *answer;
        size_t asks; /* that the call must have, if it is "allocate" */
};

struct manager {
        uv_tcp_t listener, peer;
        bool has_peer, greeted;
        struct buf in;
        const struct am_step *steps;
        size_t n_steps, done;
};

struct am {
        struct yarn_executors *x;
        struct manager *manager;
        int registered, failed, finished;
        int finish_after; /* registrations; 0: never */
        bool only_finish; /* it does not register first */
        bool wants;       /* an executor */
};

static uv_loop_t loop;

/* ---------------------------------------------------------------------------------------------- the ResourceManager */

static void on_manager_written(uv_write_t *w, int status)
{
        free(w->data);
        free(w);
}

static void manager_reply(struct manager *m, uint32_t call_id, const char *exception, const void *body, size_t len)
{
        Firesteel__Hadoop__RpcResponseHeader h = FIRESTEEL__HADOOP__RPC_RESPONSE_HEADER__INIT;
        uint8_t *bytes = mem_alloc(1024);
        h.call_id = call_id;
        h.status = exception ? 1 : 0;
        h.exception_class = (char *)exception;
        size_t n = firesteel__hadoop__rpc_response_header__pack(&h, bytes + 5);
        assert_true(n < 128 && len < 128);
        bytes[4] = (uint8_t)n;
        n += 5;
        if (!exception) {
                bytes[n++] = (uint8_t)len;
                memcpy(bytes + n, body, len);
                n += len;
        }
        bytes[0] = bytes[1] = 0;
        bytes[2] = (uint8_t)((n - 4) >> 8);
        bytes[3] = (uint8_t)(n - 4);
        uv_write_t *w = new0(uv_write_t);
        w->data = bytes;
        const uv_buf_t b = uv_buf_init((char *)bytes, (unsigned)n);
        uv_write(w, (uv_stream_t *)&m->peer, &b, 1, on_manager_written);
}

/* A delimited message at *p that is shorter than 128 bytes. */
static const uint8_t *delimited(const uint8_t **p, size_t *len)
{
        const uint8_t *start = *p + 1;
        *len = **p;
        assert_true(*len < 128);
        *p = start + *len;
        return start;
}

static void manager_take_frame(struct manager *m, const uint8_t *p)
{
        size_t len;
        const uint8_t *at = delimited(&p, &len);
        Firesteel__Hadoop__RpcRequestHeader *h = firesteel__hadoop__rpc_request_header__unpack(NULL, len, at);
        const int32_t id = h->call_id;
        firesteel__hadoop__rpc_request_header__free_unpacked(h, NULL);
        if (id == -33) /* without security: SUCCESS at once */
                manager_reply(m, (uint32_t)id, NULL, "\x10\x00", 2);
        if (id < 0)
                return;
        at = delimited(&p, &len);
        Firesteel__Hadoop__CallHeader *call = firesteel__hadoop__call_header__unpack(NULL, len, at);
        if (m->done == m->n_steps)
                fail_msg("one call too many: %s", call->method);
        const struct am_step *step = &m->steps[m->done++];
        assert_string_equal(call->method, step->method);
        firesteel__hadoop__call_header__free_unpacked(call, NULL);
        if (strcmp(step->method, "allocate") == 0) {
                at = delimited(&p, &len);
                Firesteel__Yarn__AllocateRequest *request = firesteel__yarn__allocate_request__unpack(NULL, len, at);
                assert_int_equal(request->n_ask, step->asks);
                firesteel__yarn__allocate_request__free_unpacked(request, NULL);
        }
        manager_reply(m, (uint32_t)id, step->exception, step->answer, step->answer ? strlen(step->answer) : 0);
}

static void on_manager_read(uv_stream_t *stream, ssize_t n, const uv_buf_t *bytes)
{
        struct manager *m = stream->data;
        if (n > 0)
                buf_append(&m->in, bytes->base, (size_t)n);
        free(bytes->base);
        if (n < 0) {
                uv_close((uv_handle_t *)stream, NULL);
                uv_close((uv_handle_t *)&m->listener, NULL);
                return;
        }
        size_t used = 0;
        if (!m->greeted && m->in.len >= 7) {
                m->greeted = true;
                used = 7;
        }
        while (m->greeted && m->in.len - used >= 4) {
                const uint8_t *p = (const uint8_t *)m->in.data + used;
                const size_t len = (size_t)p[2] << 8 | p[3];
                if (m->in.len - used - 4 < len)
                        break;
                manager_take_frame(m, p + 4);
                used += 4 + len;
        }
        memmove(m->in.data, m->in.data + used, m->in.len - used);
        buf_truncate(&m->in, m->in.len - used);
}

static void on_manager_alloc(uv_handle_t *h, size_t suggested, uv_buf_t *out)
{
        *out = uv_buf_init(mem_alloc(suggested), (unsigned)suggested);
}

static void on_manager_connection(uv_stream_t *listener, int status)
{
        struct manager *m = listener->data;
        assert_false(m->has_peer);
        m->has_peer = true;
        uv_tcp_init(&loop, &m->peer);
        m->peer.data = m;
        uv_accept(listener, (uv_stream_t *)&m->peer);
        uv_read_start((uv_stream_t *)&m->peer, on_manager_alloc, on_manager_read);
}

/* Returns its port. */
static int manager_start(struct manager *m, const struct am_step *steps, size_t n_steps)
{
        struct sockaddr_in a;
        int len = sizeof(a);
        *m = (struct manager){.steps = steps, .n_steps = n_steps};
        uv_ip4_addr("127.0.0.1", 0, &a);
        uv_tcp_init(&loop, &m->listener);
        m->listener.data = m;
        uv_tcp_bind(&m->listener, (struct sockaddr *)&a, 0);
        assert_int_equal(uv_listen((uv_stream_t *)&m->listener, 8, on_manager_connection), 0);
        uv_tcp_getsockname(&m->listener, (struct sockaddr *)&a, &len);
        return ntohs(a.sin_port);
}

/* -------------------------------------------------------------------------------------------- the ApplicationMaster */

static void am_finish(struct am *am)
{
        yarn_executors_finish(am->x, YARN_FINAL_SUCCEEDED, NULL);
}

static void on_am_registered(void *owner, int64_t memory_mb, int cores)
{
        struct am *am = owner;
        if (++am->registered == am->finish_after)
                am_finish(am);
}

static const Firesteel__Yarn__ContainerLaunchContext *on_am_launch(void *owner, const struct yarn_launch *launch)
{
        fail_msg("no container was granted");
        return NULL;
}

static void on_am_failed(void *owner, int exit_code, const char *message)
{
        struct am *am = owner;
        am->failed = exit_code;
        am_finish(am);
}

static void on_am_finished(void *owner)
{
        struct am *am = owner;
        am->finished++;
        yarn_executors_free(am->x);
}

static const struct yarn_executors_ops am_ops = {.registered = on_am_registered,
                                                 .launch_context = on_am_launch,
                                                 .failed = on_am_failed,
                                                 .finished = on_am_finished};

/* Runs an application through all of @steps. @finish_at_once: before the registration is answered. */
static void am_run(struct am *am, const struct am_step *steps, size_t n_steps, bool finish_at_once)
{
        struct manager manager;
        struct yarn_conf conf = {0};
        _cleanup_(strmap_deinit) struct strmap spark = {0};
        struct hadoop_token token = {.alias = "", .kind = "YARN_AM_RM_TOKEN", .service = ""};
        _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
        uv_loop_init(&loop);
        _cleanup_free_ char *address = mem_printf("127.0.0.1:%d", manager_start(&manager, steps, n_steps));
        strmap_set(&spark, "spark.hadoop.yarn.resourcemanager.scheduler.address", address);
        strmap_set(&spark, "spark.hadoop.ipc.client.fallback-to-simple-auth-allowed", "true");
        assert_int_equal(yarn_conf_load(&conf, &spark, (const char *(*)(const char *))getenv, &error), 0);
        const struct yarn_executors_options options = {.conf = &conf,
                                                       .token = &token,
                                                       .host = "localhost",
                                                       .heartbeat_ms = 5,
                                                       .initial_ms = 5,
                                                       .max_failures = 2,
                                                       .allocator = {.max_executor_failures = 2}};
        if (yarn_executors_new(&loop, &options, &am_ops, am, &am->x, &error) < 0)
                fail_msg("%s", error_message(&error));
        if (am->wants) {
                static const struct yarn_profile profile = {.memory_mb = 1024, .cores = 1, .tasks_per_executor = 1};
                static const struct yarn_target target = {.total = 1};
                yarn_executors_add_profile(am->x, &profile, NULL, 0);
                yarn_executors_set_targets(am->x, &target, 1);
        }
        if (am->only_finish)
                am_finish(am);
        else
                yarn_executors_register(am->x);
        if (finish_at_once) {
                uv_run(&loop, UV_RUN_NOWAIT); /* it begins to register */
                am_finish(am);
        }
        uv_run(&loop, UV_RUN_DEFAULT);
        assert_int_equal(uv_loop_close(&loop), 0);
        assert_int_equal(manager.done, n_steps);
        assert_int_equal(am->finished, 1);
        buf_deinit(&manager.in);
        yarn_conf_deinit(&conf);
}

static void an_end_after_a_restart_of_the_manager_registers_first(void **state)
{
        static const struct am_step steps[] = {
                {"registerApplicationMaster", NULL, ""},
                {"finishApplicationMaster", NOT_REGISTERED, NULL},
                {"registerApplicationMaster", NULL, ""},
                {"finishApplicationMaster", NULL, ""}, /* it stores the end first */
                {"finishApplicationMaster", NULL, "\x08\x01"},
        };
        struct am am = {.finish_after = 1};
        am_run(&am, steps, ARRAY_SIZE(steps), false);
        assert_int_equal(am.failed, 0);
}

static void a_refused_registration_while_finishing_is_the_end(void **state)
{
        static const struct am_step steps[] = {
                {"registerApplicationMaster", "org.apache.hadoop.yarn.exceptions.YarnException", NULL},
        };
        struct am am = {0};
        am_run(&am, steps, ARRAY_SIZE(steps), true);
        assert_int_equal(am.registered, 0);
        assert_int_equal(am.failed, 0);
}

static void an_end_while_another_thread_registers_is_sent_again(void **state)
{
        static const struct am_step steps[] = {
                {"finishApplicationMaster", NOT_REGISTERED, NULL},
                {"registerApplicationMaster", REGISTERED_ALREADY, NULL}, /* the other thread was first */
                {"finishApplicationMaster", NULL, "\x08\x01"},
        };
        struct am am = {.only_finish = true};
        am_run(&am, steps, ARRAY_SIZE(steps), false);
        assert_int_equal(am.failed, 0);
}

static void a_manager_that_forgot_the_application_is_registered_with_again(void **state)
{
        static const struct am_step steps[] = {
                {"registerApplicationMaster", NULL, ""},
                {"allocate", NULL, "\x10\x01"},
                {"allocate", NOT_REGISTERED, NULL},
                {"registerApplicationMaster", NULL, ""},
                {"finishApplicationMaster", NULL, "\x08\x01"},
        };
        struct am am = {.finish_after = 2};
        am_run(&am, steps, ARRAY_SIZE(steps), false);
        assert_int_equal(am.registered, 2);
        assert_int_equal(am.failed, 0);
}

static void heartbeats_that_fail_too_often_fail_the_application(void **state)
{
        static const struct am_step steps[] = {
                {"registerApplicationMaster", NULL, ""},
                {"allocate", "java.io.IOException", NULL},
                {"allocate", "java.io.IOException", NULL},
                {"finishApplicationMaster", NULL, "\x08\x01"},
        };
        struct am am = {0};
        am_run(&am, steps, ARRAY_SIZE(steps), false);
        assert_int_equal(am.failed, YARN_AM_EXIT_REPORTER_FAILURE);
}

static void a_request_whose_heartbeat_failed_is_sent_again(void **state)
{
        static const struct am_step steps[] = {
                {"registerApplicationMaster", NULL, ""},
                {"allocate", "java.io.IOException", NULL, .asks = 1},
                {"allocate", NULL, "\x10\x01", .asks = 1},
                {"allocate", NULL, "\x08\x02"}, /* the answer tells it to shut down */
                {"finishApplicationMaster", NULL, "\x08\x01"},
        };
        struct am am = {.wants = true};
        am_run(&am, steps, ARRAY_SIZE(steps), false);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(an_end_after_a_restart_of_the_manager_registers_first),
                cmocka_unit_test(a_refused_registration_while_finishing_is_the_end),
                cmocka_unit_test(an_end_while_another_thread_registers_is_sent_again),
                cmocka_unit_test(a_manager_that_forgot_the_application_is_registered_with_again),
                cmocka_unit_test(heartbeats_that_fail_too_often_fail_the_application),
                cmocka_unit_test(a_request_whose_heartbeat_failed_is_sent_again),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
