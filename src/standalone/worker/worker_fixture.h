/* A real worker with fake masters: real connections and real executors, which find no driver. The
 * fixture records the worker's messages as lines: "register 4 cores 2048 MiB …", "state app-1/0 RUNNING", "executor
 * app-1/0 KILLED", …
 */
#pragma once

#include "base/buf.h"
#include "base/error.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/fs.h"
#include "standalone/wire/standalone_wire.h"
#include "standalone/worker/worker_server.h"
#include "net/socket.h"
#include "rpc/rpc.h"
#include "unit/temp_dir.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include <cmocka.h>

#define TYPE(name) FIRESTEEL__STANDALONE__STANDALONE_TYPE__##name
#define TIMEOUT_MS 60000

/* --------------------------------------------------------------------------------------------------------- masters */

enum role { LEADS, STANDS_BY, SILENT, REFUSES, OTHER_VERSION };

struct fake_master {
        enum role role;
        struct rpc_env *env;
        struct rpc_peer *worker; /* the worker that registered last */
        struct rpc_ref *ref;
        struct buf heard;
        char *url;
        int heartbeats;
        bool closed;
        bool frozen; /* it does not reply, requests wait in calls */
        struct rpc_call *calls[4];
        size_t n_calls;
};

struct cluster_fixture {
        uv_loop_t loop;
        uv_timer_t timeout;
        char folder[TEMP_DIR_SIZE];
        struct worker_conf conf;
        struct worker_server *server;
        struct fake_master masters[2];
        size_t n;
        int silent_driver; /* a port that accepts connections and sends nothing */
        char *driver_url;
        int status;
        bool ended;
};

static inline void master_send(struct fake_master *m, uint16_t type, const ProtobufCMessage *body)
{
        assert_int_equal(rpc_send_packed(m->ref, type, body, NULL), 0);
}

static inline void answer_registration(struct fake_master *m)
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
                master_send(m, TYPE(WORKER_REGISTERED), &registered.base);
        else if (m->role == STANDS_BY)
                master_send(m, TYPE(MASTER_IN_STANDBY), &standby.base);
        else if (m->role == REFUSES)
                master_send(m, TYPE(REGISTRATION_REFUSED), &refusal.base);
}

static inline void take_registration(struct fake_master *m, struct rpc_message *message)
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
                   *w->nonce ? " " : "", w->nonce);
        answer_registration(m);
}

static inline void take_state(struct fake_master *m, const struct rpc_message *message)
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

static inline void take_executor(struct fake_master *m, const struct rpc_message *message)
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

static inline void take_driver(struct fake_master *m, const struct rpc_message *message)
{
        _cleanup_(standalone_memory_deinit) struct wire_memory memory = wire_memory_for(message->len);
        const Firesteel__Standalone__DriverStateChanged *d = standalone_decode(
                message->body, message->len, &firesteel__standalone__driver_state_changed__descriptor, &memory, NULL);
        assert_non_null(d);
        buf_printf(&m->heard, "driver %s %s (%s)\n", d->driver_id, d->state, d->exception);
}

static inline void master_receive(void *owner, struct rpc_message *message)
{
        struct fake_master *m = owner;
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

static inline void master_thaw(struct fake_master *m)
{
        while (m->n_calls)
                rpc_call_reply(m->calls[--m->n_calls], TYPE(STANDALONE_NONE), NULL, 0, NULL);
        m->frozen = false;
        rpc_env_flush(m->env);
}

static const struct rpc_endpoint_class master_class = {.receive = master_receive};

/* ---------------------------------------------------------------------------------------------------------- fixture */

static inline void too_long(uv_timer_t *timer)
{
        struct cluster_fixture *w = timer->data;
        for (size_t i = 0; i < w->n; i++)
                print_message("master %zu heard:\n%s", i, buf_text(&w->masters[i].heard));
        fail_msg("the expected state was not reached within %d s", TIMEOUT_MS / 1000);
}

static inline void nothing(uv_timer_t *timer)
{
        (void)timer;
}

#define wait_for(w, condition)                                                                                         \
        do {                                                                                                           \
                uv_timer_start(&(w)->timeout, too_long, TIMEOUT_MS, 0);                                                \
                while (!(condition))                                                                                   \
                        uv_run(&(w)->loop, UV_RUN_ONCE);                                                               \
                uv_timer_stop(&(w)->timeout);                                                                          \
        } while (0)

static inline bool master_heard(const struct fake_master *m, const char *line)
{
        return strstr(buf_text(&m->heard), line);
}

static inline void open_master(struct cluster_fixture *w, enum role role)
{
        struct fake_master *m = &w->masters[w->n++];
        struct rpc_options options;
        rpc_options_init(&options);
        options.name = STANDALONE_MASTER_ENV;
        *m = (struct fake_master){.role = role};
        assert_int_equal(rpc_env_new(&w->loop, &options, &m->env, NULL), 0);
        assert_int_equal(rpc_env_register(m->env, STANDALONE_MASTER_ENDPOINT, &master_class, m, NULL), 0);
        assert_int_equal(rpc_env_listen(m->env, "127.0.0.1", "127.0.0.1", 0, 0, NULL), 0);
        m->url = mem_printf("spark://%s", rpc_env_address(m->env));
}

static inline void cluster_fixture_open(struct cluster_fixture *w)
{
        int port = 0;
        memset(w, 0, sizeof(*w));
        uv_loop_init(&w->loop);
        uv_timer_init(&w->loop, &w->timeout);
        w->timeout.data = w;
        temp_dir_new(w->folder);
        w->silent_driver =
                socket_listen(&(struct listen_options){.service = "driver", .host = "127.0.0.1"}, &port, NULL);
        assert_true(w->silent_driver >= 0);
        w->driver_url = mem_printf("spark://CoarseGrainedScheduler@127.0.0.1:%d", port);
}

static inline void worker_on_ended(void *owner, int status)
{
        struct cluster_fixture *w = owner;
        w->ended = true;
        w->status = status;
}

/* Starts the worker with @options as its command line and further configuration. */
static inline void start_worker(struct cluster_fixture *w, const char *options)
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
            worker_server_new(&w->loop, &w->conf, worker_on_ended, w, &w->server, &error))
                fail_msg("%s", error_message(&error));
        log_reset_levels(LOG_OFF);
        worker_server_start(w->server, "http://127.0.0.1:8081");
        buf_deinit(&masters);
}

/* Opens the fixture with a master that leads and a worker that has registered with it. Returns the master. */
static inline struct fake_master *cluster_fixture_start(struct cluster_fixture *w, const char *options)
{
        cluster_fixture_open(w);
        open_master(w, LEADS);
        start_worker(w, options);
        wait_for(w, master_heard(&w->masters[0], "state\n"));
        return &w->masters[0];
}

static inline void master_closed(void *owner)
{
        ((struct fake_master *)owner)->closed = true;
}

static inline void close_master(struct cluster_fixture *w, struct fake_master *m)
{
        rpc_ref_unref(steal(m->ref));
        if (m->worker)
                rpc_peer_unref(steal(m->worker));
        rpc_env_close(m->env, 0, master_closed, m);
        wait_for(w, m->closed);
        free(m->url);
        buf_deinit(&m->heard);
}

static inline void cluster_fixture_close(struct cluster_fixture *w)
{
        if (!w->ended)
                worker_server_stop(w->server, 0);
        wait_for(w, w->ended);
        for (size_t i = 0; i < w->n; i++)
                close_master(w, &w->masters[i]);
        uv_close((uv_handle_t *)&w->timeout, NULL);
        uv_run(&w->loop, UV_RUN_DEFAULT);
        assert_int_equal(uv_loop_close(&w->loop), 0);
        worker_server_free(w->server);
        worker_conf_deinit(&w->conf);
        close(w->silent_driver);
        free(w->driver_url);
        remove_tree(w->folder);
}

/* -------------------------------------------------------------------------------------------------------- messages */

struct launch {
        const char *app_id, *main_class, *driver_url;
        int executor;
};

static inline void *pack_launch(const struct cluster_fixture *w, const struct fake_master *m, const struct launch *l,
                                size_t *size)
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

static inline void launch_executor(struct cluster_fixture *w, struct fake_master *m, const struct launch *l)
{
        size_t size;
        _cleanup_free_ void *body = pack_launch(w, m, l, &size);
        assert_int_equal(rpc_send(m->ref, TYPE(LAUNCH_EXECUTOR), body, size, NULL), 0);
}

static inline void kill_executor(struct fake_master *m, const char *app_id, int executor)
{
        Firesteel__Standalone__ExecutorName name = FIRESTEEL__STANDALONE__EXECUTOR_NAME__INIT;
        name.app_id = (char *)app_id;
        name.executor = executor;
        master_send(m, TYPE(KILL_EXECUTOR), &name.base);
}

struct driver {
        const char *id, *url, *class, *arguments[4];
        bool supervise;
};

static inline void launch_driver(struct fake_master *m, const struct driver *d)
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
        master_send(m, TYPE(LAUNCH_DRIVER), &message.base);
        free(message.description.data);
}

static inline void kill_driver(struct fake_master *m, const char *id)
{
        Firesteel__Standalone__DriverId name = FIRESTEEL__STANDALONE__DRIVER_ID__INIT;
        name.id = (char *)id;
        master_send(m, TYPE(KILL_DRIVER), &name.base);
}

/* The source of a driver, whose first argument selects its behaviour. */
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

/* Returns the application's URL, which the caller frees. */
static inline char *write_application(struct cluster_fixture *w)
{
        _cleanup_free_ char *path = mem_printf("%s/app.c", w->folder);
        FILE *f = fopen(path, "we");
        assert_non_null(f);
        fputs(application, f);
        assert_int_equal(fclose(f), 0);
        return mem_printf("file:%s", path);
}

static inline char *read_text(const char *folder, const char *name)
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
