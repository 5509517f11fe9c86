/*
 * The RPC environment: its handles in the loop, its listener, and its shutdown.
 *
 * libuv runs prepare handles right before it waits. env_turn runs there: it delivers messages between the env's own
 * endpoints, ends failed connections, and writes queued messages. If work is left, an idle handle keeps the loop from
 * waiting. Because this prepare handle is started first, it runs after those started later, so their messages are sent
 * in the same iteration.
 */
#include "metrics/metrics_registry.h"
#include "rpc/rpc_internal.h"

#include "conf/conf.h"
#include "conf/units.h"
#include "net/security.h"

#include <unistd.h>

#define ACCEPTS_A_TURN 16
#define STRANGER_LEAST_MS 1000 /* minimum age at which an unregistered peer may be replaced by another */
#define LOG_WINDOW_MS 10000
#define LOG_WINDOW_LINES 10
#define ACCEPT_RETRY_MS 100

/* ------------------------------------------------------------------------------------------------- lifetime */

struct rpc_env *env_ref(struct rpc_env *env)
{
        env->refs++;
        return env;
}

void env_unref(struct rpc_env *env)
{
        if (--env->refs > 0)
                return;
        while (env->free_waits) {
                struct ask_wait *w = env->free_waits;
                env->free_waits = (struct ask_wait *)w->link.next;
                free(w);
        }
        for (size_t i = 0; i < env->endpoints.len; i++)
                free(env->endpoints.data[i].name);
        vec_deinit(&env->endpoints);
        out_pool_deinit(&env->pool);
        security_free(env->own_security);
        free(env->scratch);
        free(env->name);
        free(env->address);
        free(env);
}

int64_t env_now_ms(const struct rpc_env *env)
{
        return (int64_t)(uv_hrtime() / 1000000);
}

void env_handle_closed(struct rpc_env *env)
{
        if (--env->handles > 0 || !env->closed)
                return;
        if (env->on_closed)
                env->on_closed(env->on_closed_owner);
        env_unref(env);
}

static void env_on_handle_closed(uv_handle_t *handle)
{
        env_handle_closed(handle->data);
}

static void env_on_idle(uv_idle_t *idle)
{
        /* an active idle handle is enough */
}

void env_wake(struct rpc_env *env)
{
        if (!env->closed)
                uv_idle_start(&env->idle, env_on_idle);
}

/* Ends the window: logs the number of suppressed lines, and starts a new window. */
static void quota_renew(struct rpc_env *env, struct log_quota *q, int64_t now)
{
        if (q->left_out > 0)
                log_warn(RPC_LOG, "%s suppressed %d log lines about %s", env->name, q->left_out,
                         q == &env->stranger_log ? "refused connections" : "unregistered peers");
        *q = (struct log_quota){.window_ms = now};
}

bool env_may_log(struct rpc_env *env, struct log_quota *q)
{
        int64_t now = env_now_ms(env);
        if (q->lines == 0 || now - q->window_ms >= LOG_WINDOW_MS)
                quota_renew(env, q, now);
        if (q->lines >= LOG_WINDOW_LINES) {
                q->left_out++;
                return false;
        }
        q->lines++;
        return true;
}

/* --------------------------------------------------------------------------------------------------- the turn */

static void env_shut(struct rpc_env *env);

static void run_local(struct rpc_env *env)
{
        struct local_frame *f = env->local_first;
        env->local_first = NULL;
        env->local_last = &env->local_first;
        while (f) {
                struct local_frame *next = f->next;
                if (env->closing) {
                        free(f->attachment);
                        free(f);
                } else {
                        peer_take_local(env->self, f);
                }
                f = next;
        }
}

static void env_run_again(struct rpc_env *env)
{
        struct link now;
        link_init(&now);
        while (!link_empty(&env->again)) {
                struct link *l = env->again.next;
                link_remove(l);
                link_insert(&now, l);
        }
        while (!link_empty(&now)) {
                struct link *l = now.next;
                link_remove(l);
                peer_read(container_of(l, struct rpc_peer, again));
        }
}

static void run_doomed(struct rpc_env *env)
{
        while (!link_empty(&env->doomed))
                peer_end(container_of(env->doomed.next, struct rpc_peer, doom));
}

void rpc_env_flush(struct rpc_env *env)
{
        while (!link_empty(&env->dirty))
                peer_flush(container_of(env->dirty.next, struct rpc_peer, todo));
}

/* Returns whether, while closing, all writable data is written. */
static bool env_drained(struct rpc_env *env)
{
        if (env_now_ms(env) >= env->close_deadline_ms)
                return true;
        for (struct link *l = env->peers.next; l != &env->peers; l = l->next) {
                struct rpc_peer *p = container_of(l, struct rpc_peer, all);
                if (p->out.bytes > 0 && !p->doomed && (p->outgoing || p->state == PEER_OPEN))
                        return false;
        }
        return true;
}

static void env_turn(uv_prepare_t *prepare)
{
        struct rpc_env *env = prepare->data;
        uv_idle_stop(&env->idle);
        run_local(env);
        env_run_again(env);
        run_doomed(env);
        rpc_env_flush(env);
        if (env->closing && env_drained(env)) {
                env_shut(env);
                return;
        }
        if (env->local_first || !link_empty(&env->again) || !link_empty(&env->doomed) || !link_empty(&env->dirty))
                env_wake(env);
}

static void on_sweep(uv_timer_t *timer)
{
        struct rpc_env *env = timer->data;
        int64_t now = env_now_ms(env), late = now - env->last_sweep_ms - env->sweep_every_ms;
        env->last_sweep_ms = now;
        for (struct link *l = env->peers.next, *next; l != &env->peers; l = next) {
                struct rpc_peer *p = container_of(l, struct rpc_peer, all);
                next = l->next;
                if (late >
                    env->sweep_every_ms) { /* this process was suspended: peers' messages have not been read yet */
                        p->begun_ms += late;
                        p->received_ms += late;
                }
                peer_sweep(p, now);
        }
        for (struct log_quota *q = &env->stranger_log; q; q = q == &env->stranger_log ? &env->guest_log : NULL)
                if (q->left_out > 0 && now - q->window_ms >= LOG_WINDOW_MS)
                        quota_renew(env, q, now);
}

/* ---------------------------------------------------------------------------------------------------- options */

void rpc_options_init(struct rpc_options *o)
{
        *o = (struct rpc_options){
                .name = "rpc",
                .max_message_bytes = (size_t)128 << 20,
                .max_queued_bytes = (size_t)256 << 20,
                .max_strangers = 256,
                .backlog = 0,
                .ask_timeout_ms = 120000,
                .lookup_timeout_ms = 120000,
                .idle_timeout_ms = 120000,
                .greeting_timeout_ms = 30000,
        };
}

/* Reads a timeout from its key, or from spark.network.timeout. */
static int env_read_timeout(const struct fst_conf *conf, const char *key, int64_t fallback, int64_t *out,
                            struct fst_error *error)
{
        _cleanup_free_ char *text = NULL;
        int r = conf_get_string(conf, key, &text, error);
        if (r < 0)
                return r;
        *out = fallback;
        if (text && *text && units_parse_time(text, UNIT_S, UNIT_MS, out, NULL) < 0)
                return error_set(error, -EINVAL, "%s: \"%s\" is not a valid time (write it like 120s)", key, text);
        return *out > 0 ? 0 : error_set(error, -EINVAL, "%s must be more than 0", key);
}

int rpc_options_configure(struct rpc_options *options, const struct fst_conf *conf, struct fst_error *error)
{
        struct rpc_options o = *options;
        int64_t mib = 0, backlog = 0;
        int r = conf_get_int(conf, "spark.rpc.message.maxSize", &mib, error);
        if (r == 0 && (mib < 1 || mib > 2047))
                return error_set(error, -EINVAL, "spark.rpc.message.maxSize: %lld is not from 1 to 2047 MiB",
                                 (long long)mib);
        if (r == 0)
                r = conf_get_int(conf, "spark.rpc.io.backLog", &backlog, error);
        if (r == 0)
                r = conf_get_ms(conf, "spark.network.auth.rpcTimeout", &o.greeting_timeout_ms, error);
        if (r == 0)
                r = conf_get_ms(conf, "spark.network.timeout", &o.idle_timeout_ms, error);
        if (r == 0)
                r = env_read_timeout(conf, "spark.rpc.askTimeout", o.idle_timeout_ms, &o.ask_timeout_ms, error);
        if (r == 0)
                r = env_read_timeout(conf, "spark.rpc.lookupTimeout", o.idle_timeout_ms, &o.lookup_timeout_ms, error);
        if (r == 0 && conf_contains(conf, "spark.rpc.io.connectionTimeout"))
                r = conf_get_ms(conf, "spark.rpc.io.connectionTimeout", &o.idle_timeout_ms, error);
        if (r < 0)
                return r;
        o.max_message_bytes = (size_t)mib << 20;
        o.max_queued_bytes = 2 * o.max_message_bytes;
        o.backlog = (int)backlog;
        *options = o;
        return 0;
}

/* ----------------------------------------------------------------------------------------------------- making */

static void env_add_handle(struct rpc_env *env, uv_handle_t *handle)
{
        handle->data = env;
        env->handles++;
}

int rpc_env_new(uv_loop_t *loop, const struct rpc_options *options, struct rpc_env **out, struct fst_error *error)
{
        if (options->app_id && strlen(options->app_id) >= sizeof(((struct hello *)NULL)->app_id))
                return error_set(error, -EINVAL, "the application's id is too long: \"%.64s…\"", options->app_id);
        struct security *security = NULL;
        int r = security_for(options->security, "rpc", &security, error);
        if (r < 0)
                return r;
        struct rpc_env *env = new0(struct rpc_env);
        env->own_security = security;
        env->refs = 1;
        env->loop = loop;
        env->o = *options;
        env->o.security = security;
        env->name = mem_strdup(options->name);
        env->listener = -1;
        env->local_last = &env->local_first;
        env->scratch = mem_alloc(SCRATCH_SIZE);
        struct link *lists[] = {&env->peers, &env->dirty, &env->again, &env->doomed, &env->strangers, &env->waits};
        for (size_t i = 0; i < ARRAY_SIZE(lists); i++)
                link_init(lists[i]);
        hello_init(&env->hello);
        env->hello.max_message_bytes = options->max_message_bytes;
        if (options->app_id)
                strcpy(env->hello.app_id, options->app_id);
        env->self = peer_new(env);
        env->self->local = true;
        env->self->state = PEER_OPEN;
        env->self->name = mem_strdup("itself");
        /* these four calls cannot fail */
        uv_prepare_init(loop, &env->prepare);
        uv_idle_init(loop, &env->idle);
        uv_timer_init(loop, &env->wait_timer);
        uv_timer_init(loop, &env->sweep_timer);
        env_add_handle(env, (uv_handle_t *)&env->prepare);
        env_add_handle(env, (uv_handle_t *)&env->idle);
        env_add_handle(env, (uv_handle_t *)&env->wait_timer);
        env_add_handle(env, (uv_handle_t *)&env->sweep_timer);
        uv_prepare_start(&env->prepare, env_turn);
        int64_t least = MIN(MIN(env->o.idle_timeout_ms, env->o.greeting_timeout_ms), env->o.lookup_timeout_ms);
        env->sweep_every_ms = MAX(MIN(least / 8, (int64_t)5000), (int64_t)10);
        env->last_sweep_ms = env_now_ms(env);
        uv_timer_start(&env->sweep_timer, on_sweep, (uint64_t)env->sweep_every_ms, (uint64_t)env->sweep_every_ms);
        *out = env;
        return 0;
}

/* -------------------------------------------------------------------------------------------------- endpoints */

struct endpoint *env_endpoint(struct rpc_env *env, uint32_t number)
{
        for (size_t i = 0; i < env->endpoints.len; i++)
                if (env->endpoints.data[i].number == number)
                        return &env->endpoints.data[i];
        return NULL;
}

int rpc_env_register(struct rpc_env *env, const char *name, const struct rpc_endpoint_class *cls, void *owner,
                     struct fst_error *error)
{
        struct endpoint *taken = env_endpoint(env, frame_endpoint(name));
        if (taken)
                return error_set(error, -EEXIST, "cannot create the endpoint \"%s\": %s \"%s\"", name,
                                 strcmp(taken->name, name) == 0 ? "there is already a" : "its number is that of",
                                 taken->name);
        vec_push(&env->endpoints, (struct endpoint){frame_endpoint(name), mem_strdup(name), cls, owner});
        return 0;
}

/* -------------------------------------------------------------------------------------------------- listening */

static void env_accepting(struct rpc_env *env, bool on);

/* Makes room for one more unregistered peer. */
static bool room_for_stranger(struct rpc_env *env)
{
        if (env->stranger_count < env->o.max_strangers)
                return true;
        struct rpc_peer *oldest = container_of(env->strangers.next, struct rpc_peer, stranger);
        if (env_now_ms(env) - oldest->begun_ms < STRANGER_LEAST_MS)
                return false;
        peer_doom(oldest, LOG_WARN, -ETIMEDOUT, "it sent no handshake, and other connections wait");
        return true;
}

static void on_listen(uv_poll_t *handle, int status, int events)
{
        struct rpc_env *env = handle->data;
        for (int i = 0; i < ACCEPTS_A_TURN; i++) {
                if (!room_for_stranger(env)) {
                        env_accepting(env, false);
                        return;
                }
                int fd = socket_accept(env->listener);
                if (fd == -EAGAIN)
                        return;
                if (fd < 0) {
                        if (env_may_log(env, &env->stranger_log))
                                log_warn(RPC_LOG, "%s cannot accept a connection now: %s", env->name, strerror(-fd));
                        env_accepting(env, false);
                        return;
                }
                peer_accept(env, fd);
        }
}

static void on_accept_retry(uv_timer_t *timer)
{
        struct rpc_env *env = timer->data;
        env_accept_again(env);
        uv_timer_start(&env->sweep_timer, on_sweep, (uint64_t)env->sweep_every_ms, (uint64_t)env->sweep_every_ms);
        on_sweep(timer);
}

static void env_accepting(struct rpc_env *env, bool on)
{
        if (env->listener < 0 || env->closing || env->accepting == on)
                return;
        env->accepting = on;
        if (on) {
                uv_poll_start(&env->listen_poll, UV_READABLE, on_listen);
        } else {
                uv_poll_stop(&env->listen_poll);
                uv_timer_start(&env->sweep_timer, on_accept_retry, ACCEPT_RETRY_MS, 0);
        }
}

void env_accept_again(struct rpc_env *env)
{
        env_accepting(env, true);
}

int rpc_port_open(struct rpc_port *port, const struct rpc_options *options, const char *bind, const char *host,
                  int number, int max_retries, struct fst_error *error)
{
        struct listen_options o = {.service = options->name,
                                   .host = bind,
                                   .port = number,
                                   .max_retries = max_retries,
                                   .backlog = options->backlog};
        struct rpc_port p = {.fd = socket_listen(&o, &p.number, error)};
        if (p.fd < 0)
                return p.fd;
        _cleanup_free_ char *own = host && *host ? mem_strdup(host)
                                   : bind && *bind && strcmp(bind, "0.0.0.0") != 0 && strcmp(bind, "::") != 0
                                           ? mem_strdup(bind)
                                           : socket_local_host();
        host_port_text(own, p.number, p.address, sizeof(p.address));
        struct host_port check;
        int r = host_port_parse(p.address, &check, error);
        if (r < 0) {
                close(p.fd);
                return r;
        }
        *port = p;
        return 0;
}

void rpc_port_close(struct rpc_port *port)
{
        if (port->fd >= 0)
                close(port->fd);
        *port = RPC_PORT_NONE;
}

int rpc_env_listen_at(struct rpc_env *env, struct rpc_port *port, struct fst_error *error)
{
        if (env->listener >= 0)
                return error_set(error, -EALREADY, "%s already listens at %s", env->name, env->address);
        int r = uv_poll_init(env->loop, &env->listen_poll, port->fd);
        if (r < 0)
                return error_set(error, r, "%s cannot listen: %s", env->name, uv_strerror(r));
        env_add_handle(env, (uv_handle_t *)&env->listen_poll);
        env->listener = port->fd;
        env->port = port->number;
        env->address = mem_strdup(port->address);
        strcpy(env->hello.address, port->address);
        *port = RPC_PORT_NONE;
        env_accepting(env, true);
        log_info("Utils", "Successfully started service '%s' on port %d.", env->name, env->port);
        return 0;
}

int rpc_env_listen(struct rpc_env *env, const char *bind, const char *host, int port, int max_retries,
                   struct fst_error *error)
{
        struct rpc_options options = {.name = env->name, .backlog = env->o.backlog};
        struct rpc_port opened = RPC_PORT_NONE;
        int r = env->listener >= 0 ? 0 : rpc_port_open(&opened, &options, bind, host, port, max_retries, error);
        if (r == 0)
                r = rpc_env_listen_at(env, &opened, error);
        rpc_port_close(&opened);
        return r;
}

const char *rpc_env_address(const struct rpc_env *env)
{
        return env->address ? env->address : "";
}

int rpc_env_port(const struct rpc_env *env)
{
        return env->port;
}

/* ---------------------------------------------------------------------------------------------------- closing */

static void env_shut(struct rpc_env *env)
{
        if (env->closed)
                return;
        env->closed = true;
        while (!link_empty(&env->peers)) {
                struct rpc_peer *p = container_of(env->peers.next, struct rpc_peer, all);
                peer_doom(p, LOG_DEBUG, -ESHUTDOWN, "%s closes", env->name);
                peer_end(p);
        }
        asks_deinit(env->self);
        env->self->state = PEER_ENDED;
        rpc_peer_unref(steal(env->self));
        uv_close((uv_handle_t *)&env->prepare, env_on_handle_closed);
        uv_close((uv_handle_t *)&env->idle, env_on_handle_closed);
        uv_close((uv_handle_t *)&env->wait_timer, env_on_handle_closed);
        uv_close((uv_handle_t *)&env->sweep_timer, env_on_handle_closed);
        if (env->listener >= 0) {
                uv_close((uv_handle_t *)&env->listen_poll, env_on_handle_closed);
                close(env->listener);
                env->listener = -1;
        }
}

static void on_drain_end(uv_timer_t *timer)
{
        /* env_turn, which runs next, checks the time */
}

void rpc_env_close(struct rpc_env *env, int64_t drain_ms, void (*closed)(void *owner), void *owner)
{
        if (env->closing)
                return;
        env_accepting(env, false);
        env->closing = true;
        env->on_closed = closed;
        env->on_closed_owner = owner;
        env->close_deadline_ms = env_now_ms(env) + drain_ms;
        uv_timer_stop(&env->wait_timer);
        for (struct link *l = env->peers.next; l != &env->peers; l = l->next)
                peer_update_events(container_of(l, struct rpc_peer, all)); /* no more reads */
        uv_timer_start(&env->sweep_timer, on_drain_end, (uint64_t)MAX(drain_ms, 0), 0);
        env_wake(env);
}

/* ------------------------------------------------------------------------------------------------------ meters */

void env_count(struct rpc_env *env, uint16_t type, bool sent)
{
        if (!env->o.meter || type >= ARRAY_SIZE(env->meters[sent]))
                return;
        struct env_meter *m = &env->meters[sent][type];
        if (unlikely(!m->is_known)) {
                m->meter = env->o.meter(env->o.meter_owner, type, sent);
                m->is_known = true;
        }
        metric_meter_mark(m->meter, 1, (int64_t)uv_now(env->loop) * 1000000);
}
