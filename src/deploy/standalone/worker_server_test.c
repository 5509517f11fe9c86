/*
 * A worker before masters that this test plays: real connections and real executors, which find no driver. What the
 * worker says is noted as lines: "register worker", "state of 0 executors", "executor app/0 RUNNING", …
 */
#include "deploy/standalone/worker_server.h"

#include "base/buf.h"
#include "base/error.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/remove_tree.h"
#include "conf/properties.h"
#include "deploy/standalone/standalone_wire.h"
#include "net/socket.h"
#include "rpc/rpc.h"
#include "store/disk_dirs.h"

#include <dirent.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define TYPE(name) FIRESTEEL__STANDALONE__STANDALONE_TYPE__##name
#define PATIENCE_MS 60000

enum role { LEADS, STANDS_BY, SILENT, REFUSES, OTHER_VERSION };

struct played_master {
        enum role role;
        struct rpc_env *env;
        struct rpc_peer *worker; /* who registered last */
        struct rpc_ref *ref;
        struct buf heard;
        char *url;
        int heartbeats;
        bool closed;
        bool frozen; /* it answers nothing; what it is asked waits in calls */
        struct rpc_call *calls[4];
        size_t n_calls;
};

struct world {
        uv_loop_t loop;
        uv_timer_t patience;
        char folder[64];
        struct worker_conf conf;
        struct worker_server *server;
        struct played_master masters[2];
        size_t n;
        int silent_driver; /* a port where somebody listens and says nothing */
        char *driver_url;
        int status;
        bool ended;
};

/* ----------------------------------------------------------------------------------------------------- masters */

static void say(struct played_master *m, uint16_t type, const ProtobufCMessage *body)
{
        assert_int_equal(rpc_send_packed(m->ref, type, body, NULL), 0);
}

static void answer_registration(struct played_master *m)
{
        Firesteel__Standalone__Version version = standalone_version();
        Firesteel__Standalone__WorkerRegistered registered = FIRESTEEL__STANDALONE__WORKER_REGISTERED__INIT;
        Firesteel__Standalone__MasterInStandby standby = FIRESTEEL__STANDALONE__MASTER_IN_STANDBY__INIT;
        Firesteel__Standalone__Sentence refusal = FIRESTEEL__STANDALONE__SENTENCE__INIT;
        if (m->role == OTHER_VERSION)
                version.major++;
        registered.version = standby.version = &version;
        registered.master_url = m->url;
        registered.master_web_ui = (char *)"";
        refusal.text = (char *)"there is one like you";
        if (m->role == LEADS || m->role == OTHER_VERSION)
                say(m, TYPE(WORKER_REGISTERED), &registered.base);
        else if (m->role == STANDS_BY)
                say(m, TYPE(MASTER_IN_STANDBY), &standby.base);
        else if (m->role == REFUSES)
                say(m, TYPE(REGISTRATION_REFUSED), &refusal.base);
}

static void take_registration(struct played_master *m, struct rpc_message *message)
{
        _cleanup_(standalone_memory_deinit) struct wire_memory memory = wire_memory_for(message->len);
        const Firesteel__Standalone__RegisterWorker *w = standalone_decode(
                message->body, message->len, &firesteel__standalone__register_worker__descriptor, &memory, NULL);
        assert_non_null(w);
        assert_int_equal(standalone_version_check(w->version, "w", "m", NULL), 0);
        rpc_ref_unref(m->ref);
        if (m->worker)
                rpc_peer_unref(m->worker);
        m->worker = rpc_peer_ref_new(message->peer);
        m->ref = rpc_peer_ref(message->peer, STANDALONE_WORKER_ENDPOINT);
        buf_printf(&m->heard, "register %d cores %d MiB %s%s%s\n", w->cores, (int)w->memory, w->web_ui,
                   *w->greeting ? " " : "", w->greeting);
        answer_registration(m);
}

static void take_state(struct played_master *m, const struct rpc_message *message)
{
        _cleanup_(standalone_memory_deinit) struct wire_memory memory = wire_memory_for(message->len);
        const Firesteel__Standalone__WorkerState *s = standalone_decode(
                message->body, message->len, &firesteel__standalone__worker_state__descriptor, &memory, NULL);
        assert_non_null(s);
        buf_puts(&m->heard, "state");
        for (size_t i = 0; i < s->n_executors; i++)
                buf_printf(&m->heard, " %s/%d %s", s->executors[i]->app_id, s->executors[i]->executor,
                           s->executors[i]->state);
        for (size_t i = 0; i < s->n_drivers; i++)
                buf_printf(&m->heard, " %s", s->drivers[i]->driver_id);
        buf_putc(&m->heard, '\n');
}

static void take_executor(struct played_master *m, const struct rpc_message *message)
{
        _cleanup_(standalone_memory_deinit) struct wire_memory memory = wire_memory_for(message->len);
        const Firesteel__Standalone__ExecutorStateChanged *e = standalone_decode(
                message->body, message->len, &firesteel__standalone__executor_state_changed__descriptor, &memory, NULL);
        assert_non_null(e);
        buf_printf(&m->heard, "executor %s/%d %s", e->app_id, e->executor, e->state);
        if (*e->message)
                buf_printf(&m->heard, " (%s)", e->message);
        if (e->has_exit_status)
                buf_printf(&m->heard, " %d", e->exit_status);
        buf_putc(&m->heard, '\n');
}

static void take_driver(struct played_master *m, const struct rpc_message *message)
{
        _cleanup_(standalone_memory_deinit) struct wire_memory memory = wire_memory_for(message->len);
        const Firesteel__Standalone__DriverStateChanged *d = standalone_decode(
                message->body, message->len, &firesteel__standalone__driver_state_changed__descriptor, &memory, NULL);
        assert_non_null(d);
        buf_printf(&m->heard, "driver %s %s (%s)\n", d->driver_id, d->state, d->exception);
}

static void receive(void *owner, struct rpc_message *message)
{
        struct played_master *m = owner;
        if (message->type == TYPE(REGISTER_WORKER))
                take_registration(m, message);
        else if (message->type == TYPE(WORKER_STATE))
                take_state(m, message);
        else if (message->type == TYPE(EXECUTOR_STATE_CHANGED))
                take_executor(m, message);
        else if (message->type == TYPE(DRIVER_STATE_CHANGED))
                take_driver(m, message);
        else if (message->type == TYPE(WORKER_DECOMMISSIONING))
                buf_puts(&m->heard, "decommissioning\n");
        else if (message->type == TYPE(WORKER_HEARTBEAT))
                m->heartbeats++;
        if (message->ask && m->frozen) {
                assert_true(m->n_calls < ARRAY_SIZE(m->calls));
                m->calls[m->n_calls++] = rpc_message_defer(message);
        } else if (message->ask) {
                rpc_reply(message, TYPE(STANDALONE_NONE), NULL, 0, NULL);
        }
}

static void thaw(struct played_master *m)
{
        while (m->n_calls)
                rpc_call_reply(m->calls[--m->n_calls], TYPE(STANDALONE_NONE), NULL, 0, NULL);
        m->frozen = false;
        rpc_env_flush(m->env);
}

static const struct rpc_endpoint_class master_class = {.receive = receive};

/* ------------------------------------------------------------------------------------------------------- world */

static void too_long(uv_timer_t *timer)
{
        struct world *w = timer->data;
        for (size_t i = 0; i < w->n; i++)
                print_message("master %zu heard:\n%s", i, buf_text(&w->masters[i].heard));
        fail_msg("what is waited for has not come in %d s", PATIENCE_MS / 1000);
}

static void nothing(uv_timer_t *timer)
{
        (void)timer;
}

#define wait_for(w, condition)                                                                                         \
        do {                                                                                                           \
                uv_timer_start(&(w)->patience, too_long, PATIENCE_MS, 0);                                              \
                while (!(condition))                                                                                   \
                        uv_run(&(w)->loop, UV_RUN_ONCE);                                                               \
                uv_timer_stop(&(w)->patience);                                                                         \
        } while (0)

static bool heard(const struct played_master *m, const char *line)
{
        return strstr(buf_text(&m->heard), line);
}

static void open_master(struct world *w, enum role role)
{
        struct played_master *m = &w->masters[w->n++];
        struct rpc_options options;
        rpc_options_init(&options);
        options.name = STANDALONE_MASTER_ENV;
        *m = (struct played_master){.role = role};
        assert_int_equal(rpc_env_new(&w->loop, &options, &m->env, NULL), 0);
        assert_int_equal(rpc_env_register(m->env, STANDALONE_MASTER_ENDPOINT, &master_class, m, NULL), 0);
        assert_int_equal(rpc_env_listen(m->env, "127.0.0.1", "127.0.0.1", 0, 0, NULL), 0);
        m->url = mem_printf("spark://%s", rpc_env_address(m->env));
}

static void open_world(struct world *w)
{
        int port = 0;
        memset(w, 0, sizeof(*w));
        uv_loop_init(&w->loop);
        uv_timer_init(&w->loop, &w->patience);
        w->patience.data = w;
        snprintf(w->folder, sizeof(w->folder), "/tmp/worker-server-XXXXXX");
        assert_non_null(mkdtemp(w->folder));
        w->silent_driver =
                socket_listen(&(struct listen_options){.service = "driver", .host = "127.0.0.1"}, &port, NULL);
        assert_true(w->silent_driver >= 0);
        w->driver_url = mem_printf("spark://CoarseGrainedScheduler@127.0.0.1:%d", port);
}

static void ended(void *owner, int status)
{
        struct world *w = owner;
        w->ended = true;
        w->status = status;
}

/* As its command line would be, with what else the configuration says. */
static void start_worker(struct world *w, const char *options)
{
        struct fst_error error = FST_ERROR_INIT;
        struct buf masters = BUF_INIT;
        _cleanup_free_ char *work = mem_printf("%s/work", w->folder), *conf_dir = mem_printf("%s/conf", w->folder);
        _cleanup_free_ char *all = mem_printf("-Dspark.local.dir=%s/local %s", w->folder, options);
        for (size_t i = 0; i < w->n; i++)
                buf_printf(&masters, "%s%s", i ? "," : "", w->masters[i].url + (i ? strlen("spark://") : 0));
        char *argv[] = {"worker", "-c", "4", "-m", "2g", "-h", "127.0.0.1", "-d", work, "-p", "0", masters.data};
        setenv("SPARK_CONF_DIR", conf_dir, 1);
        setenv("XDG_CACHE_HOME", w->folder, 1);
        setenv("SPARK_WORKER_OPTS", all, 1);
        if (worker_conf_read(&w->conf, ARRAY_SIZE(argv), argv, &error) ||
            worker_server_new(&w->loop, &w->conf, ended, w, &w->server, &error))
                fail_msg("%s", error_message(&error));
        log_reset_levels(LOG_OFF);
        worker_server_start(w->server, "http://127.0.0.1:8081");
        buf_deinit(&masters);
}

static void master_closed(void *owner)
{
        ((struct played_master *)owner)->closed = true;
}

static void close_master(struct world *w, struct played_master *m)
{
        rpc_ref_unref(steal(m->ref));
        if (m->worker)
                rpc_peer_unref(steal(m->worker));
        rpc_env_close(m->env, 0, master_closed, m);
        wait_for(w, m->closed);
        free(m->url);
        buf_deinit(&m->heard);
}

static void close_world(struct world *w)
{
        if (!w->ended)
                worker_server_stop(w->server, 0);
        wait_for(w, w->ended);
        for (size_t i = 0; i < w->n; i++)
                close_master(w, &w->masters[i]);
        uv_close((uv_handle_t *)&w->patience, NULL);
        uv_run(&w->loop, UV_RUN_DEFAULT);
        assert_int_equal(uv_loop_close(&w->loop), 0);
        worker_server_free(w->server);
        worker_conf_deinit(&w->conf);
        close(w->silent_driver);
        free(w->driver_url);
        remove_tree(w->folder);
}

/* ---------------------------------------------------------------------------------------------------- messages */

struct launch {
        const char *app_id, *main_class, *driver_url;
        int executor;
};

static void *pack_launch(const struct world *w, const struct played_master *m, const struct launch *l, size_t *size)
{
        Firesteel__Standalone__Command command = FIRESTEEL__STANDALONE__COMMAND__INIT;
        Firesteel__Standalone__Property setting = FIRESTEEL__STANDALONE__PROPERTY__INIT, *settings[] = {&setting};
        Firesteel__Standalone__LaunchExecutor launch = FIRESTEEL__STANDALONE__LAUNCH_EXECUTOR__INIT;
        char *words[] = {"--driver-url",  (char *)(l->driver_url ? l->driver_url : w->driver_url),
                         "--executor-id", "{{EXECUTOR_ID}}",
                         "--hostname",    "{{HOSTNAME}}",
                         "--cores",       "{{CORES}}",
                         "--app-id",      "{{APP_ID}}",
                         "--worker-url",  "{{WORKER_URL}}"};
        command.main_class = (char *)(l->main_class ? l->main_class : STANDALONE_EXECUTOR_CLASS);
        command.arguments = words;
        command.n_arguments = ARRAY_SIZE(words);
        setting.key = (char *)"spark.rpc.lookupTimeout";
        setting.value = (char *)"100s";
        command.properties = settings;
        command.n_properties = 1;
        launch.master_url = m->url;
        launch.app_id = (char *)(l->app_id ? l->app_id : "app-1");
        launch.app_name = (char *)"test";
        launch.executor = l->executor;
        launch.cores = 2;
        launch.memory = 512;
        launch.command.data = standalone_pack(&command.base, &launch.command.len);
        void *body = standalone_pack(&launch.base, size);
        free(launch.command.data);
        return body;
}

static void launch(struct world *w, struct played_master *m, const struct launch *l)
{
        size_t size;
        _cleanup_free_ void *body = pack_launch(w, m, l, &size);
        assert_int_equal(rpc_send(m->ref, TYPE(LAUNCH_EXECUTOR), body, size, NULL), 0);
}

static void kill_executor(struct played_master *m, const char *app_id, int executor)
{
        Firesteel__Standalone__ExecutorName name = FIRESTEEL__STANDALONE__EXECUTOR_NAME__INIT;
        name.app_id = (char *)app_id;
        name.executor = executor;
        say(m, TYPE(KILL_EXECUTOR), &name.base);
}

struct driver {
        const char *id, *url, *class, *arguments[4];
        bool supervise;
};

static void launch_driver(struct played_master *m, const struct driver *d)
{
        Firesteel__Standalone__Command command = FIRESTEEL__STANDALONE__COMMAND__INIT;
        Firesteel__Standalone__DriverDescription description = FIRESTEEL__STANDALONE__DRIVER_DESCRIPTION__INIT;
        Firesteel__Standalone__LaunchDriver message = FIRESTEEL__STANDALONE__LAUNCH_DRIVER__INIT;
        Firesteel__Standalone__Property setting = FIRESTEEL__STANDALONE__PROPERTY__INIT, *settings[] = {&setting};
        char *words[8] = {"{{WORKER_URL}}", "{{USER_JAR}}", (char *)(d->class ? d->class : "main")};
        command.n_arguments = 3;
        for (size_t i = 0; i < ARRAY_SIZE(d->arguments) && d->arguments[i]; i++)
                words[command.n_arguments++] = (char *)d->arguments[i];
        command.main_class = (char *)STANDALONE_DRIVER_CLASS;
        command.arguments = words;
        setting.key = (char *)"spark.some.key";
        setting.value = (char *)" a \\ value";
        command.properties = settings;
        command.n_properties = 1;
        description.jar_url = (char *)d->url;
        description.cores = 1;
        description.memory = 256;
        description.supervise = d->supervise;
        description.command = &command;
        message.master_url = m->url;
        message.driver_id = (char *)d->id;
        message.description.data = standalone_pack(&description.base, &message.description.len);
        say(m, TYPE(LAUNCH_DRIVER), &message.base);
        free(message.description.data);
}

static void kill_driver(struct played_master *m, const char *id)
{
        Firesteel__Standalone__DriverId name = FIRESTEEL__STANDALONE__DRIVER_ID__INIT;
        name.id = (char *)id;
        say(m, TYPE(KILL_DRIVER), &name.base);
}

/* What drivers run here: its first argument says what it does. */
static const char application[] = "#include <firesteel/firesteel.h>\n"
                                  "#include <stdio.h>\n"
                                  "#include <string.h>\n"
                                  "#include <unistd.h>\n"
                                  "int main(int argc, char **argv)\n"
                                  "{\n"
                                  "        printf(\"%s %s\\n\", argv[1], argc > 2 ? argv[2] : \"\");\n"
                                  "        fflush(stdout);\n"
                                  "        if (strcmp(argv[1], \"wait\") == 0)\n"
                                  "                for (;;)\n"
                                  "                        pause();\n"
                                  "        if (strcmp(argv[1], \"second\") == 0 && access(\"was-here\", F_OK) == 0)\n"
                                  "                return 0;\n"
                                  "        fclose(fopen(\"was-here\", \"w\"));\n"
                                  "        return argv[1][0] == 'o' ? 0 : 3;\n"
                                  "}\n";

/* The application's URL; the caller owns it. */
static char *write_application(struct world *w)
{
        _cleanup_free_ char *path = mem_printf("%s/app.c", w->folder);
        FILE *f = fopen(path, "we");
        assert_non_null(f);
        fputs(application, f);
        assert_int_equal(fclose(f), 0);
        return mem_printf("file:%s", path);
}

static char *read_text(const char *folder, const char *name)
{
        _cleanup_free_ char *path = mem_printf("%s/%s", folder, name);
        char *text = mem_zero(65536);
        FILE *f = fopen(path, "re");
        if (!f)
                fail_msg("%s is not there", path);
        text[fread(text, 1, 65535, f)] = '\0';
        fclose(f);
        return text;
}

/* ------------------------------------------------------------------------------------------------------- tests */

static void test_registers(void **state)
{
        struct world w;
        (void)state;
        open_world(&w);
        open_master(&w, LEADS);
        start_worker(&w, "-Dspark.worker.timeout=1");
        struct played_master *m = &w.masters[0];
        wait_for(&w, m->heartbeats >= 3);
        assert_string_equal(buf_text(&m->heard), "register 4 cores 2048 MiB http://127.0.0.1:8081\nstate\n");
        const struct worker_view *v = worker_server_view(w.server);
        assert_true(v->connected);
        assert_string_equal(v->master_url, m->url);
        assert_int_equal(strncmp(v->id, "worker-20", 9), 0);
        close_world(&w);
        assert_int_equal(w.status, 0);
}

/* An executor whose driver is not there: it ends by itself, and all that it said is in its directory. */
static void test_executor_that_fails(void **state)
{
        struct world w;
        (void)state;
        open_world(&w);
        open_master(&w, LEADS);
        start_worker(&w, "");
        struct played_master *m = &w.masters[0];
        wait_for(&w, heard(m, "state\n"));
        launch(&w, m, &(struct launch){.executor = 7, .driver_url = "spark://CoarseGrainedScheduler@127.0.0.1:1"});
        wait_for(&w, heard(m, "executor app-1/7 EXITED (Command exited with code 1) 1\n"));
        assert_true(heard(m, "executor app-1/7 RUNNING\n"));
        const struct worker_view *v = worker_server_view(w.server);
        assert_int_equal(v->executors.len, 0);
        assert_int_equal(v->cores_used, 0);
        assert_int_equal(v->finished_executors.len, 1);
        const struct worker_executor_state *x = v->finished_executors.data[0];
        _cleanup_free_ char *err = read_text(x->directory, "stderr"), *out = read_text(x->directory, "stdout");
        assert_int_equal(strncmp(err, "Spark Executor Command: \"firesteel\" \"executor\" \"--driver-url\"", 60), 0);
        assert_non_null(strstr(err, "\"--executor-id\" \"7\" \"--hostname\" \"127.0.0.1\" \"--cores\" \"2\""));
        assert_non_null(strstr(err, "Connection refused"));
        assert_string_equal(out, "");
        assert_int_equal(strncmp(x->command, "Command(org.apache.spark.executor.CoarseGrained", 47), 0);
        close_world(&w);
}

static void test_executor_is_killed(void **state)
{
        struct world w;
        (void)state;
        open_world(&w);
        open_master(&w, LEADS);
        start_worker(&w, "");
        struct played_master *m = &w.masters[0];
        wait_for(&w, heard(m, "state\n"));
        launch(&w, m, &(struct launch){.executor = 0});
        launch(&w, m, &(struct launch){.executor = 1});
        wait_for(&w, heard(m, "executor app-1/1 RUNNING\n"));
        assert_int_equal(worker_server_view(w.server)->cores_used, 4);
        assert_int_equal(worker_server_view(w.server)->memory_used, 1024);
        kill_executor(m, "app-1", 5);
        kill_executor(m, "app-1", 0);
        wait_for(&w, heard(m, "executor app-1/0 KILLED (Executor app-1/0 was killed)"));
        assert_int_equal(worker_server_view(w.server)->executors.len, 1);
        assert_int_equal(worker_server_view(w.server)->cores_used, 2);
        /* The other one goes with the worker. */
        close_world(&w);
}

static void test_launches_that_cannot_be(void **state)
{
        struct world w;
        (void)state;
        open_world(&w);
        open_master(&w, LEADS);
        start_worker(&w, "");
        struct played_master *m = &w.masters[0];
        wait_for(&w, heard(m, "state\n"));
        launch(&w, m, &(struct launch){.executor = 0, .main_class = "org.example.Other"});
        launch(&w, m, &(struct launch){.executor = 1, .app_id = "../app"});
        _cleanup_free_ char *taken = mem_printf("%s/work/app-2", w.folder);
        FILE *f = fopen(taken, "we");
        assert_non_null(f);
        fclose(f);
        launch(&w, m, &(struct launch){.executor = 2, .app_id = "app-2"});
        wait_for(&w, heard(m, "executor app-2/2"));
        assert_true(heard(m, "executor app-1/0 FAILED (executors of the class \"org.example.Other\" are not started"));
        assert_true(heard(m, "executor ../app/1 FAILED (\"../app\" is no application's id)"));
        assert_true(heard(m, "executor app-2/2 FAILED (Failed to create directory "));
        assert_int_equal(worker_server_view(w.server)->executors.len, 0);
        close_world(&w);
}

/* Whoever is not the master that leads starts nothing, whatever it calls itself. */
static void test_strangers_give_no_orders(void **state)
{
        struct world w;
        struct rpc_ref *ref;
        struct fst_error error = FST_ERROR_INIT;
        size_t size;
        (void)state;
        open_world(&w);
        open_master(&w, LEADS);
        open_master(&w, STANDS_BY);
        start_worker(&w, "");
        wait_for(&w, heard(&w.masters[0], "state\n") && w.masters[1].ref);
        _cleanup_free_ void *body = pack_launch(&w, &w.masters[0], &(struct launch){.executor = 3}, &size);
        /* One that stands by, over the connection that the worker made; then one that connects to the worker. */
        assert_int_equal(rpc_send(w.masters[1].ref, TYPE(LAUNCH_EXECUTOR), body, size, NULL), 0);
        assert_int_equal(rpc_env_ref(w.masters[1].env, worker_server_url(w.server), &ref, &error), 0);
        Firesteel__Standalone__MasterChanged changed = FIRESTEEL__STANDALONE__MASTER_CHANGED__INIT;
        changed.master_url = w.masters[0].url;
        changed.master_web_ui = (char *)"";
        assert_int_equal(rpc_send_packed(ref, TYPE(MASTER_CHANGED), &changed.base, NULL), 0);
        assert_int_equal(rpc_send(ref, TYPE(LAUNCH_EXECUTOR), body, size, NULL), 0);
        /* The leader's own comes last, and is the only one. */
        launch(&w, &w.masters[0], &(struct launch){.executor = 4, .main_class = "none"});
        wait_for(&w, heard(&w.masters[0], "executor app-1/4"));
        assert_false(heard(&w.masters[0], "app-1/3"));
        assert_int_equal(worker_server_view(w.server)->executors.len, 0);
        rpc_ref_unref(ref);
        close_world(&w);
}

static void take_over(struct world *w, struct played_master *m)
{
        Firesteel__Standalone__MasterChanged changed = FIRESTEEL__STANDALONE__MASTER_CHANGED__INIT;
        Firesteel__Standalone__Version version = standalone_version();
        changed.version = &version;
        changed.master_url = m->url;
        changed.master_web_ui = (char *)"";
        buf_reset(&m->heard);
        say(m, TYPE(MASTER_CHANGED), &changed.base);
        wait_for(w, heard(m, "state\n"));
}

/* What ended while no master was there is told to the next, before what runs. */
static void test_master_is_lost(void **state)
{
        struct world w;
        (void)state;
        open_world(&w);
        open_master(&w, LEADS);
        open_master(&w, STANDS_BY);
        start_worker(&w, "");
        struct played_master *m = &w.masters[0], *other = &w.masters[1];
        wait_for(&w, heard(m, "state\n") && other->ref);
        launch(&w, m, &(struct launch){.executor = 0});
        launch(&w, m, &(struct launch){.executor = 1});
        wait_for(&w, heard(m, "executor app-1/1 RUNNING\n"));
        kill_executor(m, "app-1", 1);
        rpc_env_flush(m->env);
        wait_for(&w, heard(m, "executor app-1/1 KILLED"));
        rpc_peer_close(m->worker, "the master is gone");
        m->role = SILENT;
        wait_for(&w, !worker_server_view(w.server)->connected);
        const struct worker_view *v = worker_server_view(w.server);
        assert_int_equal(v->executors.len, 1); /* who ran, runs */
        pid_t pid = 0;
        /* It dies by itself meanwhile: its only child. */
        _cleanup_free_ char *children = read_text("/proc/thread-self", "children");
        assert_int_equal(sscanf(children, "%d", &pid), 1);
        kill(pid, SIGKILL);
        wait_for(&w, worker_server_view(w.server)->executors.len == 0);
        take_over(&w, other);
        const char *told =
                strstr(buf_text(&other->heard), "executor app-1/0 EXITED (Command exited with code 137 (SIGKILL");
        assert_non_null(told);
        assert_true(told < strstr(buf_text(&other->heard), "state\n"));
        assert_false(heard(other, "app-1/1")); /* the old one had that */
        assert_string_equal(worker_server_view(w.server)->master_url, other->url);
        close_world(&w);
}

/*
 * A leader stands still with the news of a driver's end in its hands, and another leads: that one is told as well, or
 * it would start the driver again. What the first says when it awakes changes nothing.
 */
static void test_news_reach_the_master_that_follows_a_frozen_one(void **state)
{
        struct world w;
        (void)state;
        open_world(&w);
        open_master(&w, LEADS);
        open_master(&w, STANDS_BY);
        start_worker(&w, "");
        struct played_master *m = &w.masters[0], *other = &w.masters[1];
        _cleanup_free_ char *url = write_application(&w);
        wait_for(&w, heard(m, "state\n") && other->ref);
        m->frozen = other->frozen = true;
        launch_driver(m, &(struct driver){.id = "driver-1", .url = url, .arguments = {"ok"}, .supervise = true});
        wait_for(&w, heard(m, "driver driver-1 FINISHED ()\n"));
        take_over(&w, other);
        const char *told = strstr(buf_text(&other->heard), "driver driver-1 FINISHED ()\n");
        assert_non_null(told);
        assert_true(told < strstr(buf_text(&other->heard), "state\n"));
        thaw(m);
        wait_for(&w, other->n_calls == 1);
        /* The second ends before it has answered, and the first leads again. */
        rpc_peer_close(other->worker, "the master is gone");
        other->role = SILENT;
        wait_for(&w, !worker_server_view(w.server)->connected);
        take_over(&w, m);
        assert_non_null(strstr(buf_text(&m->heard), "driver driver-1 FINISHED ()\n"));
        /* It has answered: nobody needs be told again. */
        rpc_send(m->ref, TYPE(RECONNECT_WORKER), NULL, 0, NULL);
        buf_reset(&m->heard);
        wait_for(&w, heard(m, "state\n"));
        assert_false(heard(m, "driver-1"));
        thaw(other);
        close_world(&w);
}

static void answered(void *owner, struct rpc_answer *answer)
{
        *(bool *)owner = true;
}

static void closed(void *owner)
{
        *(bool *)owner = true;
}

/* A worker that has lost its master shows each what it was greeted with by whoever called it. */
static void test_called(void **state)
{
        struct world w;
        struct rpc_ref *ref;
        struct fst_error error = FST_ERROR_INIT;
        bool arrived = false;
        (void)state;
        open_world(&w);
        open_master(&w, LEADS);
        start_worker(&w, "");
        struct played_master *m = &w.masters[0];
        wait_for(&w, heard(m, "state\n"));
        struct rpc_options options;
        struct rpc_env *caller;
        rpc_options_init(&options);
        options.name = STANDALONE_MASTER_ENV;
        assert_int_equal(rpc_env_new(&w.loop, &options, &caller, NULL), 0);
        assert_int_equal(rpc_env_ref(caller, worker_server_url(w.server), &ref, &error), 0);
        Firesteel__Standalone__MasterChanged changed = FIRESTEEL__STANDALONE__MASTER_CHANGED__INIT;
        changed.master_url = (char *)"spark://elsewhere:7077";
        changed.greeting = (char *)"good morning";
        assert_int_equal(rpc_send_packed(ref, TYPE(MASTER_CHANGED), &changed.base, NULL), 0);
        assert_int_equal(rpc_ask(ref, TYPE(STANDALONE_NONE), NULL, 0, NULL, 0, answered, &arrived), 0);
        wait_for(&w, arrived);
        assert_true(worker_server_view(w.server)->connected); /* that is no reason to leave */
        buf_reset(&m->heard);
        rpc_send(m->ref, TYPE(RECONNECT_WORKER), NULL, 0, NULL);
        wait_for(&w, heard(m, "state\n"));
        assert_string_equal(buf_text(&m->heard),
                            "register 4 cores 2048 MiB http://127.0.0.1:8081 good morning\nstate\n");
        rpc_ref_unref(ref);
        arrived = false;
        rpc_env_close(caller, 0, closed, &arrived);
        wait_for(&w, arrived);
        close_world(&w);
}

static int folders_in(const char *path)
{
        int n = 0;
        DIR *d = opendir(path);
        assert_non_null(d);
        for (struct dirent *e; (e = readdir(d));)
                n += *e->d_name != '.';
        closedir(d);
        return n;
}

/* What a killed worker left is gone before the first executor; what a living one has stays. */
static void test_sweeps(void **state)
{
        struct world w;
        struct fst_error error = FST_ERROR_INIT;
        struct disk_dirs *living, *killed;
        (void)state;
        open_world(&w);
        _cleanup_free_ char *local = mem_printf("%s/local", w.folder);
        assert_int_equal(disk_dirs_for_executors(local, &living, &error), 0);
        pid_t child = fork();
        if (child == 0)
                _exit(disk_dirs_for_executors(local, &killed, &error));
        int status = -1;
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_int_equal(status, 0);
        assert_int_equal(folders_in(local), 2);
        open_master(&w, LEADS);
        start_worker(&w, "");
        assert_int_equal(folders_in(local), 1);
        assert_int_equal(access(disk_dirs_root(living, 0), F_OK), 0);
        disk_dirs_free(living);
        wait_for(&w, heard(&w.masters[0], "state\n"));
        close_world(&w);
}

static void test_reconnects(void **state)
{
        struct world w;
        (void)state;
        open_world(&w);
        open_master(&w, LEADS);
        start_worker(&w, "");
        struct played_master *m = &w.masters[0];
        wait_for(&w, heard(m, "state\n"));
        launch(&w, m, &(struct launch){.executor = 0});
        wait_for(&w, heard(m, "executor app-1/0 RUNNING\n"));
        buf_reset(&m->heard);
        rpc_send(m->ref, TYPE(RECONNECT_WORKER), NULL, 0, NULL);
        wait_for(&w, heard(m, "state"));
        assert_string_equal(buf_text(&m->heard),
                            "register 4 cores 2048 MiB http://127.0.0.1:8081\nstate app-1/0 RUNNING\n");
        close_world(&w);
}

static void test_refused(void **state)
{
        (void)state;
        for (int i = 0; i < 2; i++) {
                struct world w;
                open_world(&w);
                open_master(&w, i ? OTHER_VERSION : REFUSES);
                start_worker(&w, "");
                wait_for(&w, w.ended);
                assert_int_equal(w.status, 1);
                close_world(&w);
        }
}

static void test_decommission(void **state)
{
        struct world w;
        (void)state;
        open_world(&w);
        open_master(&w, LEADS);
        start_worker(&w, "-Dspark.decommission.enabled=true");
        struct played_master *m = &w.masters[0];
        wait_for(&w, heard(m, "state\n"));
        launch(&w, m, &(struct launch){.executor = 0});
        wait_for(&w, heard(m, "executor app-1/0 RUNNING\n"));
        worker_server_decommission(w.server);
        wait_for(&w, heard(m, "decommissioning\n"));
        assert_true(worker_server_view(w.server)->decommissioned);
        launch(&w, m, &(struct launch){.executor = 1});
        kill_executor(m, "app-1", 0);
        wait_for(&w, worker_server_view(w.server)->executors.len == 0);
        assert_false(heard(m, "app-1/1"));
        close_world(&w);
}

static void test_decommission_is_not_enabled(void **state)
{
        struct world w;
        (void)state;
        open_world(&w);
        open_master(&w, LEADS);
        start_worker(&w, "");
        struct played_master *m = &w.masters[0];
        wait_for(&w, heard(m, "state\n"));
        worker_server_decommission(w.server);
        assert_false(worker_server_view(w.server)->decommissioned);
        close_world(&w);
        assert_int_equal(w.status, 0);
}

static void test_drivers(void **state)
{
        struct world w;
        struct stat st;
        (void)state;
        open_world(&w);
        open_master(&w, LEADS);
        start_worker(&w, "");
        struct played_master *m = &w.masters[0];
        _cleanup_free_ char *url = write_application(&w), *missing = mem_printf("file:%s/none.so", w.folder);
        wait_for(&w, heard(m, "state\n"));
        launch_driver(m, &(struct driver){.id = "driver-1", .url = url, .arguments = {"ok", "two words"}});
        launch_driver(m, &(struct driver){.id = "driver-2", .url = url, .arguments = {"fail"}});
        launch_driver(m, &(struct driver){.id = "driver-3", .url = missing});
        launch_driver(m, &(struct driver){.id = "driver-4", .url = url, .class = "nothing"});
        launch_driver(m, &(struct driver){.id = "../5", .url = url});
        wait_for(&w, heard(m, "driver driver-1 ") && heard(m, "driver driver-2 ") && heard(m, "driver driver-3 ") &&
                             heard(m, "driver driver-4 ") && heard(m, "driver ../5 "));
        assert_true(heard(m, "driver driver-1 FINISHED ()\n"));
        assert_true(heard(m, "driver driver-2 FAILED (Command exited with code 3)\n"));
        assert_true(heard(m, "driver driver-3 ERROR (") && heard(m, "none.so: No such file or directory)"));
        assert_true(heard(m, "driver driver-4 FAILED (Command exited with code 101: "));
        assert_true(heard(m, "driver ../5 ERROR (\"../5\" is no driver's id)"));
        const struct worker_view *v = worker_server_view(w.server);
        assert_int_equal(v->drivers.len, 0);
        assert_int_equal(v->cores_used, 0);
        assert_int_equal(v->finished_drivers.len, 5);
        _cleanup_free_ char *folder = mem_printf("%s/work/driver-1", w.folder);
        _cleanup_free_ char *out = read_text(folder, "stdout"), *err = read_text(folder, "stderr");
        _cleanup_free_ char *conf = read_text(folder, "driver.conf"), *path = mem_printf("%s/driver.conf", folder);
        assert_string_equal(out, "ok two words\n");
        assert_int_equal(strncmp(err, "Launch Command: \"firesteel\" \"driver\" ", 37), 0);
        assert_non_null(strstr(conf, "spark.some.key=\\ a \\\\ value\n"));
        struct strmap properties = {0};
        assert_int_equal(properties_load(&properties, path, NULL), 0);
        assert_string_equal(strmap_get(&properties, "spark.master"), m->url); /* whatever the submission said */
        strmap_deinit(&properties);
        assert_int_equal(stat(path, &st), 0);
        assert_int_equal(st.st_mode & 0777, 0600); /* it may hold secrets of the application */
        close_world(&w);
}

static void test_driver_is_killed(void **state)
{
        struct world w;
        (void)state;
        open_world(&w);
        open_master(&w, LEADS);
        start_worker(&w, "");
        struct played_master *m = &w.masters[0];
        _cleanup_free_ char *url = write_application(&w);
        _cleanup_free_ char *folder = mem_printf("%s/work/driver-1", w.folder), *out = mem_printf("%s/stdout", folder);
        struct stat st;
        wait_for(&w, heard(m, "state\n"));
        launch_driver(m, &(struct driver){.id = "driver-1", .url = url, .arguments = {"wait"}, .supervise = true});
        /* Killed at once, before it has begun: */
        launch_driver(m, &(struct driver){.id = "driver-2", .url = url, .arguments = {"wait"}, .supervise = true});
        kill_driver(m, "driver-2");
        wait_for(&w, heard(m, "driver driver-2 KILLED ()"));
        uv_timer_t look; /* the loop turns */
        uv_timer_init(&w.loop, &look);
        uv_timer_start(&look, nothing, 10, 10);
        wait_for(&w, stat(out, &st) == 0 && st.st_size > 0);
        uv_close((uv_handle_t *)&look, NULL);
        buf_reset(&m->heard);
        rpc_send(m->ref, TYPE(RECONNECT_WORKER), NULL, 0, NULL);
        wait_for(&w, heard(m, "state driver-1\n"));
        kill_driver(m, "none");
        kill_driver(m, "driver-1");
        wait_for(&w, heard(m, "driver driver-1 KILLED ()"));
        close_world(&w);
}

/* It fails, is started again a second later, and does better. */
static void test_supervised_driver(void **state)
{
        struct world w;
        (void)state;
        open_world(&w);
        open_master(&w, LEADS);
        start_worker(&w, "");
        struct played_master *m = &w.masters[0];
        _cleanup_free_ char *url = write_application(&w), *folder = mem_printf("%s/work/driver-1", w.folder);
        wait_for(&w, heard(m, "state\n"));
        launch_driver(m, &(struct driver){.id = "driver-1", .url = url, .arguments = {"second"}, .supervise = true});
        wait_for(&w, heard(m, "driver driver-1 "));
        assert_true(heard(m, "driver driver-1 FINISHED ()"));
        _cleanup_free_ char *out = read_text(folder, "stdout");
        assert_string_equal(out, "second \nsecond \n");
        close_world(&w);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_registers),
                cmocka_unit_test(test_executor_that_fails),
                cmocka_unit_test(test_executor_is_killed),
                cmocka_unit_test(test_launches_that_cannot_be),
                cmocka_unit_test(test_strangers_give_no_orders),
                cmocka_unit_test(test_master_is_lost),
                cmocka_unit_test(test_news_reach_the_master_that_follows_a_frozen_one),
                cmocka_unit_test(test_called),
                cmocka_unit_test(test_sweeps),
                cmocka_unit_test(test_reconnects),
                cmocka_unit_test(test_refused),
                cmocka_unit_test(test_decommission),
                cmocka_unit_test(test_decommission_is_not_enabled),
                cmocka_unit_test(test_drivers),
                cmocka_unit_test(test_driver_is_killed),
                cmocka_unit_test(test_supervised_driver),
        };
        signal(SIGPIPE, SIG_IGN);
        return cmocka_run_group_tests(tests, NULL, NULL);
}
