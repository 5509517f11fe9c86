/* A master process on one loop with workers, applications and clients that are only connections. */
#include "base/buf.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/fs.h"
#include "standalone/master/master_server.h"
#include "standalone/core/master_state.h"
#include "rpc/rpc.h"
#include "unit/temp_dir.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <cmocka.h>

#define TYPE(name) FIRESTEEL__STANDALONE__STANDALONE_TYPE__##name

struct master_server_fixture {
        uv_loop_t loop;
        uv_timer_t tick; /* wakes `until` to check the clock */
        struct master_conf conf;
        struct master_server *server;
        int ended, replies;
        char folder[TEMP_DIR_SIZE]; /* directory of records, "" if none */
        char *last_message;
        struct actor *actors; /* freed at the end if not before */
};

/* A peer of the master: a worker, an application or a client. */
struct actor {
        struct master_server_fixture *f;
        struct actor *next;
        struct rpc_env *env;
        struct rpc_ref *master;
        const char *endpoint;
        struct buf heard; /* a line for each message */
        struct buf answer;
        int answers, failures, lost;
        const char *reports; /* its executors when the master changes: the id of an application with executor 0 */
        char *nonce;         /* that the new master sent */
        bool closed;
};

static void on_ended(void *owner, int status)
{
        ((struct master_server_fixture *)owner)->ended = status + 1;
}

static void on_tick(uv_timer_t *timer)
{
}

static int begin(void **state, bool keeps)
{
        struct master_server_fixture *f = new0(struct master_server_fixture);
        struct fst_error error = FST_ERROR_INIT;
        log_reset_levels(LOG_OFF);
        uv_loop_init(&f->loop);
        uv_timer_init(&f->loop, &f->tick);
        uv_timer_start(&f->tick, on_tick, 20, 20);
        f->conf = (struct master_conf){.core = MASTER_CONFIG_DEFAULT,
                                       .host = mem_strdup("127.0.0.1"),
                                       .public_host = mem_strdup("127.0.0.1"),
                                       .web_ui_port = 0};
        conf_init(&f->conf.conf);
        conf_set(&f->conf.conf, "spark.master.rest.enabled", "false");
        if (keeps) {
                temp_dir_new(f->folder);
                conf_set(&f->conf.conf, "spark.deploy.recoveryMode", "FILESYSTEM");
                conf_set(&f->conf.conf, "spark.deploy.recoveryDirectory", f->folder);
        }
        assert_int_equal(master_conf_keys(&f->conf, &error), 0);
        assert_int_equal(master_server_new(&f->loop, &f->conf, on_ended, f, &f->server, &error), 0);
        while (master_server_state(f->server)->status !=
               MASTER_ALIVE) /* a peer that registers before would get a standby reply */
                uv_run(&f->loop, UV_RUN_ONCE);
        *state = f;
        return 0;
}

static int setup(void **state)
{
        return begin(state, false);
}

static int setup_with_records(void **state)
{
        return begin(state, true);
}

#define until(f, condition)                                                                                            \
        for (int64_t end_ = now_ns() + INT64_C(60000000000); !(condition);) {                                          \
                if (now_ns() > end_)                                                                                   \
                        fail_msg("this did not come: %s", #condition);                                                 \
                uv_run(&(f)->loop, UV_RUN_ONCE);                                                                       \
        }

/* ------------------------------------------------------------------------------------------------------- actors */

/* Replies over the connection of the message. */
static void answer_new_leader(struct actor *a, struct rpc_message *m)
{
        Firesteel__Standalone__MasterChanged *changed =
                firesteel__standalone__master_changed__unpack(NULL, m->len, m->body);
        free(a->nonce);
        a->nonce = mem_strdup(changed->nonce);
        firesteel__standalone__master_changed__free_unpacked(changed, NULL);
        if (!a->reports) {
                buf_puts(&a->heard, "called\n");
                return;
        }
        struct rpc_ref *master = rpc_peer_ref(m->peer, STANDALONE_MASTER_ENDPOINT);
        Firesteel__Standalone__WorkerState w = FIRESTEEL__STANDALONE__WORKER_STATE__INIT;
        Firesteel__Standalone__ExecutorReport e = FIRESTEEL__STANDALONE__EXECUTOR_REPORT__INIT, *executors[] = {&e};
        Firesteel__Standalone__ApplicationState app = FIRESTEEL__STANDALONE__APPLICATION_STATE__INIT;
        buf_puts(&a->heard, "master changed\n");
        e.app_id = app.app_id = (char *)a->reports;
        e.cores = 3;
        e.memory = 1024;
        e.state = (char *)"RUNNING";
        w.worker_id = (char *)"worker-1";
        w.executors = executors;
        w.n_executors = 1;
        app.next_executor = 1;
        if (strcmp(a->endpoint, "Worker") == 0)
                rpc_send_packed(master, TYPE(WORKER_STATE), &w.base, NULL);
        else
                rpc_send_packed(master, TYPE(APPLICATION_STATE), &app.base, NULL);
        rpc_ref_unref(a->master);
        a->master = master;
}

static void hear(struct actor *a, struct rpc_message *m)
{
        switch (m->type) {
        case TYPE(WORKER_REGISTERED): {
                Firesteel__Standalone__WorkerRegistered *b =
                        firesteel__standalone__worker_registered__unpack(NULL, m->len, m->body);
                buf_printf(&a->heard, "registered%s\n", b->again ? " again" : "");
                assert_string_equal(b->master_url, master_server_url(a->f->server));
                firesteel__standalone__worker_registered__free_unpacked(b, NULL);
                break;
        }
        case TYPE(REGISTRATION_REFUSED): {
                Firesteel__Standalone__Sentence *b = firesteel__standalone__sentence__unpack(NULL, m->len, m->body);
                buf_printf(&a->heard, "refused: %s\n", b->text);
                firesteel__standalone__sentence__free_unpacked(b, NULL);
                break;
        }
        case TYPE(LAUNCH_EXECUTOR): {
                Firesteel__Standalone__LaunchExecutor *b =
                        firesteel__standalone__launch_executor__unpack(NULL, m->len, m->body);
                buf_printf(&a->heard, "launch %s/%d cores %d memory %d", b->app_name, b->executor, b->cores,
                           (int)b->memory);
                Firesteel__Standalone__Command *c =
                        firesteel__standalone__command__unpack(NULL, b->command.len, b->command.data);
                buf_printf(&a->heard, " of %s", c->main_class);
                for (size_t i = 0; i < b->n_resources; i++)
                        buf_printf(&a->heard, " %s=%s", b->resources[i]->name, b->resources[i]->addresses[0]);
                buf_puts(&a->heard, "\n");
                firesteel__standalone__command__free_unpacked(c, NULL);
                firesteel__standalone__launch_executor__free_unpacked(b, NULL);
                break;
        }
        case TYPE(KILL_EXECUTOR):
                buf_puts(&a->heard, "kill\n");
                break;
        case TYPE(LAUNCH_DRIVER): {
                Firesteel__Standalone__LaunchDriver *b =
                        firesteel__standalone__launch_driver__unpack(NULL, m->len, m->body);
                Firesteel__Standalone__DriverDescription *d = firesteel__standalone__driver_description__unpack(
                        NULL, b->description.len, b->description.data);
                buf_printf(&a->heard, "driver %s\n", d->jar_url);
                firesteel__standalone__driver_description__free_unpacked(d, NULL);
                firesteel__standalone__launch_driver__free_unpacked(b, NULL);
                break;
        }
        case TYPE(REGISTERED_APPLICATION): {
                Firesteel__Standalone__RegisteredApplication *b =
                        firesteel__standalone__registered_application__unpack(NULL, m->len, m->body);
                buf_printf(&a->heard, "app%s", b->again ? " again" : "");
                for (size_t i = 0; i < b->n_executors; i++)
                        buf_printf(&a->heard, " with %d", b->executors[i]);
                buf_puts(&a->heard, "\n");
                buf_reset(&a->answer);
                buf_puts(&a->answer, b->app_id);
                firesteel__standalone__registered_application__free_unpacked(b, NULL);
                break;
        }
        case TYPE(APPLICATION_REMOVED): {
                Firesteel__Standalone__ApplicationRemoved *b =
                        firesteel__standalone__application_removed__unpack(NULL, m->len, m->body);
                buf_printf(&a->heard, "removed: %s, %s\n", b->state, b->message);
                firesteel__standalone__application_removed__free_unpacked(b, NULL);
                break;
        }
        case TYPE(EXECUTOR_ADDED): {
                Firesteel__Standalone__ExecutorAdded *b =
                        firesteel__standalone__executor_added__unpack(NULL, m->len, m->body);
                buf_printf(&a->heard, "added %d on %s\n", b->executor, b->worker_id);
                firesteel__standalone__executor_added__free_unpacked(b, NULL);
                break;
        }
        case TYPE(EXECUTOR_UPDATED): {
                Firesteel__Standalone__ExecutorUpdated *b =
                        firesteel__standalone__executor_updated__unpack(NULL, m->len, m->body);
                buf_printf(&a->heard, "updated %d %s", b->executor, b->state);
                if (b->has_exit_status)
                        buf_printf(&a->heard, " %d", b->exit_status);
                buf_puts(&a->heard, "\n");
                firesteel__standalone__executor_updated__free_unpacked(b, NULL);
                break;
        }
        case TYPE(MASTER_CHANGED):
                answer_new_leader(a, m);
                break;
        default:
                buf_printf(&a->heard, "type %d\n", m->type);
        }
}

static void on_message(void *owner, struct rpc_message *m)
{
        hear(owner, m);
}

static void on_disconnected(void *owner, struct rpc_peer *peer, const char *why)
{
        ((struct actor *)owner)->lost++;
}

static const struct rpc_endpoint_class actor_class = {.receive = on_message, .disconnected = on_disconnected};

static void actor_turns_to(struct actor *a, const struct master_server *server)
{
        _cleanup_free_ char *url = mem_printf("spark://Master@%s", master_server_url(server) + strlen("spark://"));
        rpc_ref_unref(a->master);
        assert_int_equal(rpc_env_ref(a->env, url, &a->master, NULL), 0);
}

static struct actor *actor_at(struct master_server_fixture *f, const char *endpoint, const char *host)
{
        struct actor *a = new0(struct actor);
        struct rpc_options options;
        struct fst_error error = FST_ERROR_INIT;
        a->f = f;
        a->endpoint = endpoint;
        a->next = f->actors;
        f->actors = a;
        rpc_options_init(&options);
        options.name = "actor";
        options.app_id = "";
        assert_int_equal(rpc_env_new(&f->loop, &options, &a->env, &error), 0);
        assert_int_equal(rpc_env_register(a->env, endpoint, &actor_class, a, &error), 0);
        assert_int_equal(rpc_env_listen(a->env, host, NULL, 0, 0, &error), 0);
        actor_turns_to(a, f->server);
        return a;
}

static struct actor *actor_new(struct master_server_fixture *f, const char *endpoint)
{
        return actor_at(f, endpoint, "127.0.0.1");
}

static void env_closed(void *owner)
{
        ((struct actor *)owner)->closed = true;
}

static void actor_free(struct actor *a)
{
        struct actor **at = &a->f->actors;
        while (*at != a)
                at = &(*at)->next;
        *at = a->next;
        rpc_ref_unref(a->master);
        rpc_env_close(a->env, 1000, env_closed, a);
        until(a->f, a->closed);
        buf_deinit(&a->heard);
        buf_deinit(&a->answer);
        free(a->nonce);
        free(a);
}

static int teardown(void **state)
{
        struct master_server_fixture *f = *state;
        while (f->actors)
                actor_free(f->actors);
        uv_close((uv_handle_t *)&f->tick, NULL);
        master_server_close(f->server);
        uv_run(&f->loop, UV_RUN_DEFAULT);
        assert_int_equal(uv_loop_close(&f->loop), 0);
        master_conf_deinit(&f->conf);
        if (*f->folder)
                remove_tree(f->folder);
        free(f->last_message);
        free(f);
        return 0;
}

static void say(struct actor *a, uint16_t type, const ProtobufCMessage *message)
{
        assert_int_equal(rpc_send_packed(a->master, type, message, NULL), 0);
}

static void on_answer(void *owner, struct rpc_answer *answer)
{
        struct actor *a = owner;
        a->answers++;
        a->failures += answer->status != 0;
        buf_reset(&a->answer);
        if (answer->status)
                buf_puts(&a->answer, answer->message);
        else
                buf_append(&a->answer, answer->body, answer->len);
}

static void ask(struct actor *a, uint16_t type, const ProtobufCMessage *message)
{
        int before = a->answers;
        assert_int_equal(rpc_ask_packed(a->master, type, message, NULL, 0, on_answer, a), 0);
        until(a->f, a->answers > before);
}

static bool heard(const struct actor *a, const char *line)
{
        return strstr(buf_text(&a->heard), line) != NULL;
}

static void register_worker_of(struct actor *a, const char *id, const char *host, int port)
{
        Firesteel__Standalone__Version version = standalone_version();
        Firesteel__Standalone__RegisterWorker r = FIRESTEEL__STANDALONE__REGISTER_WORKER__INIT;
        Firesteel__Standalone__Resource gpu = FIRESTEEL__STANDALONE__RESOURCE__INIT, *resources[] = {&gpu};
        char *addresses[] = {(char *)"7"};
        gpu.name = (char *)"gpu";
        gpu.addresses = addresses;
        gpu.n_addresses = 1;
        r.version = &version;
        r.id = (char *)id;
        r.host = (char *)host;
        r.port = port;
        r.nonce = a->nonce ? a->nonce : (char *)"";
        r.cores = 4;
        r.memory = 4096;
        r.resources = resources;
        r.n_resources = 1;
        say(a, TYPE(REGISTER_WORKER), &r.base);
}

static void register_worker(struct actor *a, const char *id, int port)
{
        register_worker_of(a, id, "127.0.0.1", port);
}

static void register_driver(struct actor *a, const char *name, const char *address, const char *app_id, int cores,
                            int epoch, const char *resume_id)
{
        Firesteel__Standalone__Version version = standalone_version();
        Firesteel__Standalone__RegisterApplication r = FIRESTEEL__STANDALONE__REGISTER_APPLICATION__INIT;
        Firesteel__Standalone__ExecutorProfile profile = FIRESTEEL__STANDALONE__EXECUTOR_PROFILE__INIT;
        Firesteel__Standalone__Command command = FIRESTEEL__STANDALONE__COMMAND__INIT;
        command.main_class = (char *)STANDALONE_EXECUTOR_CLASS;
        profile.cores = cores;
        profile.memory = 1024;
        profile.command = &command;
        r.version = &version;
        r.name = (char *)name;
        r.address = (char *)address;
        r.app_id = (char *)app_id;
        r.profile = &profile;
        r.has_initial_executors = true;
        r.initial_executors = 1;
        r.resume_epoch = epoch;
        r.resume_timeout = epoch ? 60000 : 0;
        r.resume_token = (char *)"token";
        r.resume_id = (char *)resume_id;
        say(a, TYPE(REGISTER_APPLICATION), &r.base);
}

static void register_app(struct actor *a, const char *name, const char *address, const char *app_id, int cores)
{
        register_driver(a, name, address, app_id, cores, 0, "");
}

static void change_executor(struct actor *a, const char *app_id, int executor, const char *to, int status)
{
        Firesteel__Standalone__ExecutorStateChanged c = FIRESTEEL__STANDALONE__EXECUTOR_STATE_CHANGED__INIT;
        c.app_id = (char *)app_id;
        c.executor = executor;
        c.state = (char *)to;
        c.has_exit_status = status >= 0;
        c.exit_status = status;
        say(a, TYPE(EXECUTOR_STATE_CHANGED), &c.base);
}

/* -------------------------------------------------------------------------------------------------------- tests */

static void executor_comes_and_goes(void **state)
{
        struct master_server_fixture *f = *state;
        struct actor *worker = actor_new(f, "Worker"), *app = actor_new(f, "AppClient");
        register_worker(worker, "worker-1", 5001);
        until(f, heard(worker, "registered\n"));
        register_app(app, "count", "127.0.0.1:4001", "", 3);
        until(f, heard(app, "added 0 on worker-1"));
        until(f, heard(worker, "launch count/0 cores 3 memory 1024 of " STANDALONE_EXECUTOR_CLASS));
        assert_true(heard(app, "app\n"));
        _cleanup_free_ char *id = mem_strdup(buf_text(&app->answer));
        change_executor(worker, id, 0, "RUNNING", -1);
        until(f, heard(app, "updated 0 RUNNING\n"));
        change_executor(worker, id, 0, "EXITED", 1);
        until(f, heard(app, "updated 0 EXITED 1\n") && heard(app, "added 1 on worker-1"));

        /* the connection is the application's lifetime: its executors end with it */
        actor_free(app);
        until(f, heard(worker, "kill\n") && heard(worker, "type 28\n"));
        assert_int_equal(master_server_state(f->server)->n_apps, 0);
        actor_free(worker);
        until(f, master_server_state(f->server)->n_workers == 0);
}

static void nobody_speaks_for_another(void **state)
{
        struct master_server_fixture *f = *state;
        struct actor *worker = actor_new(f, "Worker"), *liar = actor_new(f, "Worker"), *app = actor_new(f, "AppClient"),
                     *thief = actor_new(f, "AppClient"), *guest = actor_new(f, "Worker");
        register_worker(worker, "worker-1", 5001);
        register_app(app, "count", "127.0.0.1:4001", "", 3);
        until(f, heard(app, "added 0"));
        _cleanup_free_ char *id = mem_strdup(buf_text(&app->answer));
        register_worker(liar, "worker-2", 5002);
        until(f, heard(liar, "registered"));

        /* it may not end another worker's executor: the report has no effect */
        change_executor(liar, id, 0, "FAILED", 1);
        Firesteel__Standalone__WorkerId other = FIRESTEEL__STANDALONE__WORKER_ID__INIT;
        other.id = (char *)"worker-1";
        say(liar, TYPE(WORKER_HEARTBEAT), &other.base);
        until(f, liar->lost);
        assert_false(heard(app, "FAILED"));
        assert_non_null(master_worker(master_server_state(f->server), "worker-1"));
        assert_null(master_worker(master_server_state(f->server), "worker-2"));

        /* it may not take another application's place without its id */
        register_app(thief, "thief", "127.0.0.1:4001", "", 1);
        until(f, heard(thief, "refused: an application whose driver is at 127.0.0.1:4001 is connected already"));
        register_app(thief, "thief", "127.0.0.1:4002", "", 1);
        until(f, heard(thief, "app\n"));
        Firesteel__Standalone__KillExecutorsOfApp k = FIRESTEEL__STANDALONE__KILL_EXECUTORS_OF_APP__INIT;
        int32_t executors[] = {0};
        k.app_id = id;
        k.executors = executors;
        k.n_executors = 1;
        ask(thief, TYPE(KILL_EXECUTORS_OF_APP), &k.base);
        assert_int_equal(thief->failures, 1);
        until(f, thief->lost);
        assert_int_equal(master_app(master_server_state(f->server), id)->n_executors, 1);

        /* unregistered peers may not report, and one that sends a heartbeat must register again */
        say(guest, TYPE(WORKER_HEARTBEAT), &other.base);
        until(f, heard(guest, "type 23\n"));
        change_executor(guest, id, 0, "FAILED", 1);
        until(f, guest->lost);
        assert_false(heard(app, "FAILED"));

        /* its own executor */
        buf_reset(&worker->heard);
        ask(app, TYPE(KILL_EXECUTORS_OF_APP), &k.base);
        until(f, heard(worker, "kill\n"));
}

static void registers_again(void **state)
{
        struct master_server_fixture *f = *state;
        struct actor *worker = actor_new(f, "Worker"), *again = actor_new(f, "Worker"),
                     *app = actor_new(f, "AppClient"), *reborn = actor_new(f, "AppClient");
        register_worker(worker, "worker-1", 5001);
        until(f, heard(worker, "registered\n"));
        register_worker(again, "worker-1", 5001);
        until(f, heard(again, "registered again\n") && worker->lost);
        assert_int_equal(master_server_state(f->server)->n_workers, 1);
        register_worker(worker, "worker-3", 5001);
        until(f, heard(worker, "refused: Attempted to re-register worker at same address: 127.0.0.1:5001"));

        register_app(app, "count", "127.0.0.1:4001", "", 3);
        until(f, heard(app, "added 0"));
        register_app(reborn, "count", "127.0.0.1:4001", buf_text(&app->answer), 3);
        until(f, heard(reborn, "app again with 0\n") && app->lost);
        assert_int_equal(master_server_state(f->server)->n_apps, 1);
}

/* A driver that is stuck must not end the application that its successor runs. */
static void the_next_driver_takes_over(void **state)
{
        struct master_server_fixture *f = *state;
        struct actor *worker = actor_new(f, "Worker"), *dead = actor_new(f, "AppClient"),
                     *first = actor_new(f, "AppClient"), *next = actor_new(f, "AppClient"),
                     *woken = actor_new(f, "AppClient");
        Firesteel__Standalone__ApplicationId ended = FIRESTEEL__STANDALONE__APPLICATION_ID__INIT;
        register_worker(worker, "worker-1", 5001);
        until(f, heard(worker, "registered\n"));
        register_driver(dead, "count", "127.0.0.1:4000", "", 3, 1, "");
        until(f, heard(dead, "added 0"));
        _cleanup_free_ char *id = mem_strdup(buf_text(&dead->answer));
        actor_free(dead);
        until(f, master_app(master_server_state(f->server), id)->state == APP_WAITING_FOR_DRIVER);
        register_driver(first, "count", "127.0.0.1:4001", "", 3, 2, id);
        until(f, heard(first, "app with 0\n"));
        register_driver(next, "count", "127.0.0.1:4002", "", 3, 3, id);
        until(f, heard(next, "app\n") && heard(next, "added 1") &&
                         heard(first, "removed: KILLED, driver number 3 has taken it over\n"));
        assert_string_equal(buf_text(&next->answer), id);

        ended.id = id;
        say(first, TYPE(UNREGISTER_APPLICATION), &ended.base);
        until(f, first->lost);
        register_driver(woken, "count", "127.0.0.1:4001", id, 3, 2, id);
        until(f, heard(woken, "removed: KILLED"));
        assert_int_equal(master_server_state(f->server)->n_apps, 1);
        assert_int_equal(master_app(master_server_state(f->server), id)->n_executors, 1);
        say(next, TYPE(UNREGISTER_APPLICATION), &ended.base);
        until(f, master_server_state(f->server)->n_apps == 0);
}

static void rejects_other_versions_and_malformed_registrations(void **state)
{
        struct master_server_fixture *f = *state;
        struct actor *a = actor_new(f, "Worker");
        Firesteel__Standalone__Version version = standalone_version();
        Firesteel__Standalone__RegisterWorker r = FIRESTEEL__STANDALONE__REGISTER_WORKER__INIT;
        version.major = 3;
        version.software = (char *)"firesteel 9.0";
        r.version = &version;
        r.id = (char *)"worker-1";
        r.host = (char *)"h";
        r.port = 1;
        say(a, TYPE(REGISTER_WORKER), &r.base);
        until(f, heard(a, "refused: this worker is firesteel 9.0 with version 3.0"));
        version = standalone_version();
        r.id = (char *)"../worker";
        say(a, TYPE(REGISTER_WORKER), &r.base);
        until(f, heard(a, "refused: \"../worker\" is not a valid worker id"));
        r.id = (char *)"worker-1";
        r.port = 0;
        say(a, TYPE(REGISTER_WORKER), &r.base);
        until(f, heard(a, "refused: \"h\", port 0, is not a valid worker address"));
        assert_int_equal(rpc_send(a->master, TYPE(REGISTER_WORKER), "\xff\xff", 2, NULL), 0);
        until(f, a->lost);
        assert_int_equal(master_server_state(f->server)->n_workers, 0);
}

static Firesteel__Standalone__DriverReply *reply_of(struct actor *a)
{
        Firesteel__Standalone__DriverReply *r =
                firesteel__standalone__driver_reply__unpack(NULL, a->answer.len, (uint8_t *)a->answer.data);
        assert_non_null(r);
        return r;
}

static void on_replied(void *owner, const struct master_reply *reply)
{
        struct master_server_fixture *f = owner;
        f->replies++;
        free(f->last_message);
        f->last_message = mem_strdup(reply->message ? reply->message : "");
}

static void drivers_are_submitted(void **state)
{
        struct master_server_fixture *f = *state;
        struct actor *client = actor_new(f, "SubmitClient"), *worker = actor_new(f, "Worker");
        Firesteel__Standalone__Version version = standalone_version();
        Firesteel__Standalone__SubmitDriver s = FIRESTEEL__STANDALONE__SUBMIT_DRIVER__INIT;
        Firesteel__Standalone__DriverDescription d = FIRESTEEL__STANDALONE__DRIVER_DESCRIPTION__INIT;
        Firesteel__Standalone__Command command = FIRESTEEL__STANDALONE__COMMAND__INIT;
        char *arguments[] = {(char *)"{{WORKER_URL}}", (char *)"{{USER_JAR}}", (char *)"main"};
        command.main_class = (char *)STANDALONE_DRIVER_CLASS;
        command.arguments = arguments;
        command.n_arguments = ARRAY_SIZE(arguments);
        d.command = &command;
        d.cores = 1;
        d.memory = 512;
        s.version = &version;
        s.driver = &d;
        d.jar_url = (char *)"file:/a.jar";
        ask(client, TYPE(SUBMIT_DRIVER), &s.base);
        Firesteel__Standalone__DriverReply *reply = reply_of(client);
        assert_false(reply->success);
        assert_non_null(strstr(reply->message, "spark.firesteel.standalone.jvm"));
        firesteel__standalone__driver_reply__free_unpacked(reply, NULL);

        d.jar_url = (char *)"file:/a.so";
        register_worker(worker, "worker-1", 5001);
        ask(client, TYPE(SUBMIT_DRIVER), &s.base);
        reply = reply_of(client);
        assert_true(reply->success);
        until(f, heard(worker, "driver file:/a.so\n"));
        Firesteel__Standalone__DriverRequest request = FIRESTEEL__STANDALONE__DRIVER_REQUEST__INIT;
        request.version = &version;
        request.driver_id = reply->driver_id;
        ask(client, TYPE(DRIVER_STATUS), &request.base);
        Firesteel__Standalone__DriverStatus *status =
                firesteel__standalone__driver_status__unpack(NULL, client->answer.len, (uint8_t *)client->answer.data);
        assert_true(status->found);
        assert_string_equal(status->state, "RUNNING");
        assert_string_equal(status->worker_id, "worker-1");
        assert_string_equal(status->worker_host_port, "127.0.0.1:5001");
        firesteel__standalone__driver_status__free_unpacked(status, NULL);
        ask(client, TYPE(KILL_SUBMITTED), &request.base);
        until(f, heard(worker, "type 27\n"));

        /* called inside the process */
        master_server_kill(f->server, reply->driver_id, on_replied, f);
        assert_int_equal(f->replies, 0);
        until(f, f->replies == 1);
        assert_non_null(strstr(f->last_message, "Kill request for driver-"));
        master_server_kill(f->server, "driver-x", on_replied, f);
        until(f, f->replies == 2);
        assert_string_equal(f->last_message, "Driver driver-x has already finished or does not exist");
        master_server_submit(f->server, &(struct driver_spec){.main_class = "main", .cores = 1, .memory = 1},
                             on_replied, f);
        until(f, f->replies == 3);
        assert_int_equal(master_server_state(f->server)->n_drivers, 2);
        assert_int_equal(master_server_decommission(f->server, (const char *const[]){"127.0.0.1"}, 1), 1);
        until(f, heard(worker, "type 29\n"));
        version.major = 0;
        ask(client, TYPE(DRIVER_STATUS), &request.base);
        assert_int_equal(client->failures, 1);
        firesteel__standalone__driver_reply__free_unpacked(reply, NULL);
}

/* The application is connected to the second master, a standby. The worker is not, and the new leader finds it by its
 * record. Both keep their state. The new leader contacts peers that connected to the standby.
 */
static void a_new_leader_takes_over(void **state)
{
        struct master_server_fixture *f = *state;
        struct fst_error error = FST_ERROR_INIT;
        struct master_server *second;
        struct actor *worker = actor_new(f, "Worker"), *app = actor_new(f, "AppClient");
        struct actor *late = actor_new(f, "AppClient");
        register_worker(worker, "worker-1", rpc_env_port(worker->env));
        register_app(app, "count", rpc_env_address(app->env), "", 3);
        until(f, heard(app, "added 0") && heard(worker, "launch count/0"));
        _cleanup_free_ char *id = mem_strdup(buf_text(&app->answer));
        worker->reports = app->reports = id;
        assert_int_equal(master_server_new(&f->loop, &f->conf, on_ended, f, &second, &error), 0);
        actor_turns_to(app, second);
        register_app(app, "count", rpc_env_address(app->env), id, 3);
        until(f, heard(app, "type 22\n"));
        actor_turns_to(late, second);
        register_app(late, "late", rpc_env_address(late->env), "", 3);
        until(f, heard(late, "type 22\n"));
        assert_int_equal(master_server_state(second)->status, MASTER_STANDBY);

        master_server_close(f->server);
        f->server = second;
        until(f, master_server_state(second)->status == MASTER_ALIVE);
        assert_true(heard(app, "master changed\n"));
        assert_true(heard(worker, "master changed\n"));
        until(f, heard(late, "called\n")); /* not recorded */
        assert_non_null(master_app(master_server_state(second), id));
        assert_int_equal(master_app(master_server_state(second), id)->n_executors, 1);
        assert_false(heard(worker, "kill\n"));
        assert_false(heard(app, "updated"));
        Firesteel__Standalone__KillExecutorsOfApp k = FIRESTEEL__STANDALONE__KILL_EXECUTORS_OF_APP__INIT;
        int32_t executors[] = {0};
        k.app_id = id;
        k.executors = executors;
        k.n_executors = 1;
        ask(app, TYPE(KILL_EXECUTORS_OF_APP), &k.base);
        until(f, heard(worker, "kill\n"));
}

/* The host of this worker has two addresses: the worker listens at one, where the new leader contacts it, and
 * connects to the leader from the other. A peer that does the same without being contacted is rejected, even with the
 * worker's id.
 */
static void a_called_worker_calls_from_another_address(void **state)
{
        struct master_server_fixture *f = *state;
        struct fst_error error = FST_ERROR_INIT;
        struct master_server *second;
        struct actor *worker = actor_at(f, "Worker", "127.0.0.2"), *stranger = actor_new(f, "Worker"),
                     *itself = actor_new(f, "Worker"); /* the worker's own connection, which crossed the leader's */
        register_worker_of(worker, "worker-1", "127.0.0.2", rpc_env_port(worker->env));
        until(f, heard(worker, "registered\n"));
        assert_int_equal(master_server_new(&f->loop, &f->conf, on_ended, f, &second, &error), 0);
        master_server_close(f->server);
        f->server = second;
        until(f, heard(worker, "called\n"));
        assert_int_equal(strlen(worker->nonce), 32);
        const struct master *core = master_server_state(second);
        assert_int_equal(core->status, MASTER_RECOVERING);

        actor_turns_to(stranger, second);
        stranger->nonce = mem_strdup("6b1946af9c0d1bbda6ca8d8d3a9f4a11");
        register_worker_of(stranger, "worker-1", "127.0.0.2", rpc_env_port(worker->env));
        /* earlier messages have arrived when this is answered */
        assert_int_equal(rpc_ask(stranger->master, TYPE(STANDALONE_NONE), NULL, 0, NULL, 0, on_answer, stranger), 0);
        until(f, stranger->answers == 1);
        assert_false(heard(stranger, "registered"));
        assert_int_equal(worker->lost, 1); /* the connection of the first master, when that of the second exists */

        actor_turns_to(itself, second);
        itself->nonce = mem_strdup(worker->nonce);
        register_worker_of(itself, "worker-1", "127.0.0.2", rpc_env_port(worker->env));
        until(f, heard(itself, "registered again\n") && worker->lost == 2);
        Firesteel__Standalone__WorkerState w = FIRESTEEL__STANDALONE__WORKER_STATE__INIT;
        w.worker_id = (char *)"worker-1";
        say(itself, TYPE(WORKER_STATE), &w.base);
        until(f, core->status == MASTER_ALIVE);
        assert_int_equal(core->n_workers, 1);
        assert_false(heard(stranger, "registered"));
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test_setup_teardown(executor_comes_and_goes, setup, teardown),
                cmocka_unit_test_setup_teardown(nobody_speaks_for_another, setup, teardown),
                cmocka_unit_test_setup_teardown(registers_again, setup, teardown),
                cmocka_unit_test_setup_teardown(the_next_driver_takes_over, setup, teardown),
                cmocka_unit_test_setup_teardown(rejects_other_versions_and_malformed_registrations, setup, teardown),
                cmocka_unit_test_setup_teardown(drivers_are_submitted, setup, teardown),
                cmocka_unit_test_setup_teardown(a_new_leader_takes_over, setup_with_records, teardown),
                cmocka_unit_test_setup_teardown(a_called_worker_calls_from_another_address, setup_with_records,
                                                teardown),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
