/* An application's client against fake masters, on one loop and over real connections. */
#include "standalone/client/app_client.h"

#include "base/error.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/vec.h"
#include "conf/conf.h"
#include "net/socket.h"
#include "rpc/rpc.h"

#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

// clang-format off
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
// clang-format on

#define TYPE(name) FIRESTEEL__STANDALONE__STANDALONE_TYPE__##name

struct app_client_world {
        uv_loop_t loop;
        struct fst_conf conf;
        struct app_client *client;
        char told[1024]; /* operations called by the client, a word each */
        char reason[512];
        char remedy[512];
        bool stopped;
};

/* ------------------------------------------------------------------------------------------------------ a master */

struct app_client_master {
        struct app_client_world *world;
        struct rpc_env *env;
        int port;
        bool in_standby, closed;
        const char *gives_id;
        uint32_t major;
        struct rpc_ref *app;
        char heard[1024]; /* messages from the client, a word each */
};

static void note(char *to, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void note(char *to, const char *format, ...)
{
        va_list args;
        size_t n = strlen(to);
        va_start(args, format);
        vsnprintf(to + n, 1024 - n, format, args);
        va_end(args);
}

static void say(struct app_client_master *m, uint16_t type, const ProtobufCMessage *message)
{
        assert_int_equal(rpc_send_packed(m->app, type, message, NULL), 0);
}

static void register_app(struct app_client_master *m, const struct rpc_message *message)
{
        Firesteel__Standalone__RegisterApplication *a =
                firesteel__standalone__register_application__unpack(NULL, message->len, message->body);
        Firesteel__Standalone__Version version = standalone_version();
        Firesteel__Standalone__RegisteredApplication registered = FIRESTEEL__STANDALONE__REGISTERED_APPLICATION__INIT;
        Firesteel__Standalone__MasterInStandby standby = FIRESTEEL__STANDALONE__MASTER_IN_STANDBY__INIT;
        assert_non_null(a);
        assert_int_equal(a->version->major, STANDALONE_MAJOR);
        assert_string_equal(a->profile->command->main_class, STANDALONE_EXECUTOR_CLASS);
        note(m->heard, "register(%s,%s) ", a->name, a->app_id);
        firesteel__standalone__register_application__free_unpacked(a, NULL);
        version.major = m->major ? m->major : version.major;
        standby.version = registered.version = &version;
        registered.app_id = (char *)(m->gives_id ? m->gives_id : "app-1");
        rpc_ref_unref(m->app);
        m->app = rpc_peer_ref(message->peer, STANDALONE_APP_ENDPOINT);
        if (m->in_standby)
                say(m, TYPE(MASTER_IN_STANDBY), &standby.base);
        else
                say(m, TYPE(REGISTERED_APPLICATION), &registered.base);
}

static void note_state(struct app_client_master *m, const struct rpc_message *message)
{
        Firesteel__Standalone__ApplicationState *s =
                firesteel__standalone__application_state__unpack(NULL, message->len, message->body);
        assert_non_null(s);
        note(m->heard, "state(%s,%d", s->app_id, s->next_executor);
        for (size_t i = 0; i < s->n_targets; i++)
                note(m->heard, ",%d", s->targets[i]->executors);
        note(m->heard, ") ");
        firesteel__standalone__application_state__free_unpacked(s, NULL);
}

static void note_ask(struct app_client_master *m, struct rpc_message *message)
{
        Firesteel__Standalone__Truth yes = FIRESTEEL__STANDALONE__TRUTH__INIT;
        yes.value = true;
        if (message->type == TYPE(REQUEST_EXECUTORS)) {
                Firesteel__Standalone__RequestExecutors *q =
                        firesteel__standalone__request_executors__unpack(NULL, message->len, message->body);
                note(m->heard, "request(%s,%d) ", q->app_id, q->targets[0]->executors);
                firesteel__standalone__request_executors__free_unpacked(q, NULL);
        } else {
                Firesteel__Standalone__KillExecutorsOfApp *q =
                        firesteel__standalone__kill_executors_of_app__unpack(NULL, message->len, message->body);
                note(m->heard, "kill(%s,%d) ", q->app_id, q->executors[0]);
                firesteel__standalone__kill_executors_of_app__free_unpacked(q, NULL);
        }
        rpc_reply_packed(message, message->type, &yes.base, NULL);
}

static void master_receive(void *owner, struct rpc_message *message)
{
        struct app_client_master *m = owner;
        switch (message->type) {
        case TYPE(REGISTER_APPLICATION):
                register_app(m, message);
                break;
        case TYPE(APPLICATION_STATE):
                note_state(m, message);
                break;
        case TYPE(UNREGISTER_APPLICATION): {
                Firesteel__Standalone__ApplicationId *id =
                        firesteel__standalone__application_id__unpack(NULL, message->len, message->body);
                note(m->heard, "unregister(%s) ", id->id);
                firesteel__standalone__application_id__free_unpacked(id, NULL);
                break;
        }
        case TYPE(REQUEST_EXECUTORS):
        case TYPE(KILL_EXECUTORS_OF_APP):
                note_ask(m, message);
                break;
        default:
                break;
        }
}

static const struct rpc_endpoint_class master_class = {.receive = master_receive};

/* Uses any port if @m->port is 0. Keeps earlier recorded messages. */
static void master_open(struct app_client_master *m, struct app_client_world *w)
{
        struct rpc_options options;
        rpc_options_init(&options);
        options.name = STANDALONE_MASTER_ENV;
        m->world = w;
        m->closed = false;
        assert_int_equal(rpc_env_new(&w->loop, &options, &m->env, NULL), 0);
        assert_int_equal(rpc_env_listen(m->env, "127.0.0.1", NULL, m->port, 0, NULL), 0);
        assert_int_equal(rpc_env_register(m->env, STANDALONE_MASTER_ENDPOINT, &master_class, m, NULL), 0);
        m->port = rpc_env_port(m->env);
}

static void master_closed(void *owner)
{
        ((struct app_client_master *)owner)->closed = true;
}

static void master_close(struct app_client_master *m)
{
        rpc_ref_unref(steal(m->app));
        rpc_env_close(m->env, 0, master_closed, m);
        while (!m->closed)
                uv_run(&m->world->loop, UV_RUN_ONCE);
}

/* ---------------------------------------------------------------------------------------------------- the client */

static void on_registered(void *owner, const char *app_id)
{
        note(((struct app_client_world *)owner)->told, "registered(%s) ", app_id);
}

static void on_added(void *owner, const Firesteel__Standalone__ExecutorAdded *x)
{
        note(((struct app_client_world *)owner)->told, "added(%d) ", x->executor);
}

static void on_updated(void *owner, const Firesteel__Standalone__ExecutorUpdated *x)
{
        note(((struct app_client_world *)owner)->told, "updated(%d,%s) ", x->executor, x->state);
}

static void on_worker_removed(void *owner, const Firesteel__Standalone__WorkerRemoved *x)
{
        note(((struct app_client_world *)owner)->told, "worker_removed(%s) ", x->worker_id);
}

static void on_killed(void *owner, int executor)
{
        note(((struct app_client_world *)owner)->told, "killed(%d) ", executor);
}

static void on_misfit(void *owner, const char *message)
{
        note(((struct app_client_world *)owner)->told, "misfit(%s) ", message);
}

static void on_disconnected(void *owner)
{
        note(((struct app_client_world *)owner)->told, "disconnected ");
}

static void on_dead(void *owner, const char *reason, const char *remedy)
{
        struct app_client_world *w = owner;
        note(w->told, "dead ");
        snprintf(w->reason, sizeof(w->reason), "%s", reason);
        snprintf(w->remedy, sizeof(w->remedy), "%s", remedy ? remedy : "");
}

static const struct app_client_ops client_ops = {
        .registered = on_registered,
        .executor_added = on_added,
        .executor_updated = on_updated,
        .worker_removed = on_worker_removed,
        .executor_killed = on_killed,
        .executors_do_not_fit = on_misfit,
        .disconnected = on_disconnected,
        .dead = on_dead,
};

static int try_client(struct app_client_world *w, const char *masters, int64_t timeout_ms, struct fst_error *error)
{
        Firesteel__Standalone__Command command = FIRESTEEL__STANDALONE__COMMAND__INIT;
        Firesteel__Standalone__ExecutorProfile profile = FIRESTEEL__STANDALONE__EXECUTOR_PROFILE__INIT;
        Firesteel__Standalone__RegisterApplication application = FIRESTEEL__STANDALONE__REGISTER_APPLICATION__INIT;
        struct app_client_options options = {.loop = &w->loop,
                                             .conf = &w->conf,
                                             .masters = masters,
                                             .application = &application,
                                             .timeout_ms = timeout_ms,
                                             .ops = &client_ops,
                                             .owner = w};
        command.main_class = (char *)STANDALONE_EXECUTOR_CLASS;
        profile.command = &command;
        application.name = (char *)"words";
        application.profile = &profile;
        return app_client_new(&options, &w->client, error);
}

static void open_client(struct app_client_world *w, int64_t timeout_ms, const struct app_client_master *first,
                        const struct app_client_master *second)
{
        _cleanup_free_ char *one = mem_printf("spark://127.0.0.1:%d", first->port);
        _cleanup_free_ char *masters = second ? mem_printf("%s,127.0.0.1:%d", one, second->port) : mem_strdup(one);
        assert_int_equal(try_client(w, masters, timeout_ms, NULL), 0);
}

static void on_stopped(void *owner)
{
        ((struct app_client_world *)owner)->stopped = true;
}

static void run_until(struct app_client_world *w, const char *where, const char *word)
{
        while (!strstr(where, word))
                uv_run(&w->loop, UV_RUN_ONCE);
}

static void world_init(struct app_client_world *w)
{
        log_set_level(LOG_OFF);
        *w = (struct app_client_world){0};
        conf_init(&w->conf);
        assert_int_equal(uv_loop_init(&w->loop), 0);
}

static void stop_client(struct app_client_world *w)
{
        app_client_stop(w->client, on_stopped, w);
        while (!w->stopped)
                uv_run(&w->loop, UV_RUN_ONCE);
        app_client_free(w->client);
}

static void world_deinit(struct app_client_world *w)
{
        uv_run(&w->loop, UV_RUN_DEFAULT);
        assert_int_equal(uv_loop_close(&w->loop), 0);
        conf_deinit(&w->conf);
}

static void request(struct app_client_world *w, int executors)
{
        Firesteel__Standalone__ExecutorProfile profile = FIRESTEEL__STANDALONE__EXECUTOR_PROFILE__INIT;
        Firesteel__Standalone__ExecutorTarget target = FIRESTEEL__STANDALONE__EXECUTOR_TARGET__INIT;
        target.profile = &profile;
        target.executors = executors;
        app_client_request(w->client, (Firesteel__Standalone__ExecutorTarget *[]){&target}, 1);
}

/* ------------------------------------------------------------------------------------------------------- the tests */

static void executors_come_and_go(void **state)
{
        struct app_client_world w;
        struct app_client_master m = {0};
        Firesteel__Standalone__ExecutorAdded added = FIRESTEEL__STANDALONE__EXECUTOR_ADDED__INIT;
        Firesteel__Standalone__ExecutorUpdated updated = FIRESTEEL__STANDALONE__EXECUTOR_UPDATED__INIT;
        Firesteel__Standalone__WorkerRemoved worker = FIRESTEEL__STANDALONE__WORKER_REMOVED__INIT;
        Firesteel__Standalone__Sentence misfit = FIRESTEEL__STANDALONE__SENTENCE__INIT;
        world_init(&w);
        master_open(&m, &w);
        open_client(&w, 0, &m, NULL);
        assert_string_equal(app_client_id(w.client), "");
        run_until(&w, w.told, "registered(app-1) ");
        assert_string_equal(app_client_id(w.client), "app-1");
        added.executor = 4;
        say(&m, TYPE(EXECUTOR_ADDED), &added.base);
        updated.executor = 4;
        updated.state = (char *)"RUNNING";
        say(&m, TYPE(EXECUTOR_UPDATED), &updated.base);
        run_until(&w, w.told, "updated");
        request(&w, 7);
        app_client_kill(w.client, 4);
        run_until(&w, w.told, "killed(4) ");
        worker.worker_id = (char *)"worker-1";
        say(&m, TYPE(WORKER_REMOVED), &worker.base);
        misfit.text = (char *)"64 cores";
        say(&m, TYPE(EXECUTORS_DO_NOT_FIT), &misfit.base);
        run_until(&w, w.told, "misfit");
        assert_string_equal(w.told, "registered(app-1) added(4) updated(4,RUNNING) killed(4) worker_removed(worker-1) "
                                    "misfit(64 cores) ");
        stop_client(&w);
        run_until(&w, m.heard, "unregister");
        assert_string_equal(m.heard, "register(words,) request(app-1,7) kill(app-1,4) unregister(app-1) ");
        master_close(&m);
        world_deinit(&w);
}

static void another_master_takes_over(void **state)
{
        struct app_client_world w;
        struct app_client_master a = {0}, b = {.in_standby = true};
        Firesteel__Standalone__Version version = standalone_version();
        Firesteel__Standalone__MasterChanged changed = FIRESTEEL__STANDALONE__MASTER_CHANGED__INIT;
        Firesteel__Standalone__ExecutorAdded added = FIRESTEEL__STANDALONE__EXECUTOR_ADDED__INIT;
        world_init(&w);
        master_open(&a, &w);
        master_open(&b, &w);
        open_client(&w, 0, &a, &b);
        run_until(&w, w.told, "registered(app-1) ");
        run_until(&w, b.heard, "register(words,");
        added.executor = 2;
        say(&b, TYPE(EXECUTOR_ADDED), &added.base); /* it does not lead */
        added.executor = 5;
        say(&a, TYPE(EXECUTOR_ADDED), &added.base);
        run_until(&w, w.told, "added(5) ");
        request(&w, 3);
        run_until(&w, a.heard, "request(app-1,3)");
        b.heard[0] = '\0';
        master_close(&a);
        run_until(&w, w.told, "disconnected ");
        request(&w, 9);
        app_client_kill(w.client, 5);
        run_until(&w, b.heard, "register(words,app-1) "); /* asked again whether it leads */
        changed.version = &version;
        say(&b, TYPE(MASTER_CHANGED), &changed.base);
        run_until(&w, b.heard, "state(app-1,6,9) ");
        run_until(&w, w.told, "killed(5) ");
        assert_non_null(strstr(b.heard, "kill(app-1,5) "));
        assert_null(strstr(w.told, "added(2)"));
        stop_client(&w);
        run_until(&w, b.heard, "unregister(app-1) ");
        master_close(&b);
        world_deinit(&w);
}

/* A standby that takes over contacts the application, which need not wait a minute for its next attempt. */
static void a_master_that_stood_by_calls(void **state)
{
        struct app_client_world w;
        struct app_client_master m = {.in_standby = true};
        Firesteel__Standalone__Version version = standalone_version();
        Firesteel__Standalone__MasterChanged changed = FIRESTEEL__STANDALONE__MASTER_CHANGED__INIT;
        world_init(&w);
        master_open(&m, &w);
        open_client(&w, INT64_C(3600000), &m, NULL);
        run_until(&w, m.heard, "register(words,) ");
        m.in_standby = false;
        changed.version = &version;
        say(&m, TYPE(MASTER_CHANGED), &changed.base);
        run_until(&w, w.told, "registered(app-1) ");
        assert_string_equal(m.heard, "register(words,) register(words,) ");
        assert_string_equal(w.told, "registered(app-1) ");
        stop_client(&w);
        run_until(&w, m.heard, "unregister(app-1) ");
        master_close(&m);
        world_deinit(&w);
}

static void a_master_comes_back_at_its_address(void **state)
{
        struct app_client_world w;
        struct app_client_master m = {0};
        world_init(&w);
        master_open(&m, &w);
        open_client(&w, 0, &m, NULL);
        run_until(&w, w.told, "registered(app-1) ");
        master_close(&m);
        run_until(&w, w.told, "disconnected ");
        m.heard[0] = '\0';
        master_open(&m, &w);
        run_until(&w, m.heard, "state(app-1,0) ");
        assert_non_null(strstr(m.heard, "register(words,app-1) "));
        assert_string_equal(w.told, "registered(app-1) disconnected ");
        stop_client(&w);
        master_close(&m);
        world_deinit(&w);
}

static void a_master_that_has_forgotten_us_ends_the_application(void **state)
{
        struct app_client_world w;
        struct app_client_master m = {0};
        world_init(&w);
        master_open(&m, &w);
        open_client(&w, 0, &m, NULL);
        run_until(&w, w.told, "registered(app-1) ");
        master_close(&m);
        run_until(&w, w.told, "disconnected ");
        m.gives_id = "app-2";
        master_open(&m, &w);
        run_until(&w, w.told, "dead ");
        assert_non_null(strstr(w.reason, "does not know application app-1 any more"));
        run_until(&w, m.heard, "unregister(app-2) ");
        stop_client(&w);
        master_close(&m);
        world_deinit(&w);
}

static void a_removed_application_is_told_why(void **state)
{
        struct app_client_world w;
        struct app_client_master m = {0};
        Firesteel__Standalone__ApplicationRemoved removed = FIRESTEEL__STANDALONE__APPLICATION_REMOVED__INIT;
        world_init(&w);
        master_open(&m, &w);
        open_client(&w, 0, &m, NULL);
        run_until(&w, w.told, "registered(app-1) ");
        removed.state = (char *)"KILLED";
        say(&m, TYPE(APPLICATION_REMOVED), &removed.base);
        run_until(&w, w.told, "dead ");
        assert_string_equal(w.reason, "Master removed our application: KILLED");
        stop_client(&w);
        master_close(&m);
        world_deinit(&w);
}

static void another_version_is_refused_by_name(void **state)
{
        struct app_client_world w;
        struct app_client_master m = {.major = 9};
        world_init(&w);
        master_open(&m, &w);
        open_client(&w, 0, &m, NULL);
        run_until(&w, w.told, "dead ");
        assert_non_null(strstr(w.reason, "with version 9.0 of the cluster's messages"));
        stop_client(&w);
        master_close(&m);
        world_deinit(&w);
}

static void who_refuses_is_not_asked_again(void **state)
{
        struct app_client_world w;
        struct app_client_master m = {.in_standby = true};
        Firesteel__Standalone__Sentence sentence = FIRESTEEL__STANDALONE__SENTENCE__INIT;
        world_init(&w);
        master_open(&m, &w);
        open_client(&w, 0, &m, NULL);
        run_until(&w, m.heard, "register");
        sentence.text = (char *)"this application is too old";
        say(&m, TYPE(REGISTRATION_REFUSED), &sentence.base);
        run_until(&w, w.told, "dead ");
        assert_non_null(strstr(w.reason, "refused the application: this application is too old"));
        stop_client(&w);
        master_close(&m);
        world_deinit(&w);
}

static void nobody_is_waited_for_without_end(void **state)
{
        struct app_client_world w;
        struct app_client_master gone = {0};
        world_init(&w);
        master_open(&gone, &w);
        master_close(&gone);
        open_client(&w, 300, &gone, NULL);
        run_until(&w, w.told, "dead ");
        assert_string_equal(w.reason, "All masters are unresponsive! Giving up.");
        assert_int_equal(strncmp(w.remedy, "No master answers at spark://127.0.0.1:", 39), 0);
        assert_non_null(strstr(w.remedy, "set --master to the address of a running master"));
        stop_client(&w);
        world_deinit(&w);
}

static void close_it(uv_poll_t *handle, int status, int events)
{
        int fd = socket_accept(*(int *)handle->data);
        if (fd >= 0)
                close(fd);
}

/* Closes the connection, as genuine Spark does with unreadable bytes. */
static void a_port_of_somebody_else_is_named(void **state)
{
        struct app_client_world w;
        struct app_client_master other = {0};
        struct listen_options options = {.service = "other", .host = "127.0.0.1"};
        uv_poll_t poll;
        world_init(&w);
        int fd = socket_listen(&options, &other.port, NULL);
        assert_true(fd >= 0);
        uv_poll_init(&w.loop, &poll, fd);
        poll.data = &fd;
        uv_poll_start(&poll, UV_READABLE, close_it);
        open_client(&w, 0, &other, NULL);
        run_until(&w, w.told, "dead ");
        assert_non_null(strstr(w.reason, "is not a Firesteel master"));
        stop_client(&w);
        uv_close((uv_handle_t *)&poll, NULL);
        uv_run(&w.loop, UV_RUN_DEFAULT);
        close(fd);
        world_deinit(&w);
}

/* Answers after the empty line that ends a request. */
static void *serve_http(void *listener)
{
        static const char refusal[] = "HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
        char request[4096];
        size_t n = 0;
        int fd = -1;
        while (fd < 0)
                fd = socket_accept(*(int *)listener);
        while (n < sizeof(request) && !memmem(request, n, "\r\n\r\n", 4) && socket_wait(fd, POLLIN, -1, NULL) >= 0) {
                ssize_t r = read(fd, request + n, sizeof(request) - n);
                n += r > 0 ? (size_t)r : 0;
        }
        (void)!write(fd, refusal, strlen(refusal));
        close(fd);
        return NULL;
}

static void an_http_server_is_named_at_once(void **state)
{
        struct app_client_world w;
        struct app_client_master pages = {0};
        struct listen_options options = {.service = "pages", .host = "127.0.0.1"};
        pthread_t thread;
        world_init(&w);
        int fd = socket_listen(&options, &pages.port, NULL);
        assert_true(fd >= 0);
        assert_int_equal(pthread_create(&thread, NULL, serve_http, &fd), 0);
        open_client(&w, 3600 * 1000, &pages, NULL);
        run_until(&w, w.told, "dead ");
        assert_non_null(strstr(w.reason, "is an HTTP server, not a Firesteel master: use the master"));
        pthread_join(thread, NULL);
        stop_client(&w);
        close(fd);
        world_deinit(&w);
}

static void lists_of_masters_are_looked_at(void **state)
{
        struct app_client_world w;
        static const char *const wrong[] = {"", "h:7077", "spark://", "spark://h", "spark://h:7077,", "spark://h:0"};
        world_init(&w);
        for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
                struct fst_error error = FST_ERROR_INIT;
                assert_int_equal(try_client(&w, wrong[i], 0, &error), -EINVAL);
                assert_non_null(strstr(error_message(&error), "Invalid master URL"));
                error_deinit(&error);
        }
        world_deinit(&w);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(executors_come_and_go),
                cmocka_unit_test(another_master_takes_over),
                cmocka_unit_test(a_master_that_stood_by_calls),
                cmocka_unit_test(a_master_comes_back_at_its_address),
                cmocka_unit_test(a_master_that_has_forgotten_us_ends_the_application),
                cmocka_unit_test(a_removed_application_is_told_why),
                cmocka_unit_test(another_version_is_refused_by_name),
                cmocka_unit_test(who_refuses_is_not_asked_again),
                cmocka_unit_test(nobody_is_waited_for_without_end),
                cmocka_unit_test(a_port_of_somebody_else_is_named),
                cmocka_unit_test(an_http_server_is_named_at_once),
                cmocka_unit_test(lists_of_masters_are_looked_at),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
