/*
 * A peer of a standalone cluster that announces another version of its messages, for
 * tests/standalone/standalone_versions_test.py.
 *
 *      wire_peer worker spark://HOST:PORT MAJOR.MINOR         registers as a worker
 *      wire_peer application spark://HOST:PORT MAJOR.MINOR    as an application
 *      wire_peer client spark://HOST:PORT MAJOR.MINOR         asks for the state of a driver
 *      wire_peer master MAJOR.MINOR                           is a master that accepts every registration
 * Prints one line for each message that it receives: "registered …", "refused: …", "answered: …", "port N".
 */
#include "base/error.h"
#include "base/mem.h"
#include "standalone/wire/standalone_wire.h"
#include "rpc/rpc.h"

#include <stdio.h>
#include <uv.h>

#define TYPE(name) FIRESTEEL__STANDALONE__STANDALONE_TYPE__##name

static uv_loop_t loop;
static struct rpc_ref *master;
static Firesteel__Standalone__Version version;
static bool is_over;

static void say(const char *what, const char *text)
{
        printf("%s%s\n", what, text);
        fflush(stdout);
        is_over = true;
}

static void hear_from_master(void *owner, struct rpc_message *m)
{
        struct fst_error error = FST_ERROR_INIT;
        _cleanup_(standalone_memory_deinit) struct wire_memory memory = wire_memory_for(m->len);
        const Firesteel__Standalone__Sentence *sentence;
        switch (m->type) {
        case TYPE(REGISTRATION_REFUSED):
                sentence = standalone_decode(m->body, m->len, &firesteel__standalone__sentence__descriptor, &memory,
                                             &error);
                say("refused: ", sentence ? sentence->text : error_message(&error));
                break;
        case TYPE(WORKER_REGISTERED):
        case TYPE(REGISTERED_APPLICATION):
                say("registered", "");
                break;
        default:
                break;
        }
        error_deinit(&error);
}

/* Everybody is taken: they have to look at the version themselves. */
static void hear_as_master(void *owner, struct rpc_message *m)
{
        if (m->type == TYPE(REGISTER_WORKER)) {
                Firesteel__Standalone__WorkerRegistered yes = FIRESTEEL__STANDALONE__WORKER_REGISTERED__INIT;
                struct rpc_ref *ref = rpc_peer_ref(m->peer, STANDALONE_WORKER_ENDPOINT);
                yes.version = &version;
                yes.master_url = (char *)"spark://scripted:1";
                rpc_send_packed(ref, TYPE(WORKER_REGISTERED), &yes.base, NULL);
                rpc_ref_unref(ref);
        } else if (m->type == TYPE(REGISTER_APPLICATION)) {
                Firesteel__Standalone__RegisteredApplication yes = FIRESTEEL__STANDALONE__REGISTERED_APPLICATION__INIT;
                struct rpc_ref *ref = rpc_peer_ref(m->peer, STANDALONE_APP_ENDPOINT);
                yes.version = &version;
                yes.app_id = (char *)"app-scripted";
                yes.master_url = (char *)"spark://scripted:1";
                rpc_send_packed(ref, TYPE(REGISTERED_APPLICATION), &yes.base, NULL);
                rpc_ref_unref(ref);
        }
}

static void lost(void *owner, struct rpc_peer *peer, const char *why)
{
        if (!is_over)
                say("lost: ", why);
}

static void answered(void *owner, struct rpc_answer *answer)
{
        struct fst_error error = FST_ERROR_INIT;
        _cleanup_(standalone_memory_deinit) struct wire_memory memory = wire_memory_for(answer->len);
        const Firesteel__Standalone__DriverStatus *status =
                answer->status ? NULL
                               : standalone_decode(answer->body, answer->len,
                                                   &firesteel__standalone__driver_status__descriptor, &memory, &error);
        if (answer->status)
                say("failed: ", answer->message);
        else
                say("answered: ", status ? status->message : error_message(&error));
        error_deinit(&error);
}

static void ended(void *owner, struct rpc_answer *answer)
{
        if (!answer->peer && !is_over)
                say("failed: ", answer->message);
}

static void introduce(const char *as)
{
        Firesteel__Standalone__RegisterWorker worker = FIRESTEEL__STANDALONE__REGISTER_WORKER__INIT;
        Firesteel__Standalone__RegisterApplication application = FIRESTEEL__STANDALONE__REGISTER_APPLICATION__INIT;
        Firesteel__Standalone__ExecutorProfile profile = FIRESTEEL__STANDALONE__EXECUTOR_PROFILE__INIT;
        Firesteel__Standalone__Command command = FIRESTEEL__STANDALONE__COMMAND__INIT;
        Firesteel__Standalone__DriverRequest request = FIRESTEEL__STANDALONE__DRIVER_REQUEST__INIT;
        command.main_class = (char *)STANDALONE_EXECUTOR_CLASS;
        worker.version = application.version = request.version = &version;
        worker.id = (char *)"worker-scripted";
        worker.host = (char *)"127.0.0.1";
        worker.port = 1;
        worker.cores = 1;
        worker.memory = 100;
        profile.memory = 100;
        profile.command = &command;
        application.name = application.user = (char *)"scripted";
        application.address = (char *)"127.0.0.1:1";
        application.profile = &profile;
        request.driver_id = (char *)"driver-scripted";
        if (strcmp(as, "worker") == 0)
                rpc_send_packed(master, TYPE(REGISTER_WORKER), &worker.base, NULL);
        else if (strcmp(as, "application") == 0)
                rpc_send_packed(master, TYPE(REGISTER_APPLICATION), &application.base, NULL);
        else
                rpc_ask_packed(master, TYPE(DRIVER_STATUS), &request.base, NULL, 0, answered, NULL);
        /* Behind it, to hear of a master that cannot be reached. */
        rpc_ask(master, TYPE(STANDALONE_NONE), NULL, 0, NULL, 0, ended, NULL);
}

int main(int argc, char **argv)
{
        static const struct rpc_endpoint_class as_master = {.receive = hear_as_master},
                                               as_peer = {.receive = hear_from_master, .disconnected = lost};
        bool is_master = argc == 3 && strcmp(argv[1], "master") == 0;
        struct fst_error error = FST_ERROR_INIT;
        struct rpc_options options;
        struct rpc_env *env = NULL;
        version = standalone_version();
        version.software = (char *)"scripted 9";
        if ((!is_master && argc != 4) ||
            sscanf(argv[is_master ? 2 : 3], "%u.%u", &version.major, &version.minor) != 2) {
                fputs("usage: wire_peer worker|application|client URL MAJOR.MINOR | master MAJOR.MINOR\n", stderr);
                return 2;
        }
        uv_loop_init(&loop);
        rpc_options_init(&options);
        options.name = "scripted";
        int r = rpc_env_new(&loop, &options, &env, &error);
        if (r == 0 && is_master) {
                rpc_env_register(env, STANDALONE_MASTER_ENDPOINT, &as_master, NULL, NULL);
                r = rpc_env_listen(env, "127.0.0.1", NULL, 0, 0, &error);
                printf("port %d\n", r ? 0 : rpc_env_port(env));
                fflush(stdout);
        } else if (r == 0) {
                const char *own =
                        strcmp(argv[1], "application") == 0 ? STANDALONE_APP_ENDPOINT : STANDALONE_WORKER_ENDPOINT;
                _cleanup_free_ char *url =
                        mem_printf("spark://" STANDALONE_MASTER_ENDPOINT "@%s", argv[2] + strlen("spark://"));
                rpc_env_register(env, own, &as_peer, NULL, NULL);
                r = rpc_env_ref(env, url, &master, &error);
                if (r == 0)
                        introduce(argv[1]);
        }
        if (r)
                say("", error_message(&error));
        while (!is_over)
                uv_run(&loop, UV_RUN_ONCE);
        rpc_ref_unref(master);
        rpc_env_close(env, 0, NULL, NULL);
        uv_run(&loop, UV_RUN_DEFAULT);
        uv_loop_close(&loop);
        error_deinit(&error);
        return r ? 1 : 0;
}
