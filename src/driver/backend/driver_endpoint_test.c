/*
 * Tests the driver's endpoint with messages of executors, cluster managers and unregistered peers, while an application
 * with two real executors (local-cluster) runs jobs: every message of rpc/control.proto to the driver.
 */
#include "api/api_fixture.h"

#include "base/clock.h"
#include "base/mem.h"
#include "driver/backend/cluster_backend_internal.h"
#include "driver/context.h"
#include "driver/job_runner.h"
#include "rpc/control.pb-c.h"
#include "rpc/rpc.h"

#include <elf.h>
#include <fcntl.h>
#include <gnu/libc-version.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <uv.h>

struct endpoint_client {
        uv_loop_t loop;
        struct rpc_env *env;
        struct rpc_ref *driver;
        bool answered, closed;
        int status;
        char *message;
        uint8_t *body;
        size_t len;
        bool launched; /* it received tasks and sent an invalid status for them */
};

static void client_receive(void *owner, struct rpc_message *m)
{
        struct endpoint_client *c = owner;
        Firesteel__RunStatus status = FIRESTEEL__RUN_STATUS__INIT;
        Firesteel__StatusUpdate update = FIRESTEEL__STATUS_UPDATE__INIT;
        if (m->type != FIRESTEEL__CONTROL_TYPE__LAUNCH_TASKS || c->launched)
                return;
        c->launched = true;
        update.n_runs = 1;
        update.runs = &(Firesteel__RunStatus *){&status};
        update.n_computed = 3; /* it has no slots in which outputs are stored */
        update.computed = (int64_t[]){0, 1, INT64_MAX};
        assert_int_equal(rpc_send_packed(c->driver, FIRESTEEL__CONTROL_TYPE__STATUS_UPDATE, &update.base, NULL), 0);
}

static const struct rpc_endpoint_class client_class = {.receive = client_receive};

static void client_init(struct endpoint_client *c, fst_context *sc)
{
        struct rpc_options options;
        *c = (struct endpoint_client){0};
        rpc_options_init(&options);
        options.name = "test";
        options.app_id = fst_context_app_id(sc);
        assert_int_equal(uv_loop_init(&c->loop), 0);
        assert_int_equal(rpc_env_new(&c->loop, &options, &c->env, NULL), 0);
        assert_int_equal(rpc_env_register(c->env, "Executor", &client_class, c, NULL), 0);
        _cleanup_free_ char *url =
                mem_printf("spark://CoarseGrainedScheduler@%s:%s", fst_context_conf(sc, "spark.driver.host"),
                           fst_context_conf(sc, "spark.driver.port"));
        assert_int_equal(rpc_env_ref(c->env, url, &c->driver, NULL), 0);
}

static void on_answer(void *owner, struct rpc_answer *a)
{
        struct endpoint_client *c = owner;
        c->answered = true;
        c->status = a->status;
        c->message = a->message ? mem_strdup(a->message) : NULL;
        c->len = a->len;
        c->body = mem_alloc(a->len + 1);
        if (a->len)
                memcpy(c->body, a->body, a->len);
}

/* Send a request and wait. Returns the reply's body, valid until the next request, or NULL with c->message. */
static const uint8_t *ask_driver(struct endpoint_client *c, uint16_t type, const ProtobufCMessage *question)
{
        free(c->body);
        free(c->message);
        c->body = NULL;
        c->message = NULL;
        c->answered = false;
        assert_int_equal(rpc_ask_packed(c->driver, type, question, NULL, 10000, on_answer, c), 0);
        while (!c->answered)
                uv_run(&c->loop, UV_RUN_ONCE);
        return c->status == 0 ? c->body : NULL;
}

/* Send a message and wait until it was handled: the request after it has been answered. */
static void send_and_wait(struct endpoint_client *c, uint16_t type, const ProtobufCMessage *message)
{
        Firesteel__ExecutorId id = FIRESTEEL__EXECUTOR_ID__INIT;
        assert_int_equal(rpc_send_packed(c->driver, type, message, NULL), 0);
        assert_non_null(ask_driver(c, FIRESTEEL__CONTROL_TYPE__IS_EXECUTOR_ALIVE, &id.base));
}

static void client_closed(void *owner)
{
        ((struct endpoint_client *)owner)->closed = true;
}

static void client_deinit(struct endpoint_client *c)
{
        rpc_ref_unref(c->driver);
        rpc_env_close(c->env, 0, client_closed, c);
        while (!c->closed)
                uv_run(&c->loop, UV_RUN_ONCE);
        uv_run(&c->loop, UV_RUN_DEFAULT);
        assert_int_equal(uv_loop_close(&c->loop), 0);
        free(c->body);
        free(c->message);
}

static bool is_alive(struct endpoint_client *c, const char *executor)
{
        Firesteel__ExecutorId id = FIRESTEEL__EXECUTOR_ID__INIT;
        id.id = (char *)executor;
        const uint8_t *body = ask_driver(c, FIRESTEEL__CONTROL_TYPE__IS_EXECUTOR_ALIVE, &id.base);
        assert_non_null(body);
        Firesteel__Bool *reply = firesteel__bool__unpack(NULL, c->len, body);
        assert_non_null(reply);
        bool alive = reply->value;
        firesteel__bool__free_unpacked(reply, NULL);
        return alive;
}

static void wait_until(struct endpoint_client *c, const char *executor, bool alive)
{
        for (int ms = 0; ms < 60000 && is_alive(c, executor) != alive; ms++)
                usleep(1000);
        assert_int_equal(is_alive(c, executor), alive);
}

static fst_context *new_cluster_context(void)
{
        return api_context("local-cluster[2,1,512]", "spark.executor.memory", "256m", NULL);
}

static void count_works(fst_context *sc)
{
        int64_t n = 0;
        assert_int_equal(fst_count(fst_range_n(sc, 0, 1000, 8), &n), 0);
        assert_int_equal(n, 1000);
}

static void sends_configuration(void **state)
{
        fst_context *sc = api_context("local-cluster[1,1,512]", "spark.executor.memory", "256m", "spark.my.key", "mine",
                                      "spark.io.encryption.enabled", "true", NULL);
        struct endpoint_client c;
        client_init(&c, sc);
        Firesteel__RetrieveAppConfig question = FIRESTEEL__RETRIEVE_APP_CONFIG__INIT;
        const uint8_t *body = ask_driver(&c, FIRESTEEL__CONTROL_TYPE__RETRIEVE_APP_CONFIG, &question.base);
        assert_non_null(body);
        Firesteel__AppConfig *config = firesteel__app_config__unpack(NULL, c.len, body);
        assert_non_null(config);
        bool found = false;
        for (size_t i = 0; i < config->n_properties; i++) {
                found |= strcmp(config->properties[i]->key, "spark.my.key") == 0 &&
                         strcmp(config->properties[i]->value, "mine") == 0;
                assert_string_not_equal(config->properties[i]->key, "spark.authenticate.secret");
        }
        assert_true(found);
        assert_string_equal(config->app_id, fst_context_app_id(sc));
        assert_int_equal(config->io_encryption_key.len, 16);
        assert_true(config->driver_port > 0);
        firesteel__app_config__free_unpacked(config, NULL);
        client_deinit(&c);
        assert_int_equal(fst_context_stop(sc), 0);
}

static Firesteel__RegisterExecutor make_registration(const char *id)
{
        static char libc[64];
        Firesteel__RegisterExecutor r = FIRESTEEL__REGISTER_EXECUTOR__INIT;
        snprintf(libc, sizeof(libc), "glibc %s", gnu_get_libc_version());
        r.executor_id = (char *)id;
        r.hostname = (char *)"127.0.0.1";
        r.cores = 1;
        r.transfer_port = 1;
        r.abi = FST_ABI;
#if defined(__x86_64__)
        r.machine = EM_X86_64;
#elif defined(__aarch64__)
        r.machine = EM_AARCH64;
#endif
        r.libc = libc;
        r.version = (char *)FIRESTEEL_VERSION;
        return r;
}

static void assert_registration_refused(struct endpoint_client *c, const Firesteel__RegisterExecutor *r,
                                        const char *why)
{
        assert_null(ask_driver(c, FIRESTEEL__CONTROL_TYPE__REGISTER_EXECUTOR, &r->base));
        if (!strstr(c->message, why))
                fail_msg("\"%s\" is not in: %s", why, c->message);
}

static void rejects_invalid_registrations(void **state)
{
        fst_context *sc = new_cluster_context();
        struct endpoint_client c;
        client_init(&c, sc);
        wait_until(&c, "0", true);
        Firesteel__RegisterExecutor r = make_registration("0");
        assert_registration_refused(&c, &r, "Duplicate executor ID: 0");
        r = make_registration("x");
        r.cores = 0;
        assert_registration_refused(&c, &r, "0 cores");
        r = make_registration("x");
        r.slots = 1 << 20;
        assert_registration_refused(&c, &r, "1048576 slots");
        r = make_registration("x");
        r.abi = FST_ABI + 1;
        assert_registration_refused(&c, &r, "the same version");
        r = make_registration("x");
        r.machine = EM_68K;
        assert_registration_refused(&c, &r, "another kind of machine");
        r = make_registration("x");
        r.libc = (char *)"glibc 2.1";
        assert_registration_refused(&c, &r, "older than the driver's");
        r = make_registration("");
        assert_registration_refused(&c, &r, "has no id or no host name");
        Firesteel__Holdings holdings = FIRESTEEL__HOLDINGS__INIT;
        holdings.resume_application = (char *)"app-1";
        holdings.epoch = 1;
        r = make_registration("x");
        r.holdings = &holdings;
        assert_registration_refused(&c, &r, "belongs to the journal 'app-1', not to ''");
        assert_false(is_alive(&c, "x"));
        count_works(sc);
        client_deinit(&c);
        assert_int_equal(fst_context_stop(sc), 0);
}

static void kill_executors_replaces_them(void **state)
{
        fst_context *sc = new_cluster_context();
        struct endpoint_client c;
        client_init(&c, sc);
        wait_until(&c, "0", true);
        Firesteel__KillExecutors kill = FIRESTEEL__KILL_EXECUTORS__INIT;
        char *ids[] = {(char *)"0", (char *)"no such"};
        kill.n_ids = 2;
        kill.ids = ids;
        kill.replace = true;
        const uint8_t *body = ask_driver(&c, FIRESTEEL__CONTROL_TYPE__KILL_EXECUTORS, &kill.base);
        assert_non_null(body);
        Firesteel__KilledExecutors *killed = firesteel__killed_executors__unpack(NULL, c.len, body);
        assert_int_equal(killed->n_ids, 1);
        assert_string_equal(killed->ids[0], "0");
        firesteel__killed_executors__free_unpacked(killed, NULL);
        wait_until(&c, "0", false);
        wait_until(&c, "2", true);
        count_works(sc);
        client_deinit(&c);
        assert_int_equal(fst_context_stop(sc), 0);
}

static void kills_executors_on_host(void **state)
{
        fst_context *sc = new_cluster_context();
        struct endpoint_client c;
        client_init(&c, sc);
        wait_until(&c, "0", true);
        wait_until(&c, "1", true);
        Firesteel__Host host = FIRESTEEL__HOST__INIT;
        host.host = (char *)fst_context_conf(sc, "spark.driver.host");
        send_and_wait(&c, FIRESTEEL__CONTROL_TYPE__KILL_EXECUTORS_ON_HOST, &host.base);
        wait_until(&c, "0", false);
        wait_until(&c, "1", false);
        count_works(sc);
        client_deinit(&c);
        assert_int_equal(fst_context_stop(sc), 0);
}

static void loses_removed_executors(void **state)
{
        fst_context *sc = new_cluster_context();
        struct endpoint_client c;
        client_init(&c, sc);
        wait_until(&c, "0", true);
        wait_until(&c, "1", true);
        Firesteel__RemoveExecutor remove = FIRESTEEL__REMOVE_EXECUTOR__INIT;
        remove.executor_id = (char *)"0";
        remove.reason = (char *)"the test says so";
        send_and_wait(&c, FIRESTEEL__CONTROL_TYPE__REMOVE_EXECUTOR, &remove.base);
        assert_false(is_alive(&c, "0"));
        assert_true(is_alive(&c, "1"));
        Firesteel__RemoveWorker worker = FIRESTEEL__REMOVE_WORKER__INIT;
        worker.host = (char *)fst_context_conf(sc, "spark.driver.host");
        worker.message = (char *)"the worker is gone";
        send_and_wait(&c, FIRESTEEL__CONTROL_TYPE__REMOVE_WORKER, &worker.base);
        assert_false(is_alive(&c, "1"));
        count_works(sc); /* of the replacements */
        client_deinit(&c);
        assert_int_equal(fst_context_stop(sc), 0);
}

static void decommissioned_executors_stop(void **state)
{
        fst_context *sc = new_cluster_context();
        struct endpoint_client c;
        client_init(&c, sc);
        wait_until(&c, "1", true);
        Firesteel__KillExecutors d = FIRESTEEL__KILL_EXECUTORS__INIT;
        d.n_ids = 1;
        d.ids = &(char *){(char *)"1"};
        send_and_wait(&c, FIRESTEEL__CONTROL_TYPE__DECOMMISSION_EXECUTORS, &d.base);
        wait_until(&c, "1", false);
        count_works(sc);
        client_deinit(&c);
        assert_int_equal(fst_context_stop(sc), 0);
}

static struct executor_manager_class ending_class;
static struct cluster_backend *ending_backend;
static int n_endings;

/* As a manager's loop may do: the connection of an executor ends, and then the process. */
static void end_executor_0(struct executor_manager *manager)
{
        struct remote_executor *x = executor_table_find(&ending_backend->executors, "0");
        struct rpc_peer *peer = x && x->ref ? rpc_ref_peer(x->ref) : NULL;
        assert_non_null(peer);
        cluster_disconnected(ending_backend, peer, "it has ended");
        cluster_backend_executor_exited(ending_backend, "0", false, "it has ended");
        assert_int_equal(x->state, EXECUTOR_GONE);
        n_endings++;
}

static void end_executor_0_at_the_end(void *owner, struct scheduler_backend *backend, bool allocates)
{
        ending_backend = container_of(backend, struct cluster_backend, backend);
        ending_class = *ending_backend->manager->class;
        ending_class.ending = end_executor_0;
        ending_backend->manager->class = &ending_class;
}

/* The job runner has freed what these would tell it by then. */
static void an_executor_may_end_while_the_manager_ends_the_application(void **state)
{
        fst_context *sc = new_cluster_context();
        struct endpoint_client c;
        client_init(&c, sc);
        wait_until(&c, "0", true); /* the other executor may register much earlier */
        client_deinit(&c);
        count_works(sc);
        job_runner_call(sc->runner, end_executor_0_at_the_end, NULL);
        assert_int_equal(fst_context_stop(sc), 0);
        assert_int_equal(n_endings, 1);
}

static void sends_tokens_to_later_executors(void **state)
{
        fst_context *sc = new_cluster_context();
        struct endpoint_client c;
        client_init(&c, sc);
        Firesteel__DelegationTokens tokens = FIRESTEEL__DELEGATION_TOKENS__INIT;
        tokens.tokens = (ProtobufCBinaryData){5, (uint8_t *)"HDTS\0"};
        send_and_wait(&c, FIRESTEEL__CONTROL_TYPE__UPDATE_DELEGATION_TOKENS, &tokens.base);
        Firesteel__RetrieveAppConfig question = FIRESTEEL__RETRIEVE_APP_CONFIG__INIT;
        const uint8_t *body = ask_driver(&c, FIRESTEEL__CONTROL_TYPE__RETRIEVE_APP_CONFIG, &question.base);
        Firesteel__AppConfig *config = firesteel__app_config__unpack(NULL, c.len, body);
        assert_int_equal(config->delegation_tokens.len, 5);
        assert_memory_equal(config->delegation_tokens.data, "HDTS\0", 5);
        firesteel__app_config__free_unpacked(config, NULL);
        count_works(sc);
        client_deinit(&c);
        assert_int_equal(fst_context_stop(sc), 0);
}

static void read_disk_usage(void *owner, struct scheduler_backend *backend, bool allocates)
{
        struct cluster_backend *b = container_of(backend, struct cluster_backend, backend);
        *(double *)owner = cluster_backend_disk_usage(b, "0");
}

static void heartbeats_report_disk_usage(void **state)
{
        fst_context *sc = api_context("local-cluster[1,1,512]", "spark.executor.memory", "256m",
                                      "spark.executor.heartbeatInterval", "20ms", NULL);
        double usage = -1;
        count_works(sc);
        for (int i = 0; i < 6000 && usage < 0; i++) {
                job_runner_call(sc->runner, read_disk_usage, &usage);
                usleep(10000);
        }
        assert_true(usage > 0 && usage <= 1);
        assert_int_equal(fst_context_stop(sc), 0);
}

static void wait_for_what_has_passed(void *owner, struct scheduler_backend *backend, bool allocates)
{
        const int64_t began = now_ns();
        for (int i = 0; i < 10; i++)
                backend->class->wait(backend, INT64_MIN);
        *(int64_t *)owner = now_ns() - began;
}

/* The deadline of dynamic allocation that acts at once. No event ends the wait earlier than the next heartbeat. */
static void deadline_at_int64_min_is_now(void **state)
{
        fst_context *sc = api_context("local-cluster[1,1,512]", "spark.executor.memory", "256m",
                                      "spark.executor.heartbeatInterval", "60s", "spark.network.timeout", "600s", NULL);
        int64_t waited = -1;
        count_works(sc);
        job_runner_call(sc->runner, wait_for_what_has_passed, &waited);
        assert_in_range(waited, 0, 30 * NS_PER_SECOND);
        assert_int_equal(fst_context_stop(sc), 0);
}

static void ignores_unregistered_peers(void **state)
{
        fst_context *sc = new_cluster_context();
        struct endpoint_client c;
        client_init(&c, sc);
        wait_until(&c, "0", true);
        Firesteel__Heartbeat beat = FIRESTEEL__HEARTBEAT__INIT;
        beat.executor_id = (char *)"stranger";
        const uint8_t *body = ask_driver(&c, FIRESTEEL__CONTROL_TYPE__HEARTBEAT, &beat.base);
        Firesteel__HeartbeatReply *reply = firesteel__heartbeat_reply__unpack(NULL, c.len, body);
        assert_true(reply->reregister);
        firesteel__heartbeat_reply__free_unpacked(reply, NULL);
        Firesteel__MayCommit commit = FIRESTEEL__MAY_COMMIT__INIT;
        commit.task_id = 12345;
        assert_null(ask_driver(&c, FIRESTEEL__CONTROL_TYPE__MAY_COMMIT, &commit.base)); /* only executors may ask */
        /* A status of another peer's task, blocks of an unregistered executor, and an unknown message type. */
        Firesteel__RunStatus status = FIRESTEEL__RUN_STATUS__INIT;
        Firesteel__StatusUpdate update = FIRESTEEL__STATUS_UPDATE__INIT;
        update.n_runs = 1;
        update.runs = &(Firesteel__RunStatus *){&status};
        update.n_computed = 1;
        update.computed = &(int64_t){0};
        send_and_wait(&c, FIRESTEEL__CONTROL_TYPE__STATUS_UPDATE, &update.base);
        Firesteel__BlockNames names = FIRESTEEL__BLOCK_NAMES__INIT;
        assert_null(ask_driver(&c, FIRESTEEL__CONTROL_TYPE__BLOCK_LOCATIONS, &names.base));
        assert_null(ask_driver(&c, 999, &names.base));
        send_and_wait(&c, FIRESTEEL__CONTROL_TYPE__REVIVE_OFFERS, &names.base);
        count_works(sc);
        client_deinit(&c);
        assert_int_equal(fst_context_stop(sc), 0);
}

static void *count_in_thread(void *sc)
{
        int64_t n;
        return fst_count(fst_range_n(sc, 0, 1000, 8), &n) == 0 && n == 1000 ? sc : NULL;
}

/* Its tasks would otherwise never end. */
static void loses_executor_with_invalid_status(void **state)
{
        fst_context *sc = new_cluster_context();
        struct endpoint_client c;
        pthread_t thread;
        void *counted = NULL;
        client_init(&c, sc);
        wait_until(&c, "0", true);
        Firesteel__RegisterExecutor r = make_registration("nonsense");
        assert_non_null(ask_driver(&c, FIRESTEEL__CONTROL_TYPE__REGISTER_EXECUTOR, &r.base));
        assert_int_equal(pthread_create(&thread, NULL, count_in_thread, sc), 0);
        while (!c.launched)
                uv_run(&c.loop, UV_RUN_ONCE);
        while (uv_run(&c.loop, UV_RUN_NOWAIT) && pthread_tryjoin_np(thread, &counted) != 0)
                usleep(1000);
        assert_ptr_equal(counted, sc);
        client_deinit(&c);
        client_init(&c, sc);
        assert_false(is_alive(&c, "nonsense"));
        client_deinit(&c);
        assert_int_equal(fst_context_stop(sc), 0);
}

static void refuses_jobs_after_stop(void **state)
{
        fst_context *sc = new_cluster_context();
        struct endpoint_client c;
        client_init(&c, sc);
        count_works(sc);
        Firesteel__BlockNames nothing = FIRESTEEL__BLOCK_NAMES__INIT;
        assert_non_null(ask_driver(&c, FIRESTEEL__CONTROL_TYPE__STOP_EXECUTORS, &nothing.base));
        assert_non_null(ask_driver(&c, FIRESTEEL__CONTROL_TYPE__STOP_DRIVER, &nothing.base));
        int64_t n;
        assert_true(fst_count(fst_range_n(sc, 0, 10, 2), &n) < 0);
        client_deinit(&c);
        assert_true(fst_context_stop(sc) < 0);
}

/* A thread whose jobs are cancelled again and again. */
struct cancelled {
        fst_context *sc;
        int end, ended;
};

static void *be_cancelled(void *arg)
{
        struct cancelled *c = arg;
        int64_t n;
        fst_set_local_property(c->sc, "spark.jobGroup.id", "cancelled");
        while (!__atomic_load_n(&c->end, __ATOMIC_RELAXED))
                fst_count(fst_range_n(c->sc, 0, INT64_C(1) << 50, 2), &n);
        __atomic_store_n(&c->ended, 1, __ATOMIC_RELAXED);
        return NULL;
}

/* One round of the scheduler removes stages on an executor, kills a task there, and launches another. */
static void jobs_run_while_others_are_cancelled(void **state)
{
        fst_context *sc = api_context("local-cluster[1,4,512]", "spark.executor.memory", "256m", NULL);
        struct cancelled c = {.sc = sc};
        pthread_t thread;
        int64_t n;
        assert_int_equal(fst_count(fst_range_n(sc, 0, 10, 2), &n), 0);
        fst_rdd *few = fst_range_n(sc, 0, 1000, 2);
        assert_int_equal(pthread_create(&thread, NULL, be_cancelled, &c), 0);
        for (int i = 0; i < 300; i++) {
                fst_cancel_job_group(sc, "cancelled");
                assert_int_equal(fst_count(few, &n), 0);
                assert_int_equal(n, 1000);
        }
        __atomic_store_n(&c.end, 1, __ATOMIC_RELAXED);
        for (; !__atomic_load_n(&c.ended, __ATOMIC_RELAXED); usleep(500))
                fst_cancel_job_group(sc, "cancelled");
        pthread_join(thread, NULL);
        assert_int_equal(fst_context_stop(sc), -ECANCELED); /* the first failure */
}

/* Start the program beside this test as an executor of @sc with one more option. Returns its pid. */
static pid_t start_executor(fst_context *sc, const char *id, const char *option, const char *value)
{
        char program[4096];
        ssize_t n = readlink("/proc/self/exe", program, sizeof(program) - 16);
        assert_true(n > 0);
        program[n] = '\0';
        strcpy(strrchr(program, '/'), "/firesteel");
        _cleanup_free_ char *url =
                mem_printf("spark://CoarseGrainedScheduler@%s:%s", fst_context_conf(sc, "spark.driver.host"),
                           fst_context_conf(sc, "spark.driver.port"));
        char *arguments[] = {(char *)"firesteel",
                             (char *)"executor",
                             (char *)"--driver-url",
                             url,
                             (char *)"--executor-id",
                             (char *)id,
                             (char *)"--hostname",
                             (char *)"127.0.0.1",
                             (char *)"--bind-address",
                             (char *)"127.0.0.1",
                             (char *)"--cores",
                             (char *)"1",
                             (char *)"--resourceProfileId",
                             (char *)"0",
                             (char *)"--app-id",
                             (char *)fst_context_app_id(sc),
                             (char *)option,
                             (char *)value,
                             NULL};
        posix_spawn_file_actions_t quiet;
        pid_t pid;
        posix_spawn_file_actions_init(&quiet);
        posix_spawn_file_actions_addopen(&quiet, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
        assert_int_equal(posix_spawn(&pid, program, &quiet, NULL, arguments, environ), 0);
        posix_spawn_file_actions_destroy(&quiet);
        return pid;
}

static int wait_for_exit(pid_t pid)
{
        int status = 0;
        for (int ms = 0; ms < 60000 && waitpid(pid, &status, WNOHANG) == 0; ms++)
                usleep(1000);
        assert_true(WIFEXITED(status));
        return WEXITSTATUS(status);
}

static void executor_exits_with_its_worker(void **state)
{
        fst_context *sc = new_cluster_context();
        struct endpoint_client c, worker = {0};
        struct rpc_options options;
        client_init(&c, sc);
        rpc_options_init(&options);
        options.name = "worker";
        assert_int_equal(uv_loop_init(&worker.loop), 0);
        assert_int_equal(rpc_env_new(&worker.loop, &options, &worker.env, NULL), 0);
        assert_int_equal(rpc_env_listen(worker.env, "127.0.0.1", "127.0.0.1", 0, 0, NULL), 0);
        _cleanup_free_ char *url = mem_printf("spark://Worker@%s", rpc_env_address(worker.env));
        pid_t pid = start_executor(sc, "watched", "--worker-url", url);
        for (int ms = 0; ms < 60000 && !is_alive(&c, "watched"); ms++) {
                uv_run(&worker.loop, UV_RUN_NOWAIT);
                usleep(1000);
        }
        for (int turn = 0; turn < 200; turn++) { /* its request gets a reply */
                uv_run(&worker.loop, UV_RUN_NOWAIT);
                usleep(1000);
        }
        assert_true(is_alive(&c, "watched"));
        count_works(sc);
        rpc_env_close(worker.env, 0, client_closed, &worker);
        while (!worker.closed)
                uv_run(&worker.loop, UV_RUN_ONCE);
        assert_int_equal(uv_loop_close(&worker.loop), 0);
        assert_int_equal(wait_for_exit(pid), 1);
        wait_until(&c, "watched", false);
        client_deinit(&c);
        assert_int_equal(fst_context_stop(sc), 0);
}

static void executor_exits_without_driver(void **state)
{
        fst_context *sc = new_cluster_context();
        struct endpoint_client c;
        client_init(&c, sc);
        pid_t pid = start_executor(sc, "by-hand", "--conf", "spark.executor.memory=1g");
        wait_until(&c, "by-hand", true);
        client_deinit(&c);
        assert_int_equal(fst_context_stop(sc), 0);
        int status = wait_for_exit(pid);
        assert_true(status == 0 || status == 1); /* stopped by the driver, or after losing it */
}

static void *count_for_ever(void *arg)
{
        int64_t n;
        return fst_count(fst_range_n(arg, 0, INT64_C(1) << 50, 2), &n) < 0 ? arg : NULL;
}

/* Stopping the executors of a busy application fails its jobs instead of blocking them. */
static void jobs_fail_after_executors_stop(void **state)
{
        fst_context *sc = new_cluster_context();
        struct endpoint_client c;
        pthread_t thread;
        void *failed = NULL;
        client_init(&c, sc);
        wait_until(&c, "0", true);
        wait_until(&c, "1", true);
        assert_int_equal(pthread_create(&thread, NULL, count_for_ever, sc), 0);
        usleep(20000); /* tasks usually run by then */
        Firesteel__BlockNames nothing = FIRESTEEL__BLOCK_NAMES__INIT;
        assert_non_null(ask_driver(&c, FIRESTEEL__CONTROL_TYPE__STOP_EXECUTORS, &nothing.base));
        pthread_join(thread, &failed);
        assert_ptr_equal(failed, sc);
        client_deinit(&c);
        assert_true(fst_context_stop(sc) < 0);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(sends_configuration),
                cmocka_unit_test(rejects_invalid_registrations),
                cmocka_unit_test(kill_executors_replaces_them),
                cmocka_unit_test(kills_executors_on_host),
                cmocka_unit_test(loses_removed_executors),
                cmocka_unit_test(decommissioned_executors_stop),
                cmocka_unit_test(an_executor_may_end_while_the_manager_ends_the_application),
                cmocka_unit_test(sends_tokens_to_later_executors),
                cmocka_unit_test(heartbeats_report_disk_usage),
                cmocka_unit_test(deadline_at_int64_min_is_now),
                cmocka_unit_test(ignores_unregistered_peers),
                cmocka_unit_test(loses_executor_with_invalid_status),
                cmocka_unit_test(jobs_run_while_others_are_cancelled),
                cmocka_unit_test(executor_exits_with_its_worker),
                cmocka_unit_test(executor_exits_without_driver),
                cmocka_unit_test(jobs_fail_after_executors_stop),
                cmocka_unit_test(refuses_jobs_after_stop),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
