/*
 * See worker_server.h. States, log lines and messages are those of Spark's Worker.
 *
 * What never changes: cores_used and memory_used are the sums over view.executors and view.drivers; an application is
 * in `apps` while one of its executors runs here, and until the master says that it has finished.
 */
#include "deploy/standalone/worker_server.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "base/mem.h"
#include "conf/units.h"
#include "deploy/standalone/driver_runner.h"
#include "deploy/standalone/executor_runner.h"
#include "deploy/standalone/id_pattern.h"
#include "deploy/standalone/standalone_wire.h"
#include "deploy/standalone/work_dir.h"
#include "deploy/standalone/worker_cleanup.h"
#include "deploy/standalone/worker_context.h"
#include "deploy/standalone/worker_masters.h"
#include "driver/event_json.h"
#include "exec/program.h"
#include "exec/resource_discovery.h"
#include "exec/worker_watcher.h"
#include "net/security.h"
#include "net/socket.h"
#include "rpc/rpc.h"
#include "shuffle/shuffle_service.h"
#include "store/disk_dirs.h"

#define TYPE(name) FIRESTEEL__STANDALONE__STANDALONE_TYPE__##name
#define DRAIN_MS 1000

_Static_assert(TYPE(WATCH_WORKER) == WORKER_WATCHER_MESSAGE, "executors and drivers say the same");

/* An application that has or had executors here. */
struct worker_app {
        char *id;
        struct disk_dirs *dirs; /* where they keep blocks */
        char *list;             /* the same, separated by colons */
        bool finished;
};

struct worker_server {
        const struct worker_conf *conf;
        struct worker_context context;
        struct worker_view view;
        struct executor_resources resources;
        struct resource_addresses *addresses;
        char *id, *url, *web_ui, *log_ui, *program, *secret;
        struct security *security;
        struct shuffle_service *shuffle; /* NULL: spark.shuffle.service.enabled is false */
        struct rpc_env *rpc;
        struct worker_masters *masters;
        uv_timer_t heartbeat, cleanup;
        VEC(struct worker_app) apps;
        int handles; /* that are open */
        bool stopping, ended;
        int status;
        void (*on_ended)(void *owner, int status);
        void *owner;
};

static void look_for_end(struct worker_server *s);

/* ----------------------------------------------------------------------------------------------- applications */

static struct worker_app *find_app(struct worker_server *s, const char *id)
{
        for (size_t i = 0; i < s->apps.len; i++)
                if (strcmp(s->apps.data[i].id, id) == 0)
                        return &s->apps.data[i];
        return NULL;
}

/* The application's directories, made when its first executor comes. */
static int app_of(struct worker_server *s, const char *id, struct worker_app **out, struct fst_error *error)
{
        struct disk_dirs *dirs;
        *out = find_app(s, id);
        if (*out)
                return 0;
        int r = disk_dirs_for_executors(s->conf->local_dirs, &dirs, error);
        if (r)
                return r;
        struct buf list = BUF_INIT;
        for (size_t i = 0; i < disk_dirs_count(dirs); i++)
                buf_printf(&list, "%s%s", i ? ":" : "", disk_dirs_root(dirs, i));
        vec_push(&s->apps, (struct worker_app){.id = mem_strdup(id), .dirs = dirs, .list = buf_steal(&list)});
        *out = &s->apps.data[s->apps.len - 1];
        return 0;
}

struct removal {
        uv_work_t work;
        struct disk_dirs *dirs;
};

static void remove_dirs(uv_work_t *work)
{
        disk_dirs_free(((struct removal *)work->data)->dirs);
}

static void removed(uv_work_t *work, int status)
{
        (void)status;
        free(work->data);
}

/* What executors left goes on a thread of its own: it may be much. */
static void forget_app(struct worker_server *s, struct worker_app *app)
{
        struct removal *removal = new0(struct removal);
        log_info("Worker", "Cleaning up local directories for application %s", app->id);
        if (s->shuffle)
                shuffle_service_end_application(s->shuffle, app->id, false);
        removal->work.data = removal;
        removal->dirs = app->dirs;
        uv_queue_work(s->context.loop, &removal->work, remove_dirs, removed);
        free(app->id);
        free(app->list);
        *app = s->apps.data[--s->apps.len];
}

static void maybe_forget_app(struct worker_server *s, const char *id)
{
        struct worker_app *app = find_app(s, id);
        if (!app || (!app->finished && !s->stopping))
                return;
        for (size_t i = 0; i < s->view.executors.len; i++)
                if (strcmp(s->view.executors.data[i]->app_id, id) == 0)
                        return;
        forget_app(s, app);
}

static void take_app_finished(struct worker_server *s, const Firesteel__Standalone__ApplicationId *m)
{
        struct worker_app *app = find_app(s, m->id);
        if (!app)
                return;
        app->finished = true;
        maybe_forget_app(s, m->id);
}

/* -------------------------------------------------------------------------------------------------- executors */

static void report_executor(struct worker_server *s, const struct worker_executor_state *x, const char *message,
                            const int *status)
{
        Firesteel__Standalone__ExecutorStateChanged m = FIRESTEEL__STANDALONE__EXECUTOR_STATE_CHANGED__INIT;
        m.app_id = x->app_id;
        m.executor = x->id;
        m.state = (char *)executor_state_name(x->state);
        m.message = (char *)(message ? message : "");
        m.has_exit_status = status != NULL;
        m.exit_status = status ? *status : 0;
        if (executor_state_is_finished(x->state))
                worker_masters_report(s->masters, TYPE(EXECUTOR_STATE_CHANGED), &m.base);
        else
                worker_masters_send(s->masters, TYPE(EXECUTOR_STATE_CHANGED), &m.base);
}

static void retain_executor(struct worker_server *s, struct worker_executor_state *x)
{
        vec_push(&s->view.finished_executors, x);
        size_t most = (size_t)s->conf->retained_executors, n = s->view.finished_executors.len;
        if (n <= most)
                return;
        /* A tenth of them goes at once, as in Spark: each removal moves all. */
        size_t drop = MIN(MAX(most / 10, n - most), n);
        for (size_t i = 0; i < drop; i++)
                executor_runner_free(executor_runner_of(s->view.finished_executors.data[i]));
        memmove(s->view.finished_executors.data, s->view.finished_executors.data + drop,
                (n - drop) * sizeof(*s->view.finished_executors.data));
        s->view.finished_executors.len = n - drop;
}

static void executor_gone(struct worker_server *s, struct worker_executor_state *x, const char *message,
                          const int *status)
{
        char code[32] = "";
        if (status)
                snprintf(code, sizeof(code), " exitStatus %d", *status);
        log_info("Worker", "Executor %s/%d finished with state %s%s%s%s", x->app_id, x->id,
                 executor_state_name(x->state), message ? " message " : "", message ? message : "", code);
        report_executor(s, x, message, status);
        for (size_t i = 0; i < s->view.executors.len; i++)
                if (s->view.executors.data[i] == x) {
                        s->view.executors.data[i] = s->view.executors.data[--s->view.executors.len];
                        s->view.cores_used -= x->cores;
                        s->view.memory_used -= x->memory;
                }
        retain_executor(s, x);
        maybe_forget_app(s, x->app_id);
        look_for_end(s);
}

static void executor_has_ended(void *owner, struct executor_runner *runner, int status, const char *message)
{
        executor_gone(owner, executor_runner_state(runner), message, &status);
}

static int start_executor(struct worker_server *s, struct executor_runner *runner,
                          const Firesteel__Standalone__LaunchExecutor *m, struct fst_error *error)
{
        struct worker_app *app;
        int r = app_of(s, m->app_id, &app, error);
        if (r)
                executor_runner_state(runner)->state = EXECUTOR_FAILED;
        return r ? r : executor_runner_start(runner, m, app->list, executor_has_ended, s, error);
}

static void take_launch_executor(struct worker_server *s, const Firesteel__Standalone__LaunchExecutor *m)
{
        struct fst_error error = FST_ERROR_INIT;
        if (strcmp(m->master_url, worker_masters_url(s->masters)) != 0) {
                log_warn("Worker", "Invalid Master (%s) attempted to launch executor.", m->master_url);
                return;
        }
        if (s->view.decommissioned || s->stopping) {
                log_warn("Worker", "Asked to launch an executor while decommissioned. Not launching executor.");
                return;
        }
        log_info("Worker", "Asked to launch executor %s/%d for %s", m->app_id, m->executor, m->app_name);
        struct executor_runner *runner = executor_runner_new(&s->context, m);
        struct worker_executor_state *x = executor_runner_state(runner);
        vec_push(&s->view.executors, x);
        s->view.cores_used += x->cores;
        s->view.memory_used += x->memory;
        if (start_executor(s, runner, m, &error) == 0) {
                report_executor(s, x, NULL, NULL);
                return;
        }
        log_error("Worker", "Failed to launch executor %s/%d for %s: %s", m->app_id, m->executor, m->app_name,
                  error_message(&error));
        executor_gone(s, x, error_message(&error), NULL);
        error_deinit(&error);
}

static void take_kill_executor(struct worker_server *s, const Firesteel__Standalone__ExecutorName *m)
{
        for (size_t i = 0; i < s->view.executors.len; i++) {
                struct worker_executor_state *x = s->view.executors.data[i];
                if (x->id == m->executor && strcmp(x->app_id, m->app_id) == 0) {
                        log_info("Worker", "Asked to kill executor %s/%d", m->app_id, m->executor);
                        executor_runner_kill(executor_runner_of(x));
                        return;
                }
        }
        log_info("Worker", "Asked to kill unknown executor %s/%d", m->app_id, m->executor);
}

/* ---------------------------------------------------------------------------------------------------- drivers */

static void report_driver(struct worker_server *s, const struct worker_driver_state *d)
{
        Firesteel__Standalone__DriverStateChanged m = FIRESTEEL__STANDALONE__DRIVER_STATE_CHANGED__INIT;
        m.driver_id = d->id;
        m.state = (char *)driver_state_name(d->state);
        m.exception = d->exception ? d->exception : (char *)"";
        worker_masters_report(s->masters, TYPE(DRIVER_STATE_CHANGED), &m.base);
}

static void log_driver_end(const struct worker_server *s, const struct worker_driver_state *d)
{
        if (d->state == DRIVER_ERROR)
                log_warn("Worker", "Driver %s failed with unrecoverable exception: %s", d->id, d->exception);
        else if (d->state == DRIVER_FAILED)
                log_warn("Worker", "Driver %s exited with failure%s%s", d->id, d->exception ? ": " : "",
                         d->exception ? d->exception : "");
        else if (d->state == DRIVER_KILLED)
                log_info("Worker", "Driver %s was killed by user", d->id);
        else if (worker_masters_connected(s->masters))
                log_info("Worker", "Driver %s exited successfully", d->id);
        else
                log_warn("Worker", "Driver %s exited successfully while master is disconnected.", d->id);
}

static void retain_driver(struct worker_server *s, struct worker_driver_state *d)
{
        vec_push(&s->view.finished_drivers, d);
        size_t most = (size_t)s->conf->retained_drivers, n = s->view.finished_drivers.len;
        size_t drop = n > most ? MIN(MAX(most / 10, n - most), n) : 0;
        for (size_t i = 0; i < drop; i++)
                driver_runner_free(driver_runner_of(s->view.finished_drivers.data[i]));
        memmove(s->view.finished_drivers.data, s->view.finished_drivers.data + drop,
                (n - drop) * sizeof(*s->view.finished_drivers.data));
        s->view.finished_drivers.len = n - drop;
}

/*
 * A driver that ends because this worker does is not reported: the master, which loses the worker, starts those again
 * elsewhere that are supervised.
 */
static void driver_has_ended(void *owner, struct driver_runner *runner)
{
        struct worker_server *s = owner;
        struct worker_driver_state *d = driver_runner_state(runner);
        log_driver_end(s, d);
        if (!s->stopping || d->state == DRIVER_FINISHED)
                report_driver(s, d);
        for (size_t i = 0; i < s->view.drivers.len; i++)
                if (s->view.drivers.data[i] == d) {
                        s->view.drivers.data[i] = s->view.drivers.data[--s->view.drivers.len];
                        s->view.cores_used -= d->cores;
                        s->view.memory_used -= d->memory;
                }
        retain_driver(s, d);
        look_for_end(s);
}

static void take_launch_driver(struct worker_server *s, const Firesteel__Standalone__LaunchDriver *m)
{
        if (strcmp(m->master_url, worker_masters_url(s->masters)) != 0) {
                log_warn("Worker", "Invalid Master (%s) attempted to launch driver.", m->master_url);
                return;
        }
        if (s->view.decommissioned || s->stopping) {
                log_warn("Worker", "Asked to launch driver %s while decommissioned. Not launching driver.",
                         m->driver_id);
                return;
        }
        log_info("Worker", "Asked to launch driver %s", m->driver_id);
        struct driver_runner *runner = driver_runner_new(&s->context, m);
        struct worker_driver_state *d = driver_runner_state(runner);
        vec_push(&s->view.drivers, d);
        s->view.cores_used += d->cores;
        s->view.memory_used += d->memory;
        driver_runner_start(runner, driver_has_ended, s);
}

static void take_kill_driver(struct worker_server *s, const Firesteel__Standalone__DriverId *m)
{
        log_info("Worker", "Asked to kill driver %s", m->id);
        for (size_t i = 0; i < s->view.drivers.len; i++)
                if (strcmp(s->view.drivers.data[i]->id, m->id) == 0) {
                        driver_runner_kill(driver_runner_of(s->view.drivers.data[i]));
                        return;
                }
        log_error("Worker", "Asked to kill unknown driver %s", m->id);
}

/* ---------------------------------------------------------------------------------------------------- masters */

/* All that runs here: a master forgets, or is another one. */
static void send_state(struct worker_server *s)
{
        struct arena arena = ARENA_INIT;
        Firesteel__Standalone__WorkerState *m = worker_state_message(&s->view, s->id, &arena);
        m->only_own = !s->shuffle;
        m->n_app_ids = s->apps.len;
        m->app_ids = arena_alloc(&arena, m->n_app_ids * sizeof(char *));
        for (size_t i = 0; i < s->apps.len; i++)
                m->app_ids[i] = s->apps.data[i].id;
        worker_masters_send(s->masters, TYPE(WORKER_STATE), &m->base);
        arena_deinit(&arena);
}

static void send_id(struct worker_server *s, uint16_t type)
{
        Firesteel__Standalone__WorkerId m = FIRESTEEL__STANDALONE__WORKER_ID__INIT;
        m.id = s->id;
        worker_masters_send(s->masters, type, &m.base);
}

static void on_heartbeat(uv_timer_t *timer)
{
        send_id(timer->data, TYPE(WORKER_HEARTBEAT));
}

static void master_taken(void *owner)
{
        struct worker_server *s = owner;
        send_state(s);
        if (s->view.decommissioned)
                send_id(s, TYPE(WORKER_DECOMMISSIONING));
        if (!uv_is_active((uv_handle_t *)&s->heartbeat))
                uv_timer_start(&s->heartbeat, on_heartbeat, (uint64_t)s->conf->heartbeat, (uint64_t)s->conf->heartbeat);
}

static void master_refused(void *owner)
{
        worker_server_stop(owner, 1);
}

static const struct worker_masters_ops masters_ops = {master_taken, master_refused};

/* --------------------------------------------------------------------------------------------- decommissioning */

static void decommission(struct worker_server *s)
{
        if (!s->conf->decommission) {
                log_warn("Worker", "Receive decommission request, but decommission feature is disabled."
                                   " Start the worker with spark.decommission.enabled=true.");
                return;
        }
        if (s->view.decommissioned) {
                log_warn("Worker", "Worker %s already started decommissioning.", s->id);
                return;
        }
        log_info("Worker", "Decommission worker %s.", s->id);
        s->view.decommissioned = true;
        for (size_t i = 0; i < s->view.executors.len; i++)
                executor_runner_decommission(executor_runner_of(s->view.executors.data[i]));
}

void worker_server_decommission(struct worker_server *s)
{
        bool before = s->view.decommissioned;
        decommission(s);
        if (!before && s->view.decommissioned)
                send_id(s, TYPE(WORKER_DECOMMISSIONING));
}

/* --------------------------------------------------------------------------------------------------- messages */

/* What only the master that leads may say. */
#define TAKE(name, kind, function)                                                                                     \
        static void name(struct worker_server *s, const void *message)                                                 \
        {                                                                                                              \
                function(s, (const Firesteel__Standalone__##kind *)message);                                           \
        }
TAKE(order_launch_executor, LaunchExecutor, take_launch_executor)
TAKE(order_kill_executor, ExecutorName, take_kill_executor)
TAKE(order_app_finished, ApplicationId, take_app_finished)
TAKE(order_launch_driver, LaunchDriver, take_launch_driver)
TAKE(order_kill_driver, DriverId, take_kill_driver)

static const struct {
        const ProtobufCMessageDescriptor *descriptor;
        void (*take)(struct worker_server *s, const void *message);
} orders[] = {
        [TYPE(LAUNCH_EXECUTOR)] = {&firesteel__standalone__launch_executor__descriptor, order_launch_executor},
        [TYPE(KILL_EXECUTOR)] = {&firesteel__standalone__executor_name__descriptor, order_kill_executor},
        [TYPE(LAUNCH_DRIVER)] = {&firesteel__standalone__launch_driver__descriptor, order_launch_driver},
        [TYPE(KILL_DRIVER)] = {&firesteel__standalone__driver_id__descriptor, order_kill_driver},
        [TYPE(APPLICATION_FINISHED)] = {&firesteel__standalone__application_id__descriptor, order_app_finished},
};

static void take_order(struct worker_server *s, const struct rpc_message *m)
{
        struct fst_error error = FST_ERROR_INIT;
        if (m->type >= ARRAY_SIZE(orders) || !orders[m->type].take)
                return;
        _cleanup_(standalone_memory_deinit) struct wire_memory memory = wire_memory_for(m->len);
        const void *message = standalone_decode(m->body, m->len, orders[m->type].descriptor, &memory, &error);
        if (message)
                orders[m->type].take(s, message);
        else
                log_warn("Worker", "The master says %s", error_message(&error));
        error_deinit(&error);
}

static void receive(void *owner, struct rpc_message *m)
{
        struct worker_server *s = owner;
        if (m->type == TYPE(WATCH_WORKER)) { /* not answered: that it was asked is enough */
                rpc_peer_welcome(m->peer);
                return;
        }
        if (s->ended || worker_masters_receive(s->masters, m))
                return;
        if (!worker_masters_leads(s->masters, m->peer)) {
                if (m->type >= TYPE(LAUNCH_EXECUTOR) && m->type <= TYPE(DECOMMISSION_WORKER) &&
                    rpc_peer_may_log(m->peer))
                        log_warn("Worker", "%s gives orders and is not the master that leads: passed over",
                                 rpc_peer_name(m->peer));
                return;
        }
        if (m->type == TYPE(DECOMMISSION_WORKER))
                decommission(s);
        else
                take_order(s, m);
}

static void disconnected(void *owner, struct rpc_peer *peer, const char *why)
{
        struct worker_server *s = owner;
        if (!s->ended)
                worker_masters_disconnected(s->masters, peer, why);
}

static const struct rpc_endpoint_class endpoint_class = {.receive = receive, .disconnected = disconnected};

/* ----------------------------------------------------------------------------------------------------- cleaning */

static void on_cleanup(uv_timer_t *timer)
{
        struct worker_server *s = timer->data;
        worker_cleanup_start(s->context.loop, s->conf, &s->view);
}

/* ----------------------------------------------------------------------------------------------------- starting */

static int find_resources(struct worker_server *s, struct fst_error *error)
{
        int r = executor_resources_read(conf_get_raw(&s->conf->conf, "spark.worker.resourcesFile"), &s->resources,
                                        error);
        if (r == 0)
                r = resource_discover(&s->conf->conf, "spark.worker.resource.", &s->resources, error);
        if (r)
                return error_wrap(error, r, "Failed to setup worker resources");
        s->addresses = new_array(struct resource_addresses, s->resources.n);
        for (size_t i = 0; i < s->resources.n; i++) {
                const Firesteel__Resource *have = s->resources.list[i];
                s->addresses[i].name = have->name;
                s->addresses[i].addresses = (const char *const *)have->addresses;
                s->addresses[i].n = (int)have->n_addresses;
        }
        s->view.resources = s->addresses;
        s->view.n_resources = (int)s->resources.n;
        return 0;
}

static int listen_there(struct worker_server *s, struct fst_error *error)
{
        const struct fst_conf *conf = &s->conf->conf;
        struct rpc_options options;
        int64_t retries;
        int r;
        rpc_options_init(&options);
        if ((r = security_new(conf, "", SECURITY_DRIVER, &s->security, error)) ||
            (r = rpc_options_configure(&options, conf, error)) ||
            (r = conf_get_int(conf, "spark.port.maxRetries", &retries, error)))
                return r;
        options.name = STANDALONE_WORKER_ENV;
        options.app_id = "";
        options.security = s->security;
        if ((r = rpc_env_new(s->context.loop, &options, &s->rpc, error)) ||
            (r = rpc_env_register(s->rpc, STANDALONE_WORKER_ENDPOINT, &endpoint_class, s, error)) ||
            (r = rpc_env_listen(s->rpc, s->conf->host, s->conf->host, s->conf->port, (int)retries, error)))
                return r;
        s->url = mem_printf("spark://" STANDALONE_WORKER_ENDPOINT "@%s", rpc_env_address(s->rpc));
        s->masters = worker_masters_new(s->context.loop, s->rpc, s->conf, &masters_ops, s);
        return 0;
}

static int make_id(struct worker_server *s, struct fst_error *error)
{
        struct buf id = BUF_INIT;
        char date[15];
        id_pattern_date(time_of_day_ms(), date);
        const struct id_argument arguments[] = {{.text = date}, {.text = s->conf->host}, {.number = s->view.port}};
        int r = id_pattern_format(&id, s->conf->id_pattern, arguments, ARRAY_SIZE(arguments), error);
        s->id = buf_steal(&id);
        return r ? error_wrap(error, r, "spark.worker.idPattern") : 0;
}

static void log_start(const struct worker_server *s)
{
        struct buf memory = BUF_INIT;
        const char *home = getenv("SPARK_HOME");
        units_put_bytes(&memory, s->conf->memory << 20);
        log_info("Worker", "Starting Spark worker %s:%d with %d cores, %s RAM", s->conf->host, s->view.port,
                 s->conf->cores, buf_text(&memory));
        log_info("Worker",
                 "Running Firesteel version " FIRESTEEL_VERSION " in the place of Spark " EVENT_JSON_SPARK_VERSION);
        log_info("Worker", "Spark home: %s", home && *home ? home : ".");
        buf_deinit(&memory);
}

/* As Spark's workers have it: map outputs stay readable when their executor is gone. */
static int start_shuffle_service(struct worker_server *s, struct fst_error *error)
{
        const struct shuffle_service_options options = {
                .conf = &s->conf->conf, .host = s->conf->host, .port = -1, .state_dir = s->conf->work_dir};
        bool wanted;
        int r = conf_get_bool(&s->conf->conf, "spark.shuffle.service.enabled", &wanted, error);
        if (r == 0 && wanted && (r = shuffle_service_new(&options, &s->shuffle, error)))
                return error_wrap(error, r, "Failed to start external shuffle service");
        return r;
}

static int set_up(struct worker_server *s, struct fst_error *error)
{
        int r = work_dir_make(s->conf->work_dir, error);
        if (r)
                return error_wrap(error, r, "Failed to create work directory %s", s->conf->work_dir);
        _cleanup_free_ char *program = program_find();
        s->program = program ? realpath(program, NULL) : NULL; /* it is started elsewhere */
        if (!s->program)
                return error_set(error, -ENOENT,
                                 "the program firesteel, which runs executors, is not beside the library");
        if (s->conf->cgroup && (r = cgroups_new("/sys/fs/cgroup", s->conf->cgroup, &s->context.groups, error)))
                return r;
        if ((r = redactor_init(&s->context.redactor, &s->conf->conf, error)))
                return r;
        const char *secret = conf_get_raw(&s->conf->conf, "spark.authenticate.secret");
        s->secret = secret ? mem_strdup(secret) : NULL;
        /* Of a worker that was killed: its applications know that this is lost. Before the service looks for it. */
        disk_dirs_sweep(s->conf->local_dirs);
        if ((r = find_resources(s, error)) || (r = start_shuffle_service(s, error)) || (r = listen_there(s, error)))
                return r;
        s->view.port = rpc_env_port(s->rpc);
        return make_id(s, error);
}

static void handle_closed(uv_handle_t *handle)
{
        struct worker_server *s = handle->data;
        s->handles--;
}

static void rpc_closed(void *owner)
{
        struct worker_server *s = owner;
        s->rpc = NULL;
        security_free(steal(s->security));
        if (s->on_ended && s->ended)
                s->on_ended(s->owner, s->status);
}

static void close_all(struct worker_server *s)
{
        s->ended = true;
        if (s->masters)
                worker_masters_close(steal(s->masters));
        uv_close((uv_handle_t *)&s->heartbeat, handle_closed);
        uv_close((uv_handle_t *)&s->cleanup, handle_closed);
        if (s->rpc)
                rpc_env_close(s->rpc, DRAIN_MS, rpc_closed, s);
}

int worker_server_new(uv_loop_t *loop, const struct worker_conf *conf, void (*ended)(void *owner, int status),
                      void *owner, struct worker_server **out, struct fst_error *error)
{
        struct worker_server *s = new0(struct worker_server);
        s->conf = conf;
        s->context.loop = loop;
        s->context.conf = conf;
        uv_timer_init(loop, &s->heartbeat);
        uv_timer_init(loop, &s->cleanup);
        s->heartbeat.data = s->cleanup.data = s;
        s->handles = 2;
        int r = set_up(s, error);
        if (r) {
                close_all(s);
                while (s->handles > 0 || s->rpc)
                        uv_run(loop, UV_RUN_ONCE);
                worker_server_free(s);
                return r;
        }
        s->on_ended = ended;
        s->owner = owner;
        s->context.id = s->id;
        s->context.worker_url = s->url;
        s->context.web_ui = "";
        s->context.program = s->program;
        s->context.secret = s->secret;
        log_start(s);
        *out = s;
        return 0;
}

/* Where people find the logs of what runs here: behind the master's proxy, if that is where they are to look. */
static char *log_ui_of(const struct worker_server *s)
{
        const struct fst_conf *conf = &s->conf->conf;
        const char *proxy = conf_get_raw(conf, "spark.ui.reverseProxyUrl");
        bool proxied = false;
        if (!*s->web_ui || conf_get_bool(conf, "spark.ui.reverseProxy", &proxied, NULL) || !proxied)
                return mem_strdup(s->web_ui);
        size_t n = proxy ? strlen(proxy) : 0;
        while (n > 0 && proxy[n - 1] == '/')
                n--;
        return mem_printf("%.*s/proxy/%s", (int)n, proxy ? proxy : "", s->id);
}

void worker_server_start(struct worker_server *s, const char *web_ui)
{
        Firesteel__Standalone__RegisterWorker m = FIRESTEEL__STANDALONE__REGISTER_WORKER__INIT;
        Firesteel__Standalone__Version version = standalone_version();
        struct arena arena = ARENA_INIT;
        size_t len;
        s->web_ui = mem_strdup(web_ui);
        s->log_ui = log_ui_of(s);
        s->context.web_ui = s->log_ui;
        if (*web_ui)
                log_info("Worker", "WorkerWebUI is available at %s", web_ui);
        m.version = &version;
        m.id = s->id;
        m.host = s->conf->host;
        m.port = s->view.port;
        m.web_ui = s->web_ui;
        m.cores = s->conf->cores;
        m.memory = s->conf->memory;
        m.resources = worker_resources_message(s->addresses, s->view.n_resources, &arena);
        m.n_resources = (size_t)s->view.n_resources;
        _cleanup_free_ void *body = standalone_pack(&m.base, &len);
        arena_deinit(&arena);
        if (s->conf->cleanup) {
                log_info("Worker", "Worker cleanup enabled; old application directories will be deleted in: %s",
                         s->conf->work_dir);
                uv_timer_start(&s->cleanup, on_cleanup, (uint64_t)s->conf->cleanup_interval,
                               (uint64_t)s->conf->cleanup_interval);
        }
        worker_masters_start(s->masters, body, len);
}

/* ------------------------------------------------------------------------------------------------------- ending */

static void look_for_end(struct worker_server *s)
{
        if (!s->stopping || s->ended || s->view.executors.len > 0 || s->view.drivers.len > 0)
                return;
        while (s->apps.len > 0)
                forget_app(s, &s->apps.data[0]);
        close_all(s);
}

void worker_server_stop(struct worker_server *s, int status)
{
        if (s->stopping)
                return;
        s->stopping = true;
        s->status = status;
        for (size_t i = 0; i < s->view.executors.len; i++)
                executor_runner_kill(executor_runner_of(s->view.executors.data[i]));
        for (size_t i = 0; i < s->view.drivers.len; i++)
                driver_runner_kill(driver_runner_of(s->view.drivers.data[i]));
        look_for_end(s);
}

void worker_server_free(struct worker_server *s)
{
        if (!s)
                return;
        for (size_t i = 0; i < s->view.finished_executors.len; i++)
                executor_runner_free(executor_runner_of(s->view.finished_executors.data[i]));
        for (size_t i = 0; i < s->view.finished_drivers.len; i++)
                driver_runner_free(driver_runner_of(s->view.finished_drivers.data[i]));
        vec_deinit(&s->view.executors);
        vec_deinit(&s->view.finished_executors);
        vec_deinit(&s->view.drivers);
        vec_deinit(&s->view.finished_drivers);
        vec_deinit(&s->apps);
        executor_resources_deinit(&s->resources);
        redactor_deinit(&s->context.redactor);
        cgroups_free(s->context.groups);
        shuffle_service_free(s->shuffle);
        security_free(s->security);
        free(s->addresses);
        free(s->id);
        free(s->url);
        free(s->web_ui);
        free(s->log_ui);
        free(s->program);
        free(s->secret);
        free(s);
}

/* ------------------------------------------------------------------------------------------------- for who looks */

const struct worker_view *worker_server_view(struct worker_server *s)
{
        struct worker_view *v = &s->view;
        v->id = s->id;
        v->host = s->conf->host;
        v->work_dir = s->conf->work_dir;
        v->cores = s->conf->cores;
        v->memory = s->conf->memory;
        v->master_url = s->masters ? worker_masters_url(s->masters) : "";
        v->master_web_ui = s->masters ? worker_masters_web_ui(s->masters) : "";
        v->connected = s->masters && worker_masters_connected(s->masters);
        return v;
}

const struct worker_conf *worker_server_conf(const struct worker_server *s)
{
        return s->conf;
}

const char *worker_server_url(const struct worker_server *s)
{
        return s->url;
}
