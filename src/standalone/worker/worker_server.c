/*
 * The worker process. States, log lines and messages are those of Spark's Worker.
 *
 * Invariants: cores_used and memory_used are the sums over view.executors and view.drivers. An application stays in
 * `apps` while its executors run here and until the master reports its end.
 */
#include "standalone/worker/worker_server_internal.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "base/mem.h"
#include "conf/units.h"
#include "standalone/worker/driver_runner.h"
#include "standalone/worker/executor_runner.h"
#include "text/id_format.h"
#include "standalone/wire/standalone_wire.h"
#include "standalone/worker/work_dir.h"
#include "standalone/worker/worker_cleanup.h"
#include "standalone/worker/worker_context.h"
#include "standalone/worker/worker_master_client.h"
#include "events/event_json.h"
#include "exec/app/program_path.h"
#include "exec/resource_discovery.h"
#include "exec/worker_watcher.h"
#include "net/security.h"
#include "rpc/rpc.h"
#include "shuffle/shuffle_service.h"
#include "store/disk_dirs.h"

#define TYPE WORKER_TYPE
#define DRAIN_MS 1000

_Static_assert(TYPE(WATCH_WORKER) == WORKER_WATCHER_MESSAGE, "executors and drivers say the same");

/* ---------------------------------------------------------------------------------------------------- masters */

/* Reports all executors and drivers, for a master that has restarted or just become leader. */
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

static void worker_server_on_heartbeat(uv_timer_t *timer)
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
                uv_timer_start(&s->heartbeat, worker_server_on_heartbeat, (uint64_t)s->conf->heartbeat,
                               (uint64_t)s->conf->heartbeat);
}

static void master_refused(void *owner)
{
        worker_server_stop(owner, 1);
}

static const struct worker_masters_ops masters_ops = {master_taken, master_refused};

/* --------------------------------------------------------------------------------------------- decommissioning */

static void worker_server_start_decommission(struct worker_server *s)
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
        worker_server_start_decommission(s);
        if (!before && s->view.decommissioned)
                send_id(s, TYPE(WORKER_DECOMMISSIONING));
}

/* --------------------------------------------------------------------------------------------------- messages */

static void worker_server_receive(void *owner, struct rpc_message *m)
{
        struct worker_server *s = owner;
        if (m->type == TYPE(WATCH_WORKER)) { /* no reply, only the connection matters */
                rpc_peer_authorize(m->peer);
                return;
        }
        if (s->ended || worker_masters_receive(s->masters, m))
                return;
        if (!worker_masters_leads(s->masters, m->peer)) {
                if (m->type >= TYPE(LAUNCH_EXECUTOR) && m->type <= TYPE(DECOMMISSION_WORKER) &&
                    rpc_peer_may_log(m->peer))
                        log_warn("Worker", "Ignored a command from %s, which is not the active master",
                                 rpc_peer_name(m->peer));
                return;
        }
        if (m->type == TYPE(DECOMMISSION_WORKER))
                worker_server_start_decommission(s);
        else
                worker_orders_take(s, m);
}

static void worker_server_disconnected(void *owner, struct rpc_peer *peer, const char *why)
{
        struct worker_server *s = owner;
        if (!s->ended)
                worker_masters_disconnected(s->masters, peer, why);
}

static const struct rpc_endpoint_class endpoint_class = {.receive = worker_server_receive,
                                                         .disconnected = worker_server_disconnected};

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

static int worker_server_listen(struct worker_server *s, struct fst_error *error)
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

/* As in Spark: map outputs stay readable after their executor has ended. */
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
        s->program = program ? realpath(program, NULL) : NULL; /* it starts in another directory */
        if (!s->program)
                return error_set(error, -ENOENT,
                                 "the program firesteel, which runs executors, is not beside the library");
        if (s->conf->cgroup && (r = cgroups_new("/sys/fs/cgroup", s->conf->cgroup, &s->context.groups, error)))
                return r;
        if ((r = redactor_init(&s->context.redactor, &s->conf->conf, error)))
                return r;
        const char *secret = conf_get_raw(&s->conf->conf, "spark.authenticate.secret");
        s->secret = secret ? mem_strdup(secret) : NULL;
        /* Removes files of a killed worker, whose loss the applications know, before the shuffle service reads the
         * directories.
         */
        disk_dirs_sweep(s->conf->local_dirs);
        if ((r = find_resources(s, error)) || (r = start_shuffle_service(s, error)) ||
            (r = worker_server_listen(s, error)))
                return r;
        s->view.port = rpc_env_port(s->rpc);
        return make_id(s, error);
}

static void worker_server_handle_closed(uv_handle_t *handle)
{
        struct worker_server *s = handle->data;
        s->handles--;
}

static void worker_server_rpc_closed(void *owner)
{
        struct worker_server *s = owner;
        s->rpc = NULL;
        security_free(steal(s->security));
        if (s->on_ended && s->ended)
                s->on_ended(s->owner, s->status);
}

static void worker_server_close_all(struct worker_server *s)
{
        s->ended = true;
        if (s->masters)
                worker_masters_close(steal(s->masters));
        uv_close((uv_handle_t *)&s->heartbeat, worker_server_handle_closed);
        uv_close((uv_handle_t *)&s->cleanup, worker_server_handle_closed);
        if (s->rpc)
                rpc_env_close(s->rpc, DRAIN_MS, worker_server_rpc_closed, s);
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
                worker_server_close_all(s);
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

/* The base URL of logs for users: the master's proxy if it is enabled. */
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

void worker_server_check_stopped(struct worker_server *s)
{
        if (!s->stopping || s->ended || s->view.executors.len > 0 || s->view.drivers.len > 0)
                return;
        worker_orders_forget_apps(s);
        worker_server_close_all(s);
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
        worker_server_check_stopped(s);
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

/* ------------------------------------------------------------------------------------------------------- queries */

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

const char *worker_server_url(const struct worker_server *s)
{
        return s->url;
}
