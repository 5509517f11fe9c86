/* Lifetime and loop iterations of the master process.
 *
 * An iteration. Messages arrive in libuv's poll phase, or in its prepare phase (rpc/env.c) if they had been held.
 * Each one calls master_server_schedule_turn, which starts the idle handle so that the loop does not block. After the
 * poll phase the check handle runs the core's scheduling and flushes the outbox. rpc writes to the sockets before the
 * loop blocks again.
 */
#include "standalone/master/master_server_internal.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "base/mem.h"
#include "standalone/recovery/master_record.h"
#include "standalone/recovery/persistence.h"
#include "net/security.h"
#include "rpc/rpc.h"

#include <sys/resource.h>
#include <sys/time.h>

#define MAX_UNAUTHORIZED_MESSAGE (1 << 20)
#define DRAIN_MS 1000
#define WALL_TOLERANCE NS_PER_SECOND

int64_t master_server_now(void)
{
        return now_ns();
}

static int64_t wall_offset(void)
{
        return ms_to_ns(time_of_day_ms()) - master_server_now();
}

/* ---------------------------------------------------------------------------------------------------- the turn */

static void on_idle(uv_idle_t *idle)
{
        /* the active handle is all that matters */
}

void master_server_schedule_turn(struct master_server *s)
{
        master_server_run(s);
        if (!s->closing)
                uv_idle_start(&s->idle, on_idle);
}

static void on_timer(uv_timer_t *timer)
{
        struct master_server *s = timer->data;
        master_tick(s->core, master_server_now());
        master_server_schedule_turn(s);
}

/* Follows changes of the time of day that exceed clock adjustments. */
static void follow_clock(struct master_server *s)
{
        int64_t offset = wall_offset();
        if (llabs(offset - s->wall_offset) < WALL_TOLERANCE)
                return;
        s->wall_offset = offset;
        master_set_wall_offset(s->core, offset);
}

static void on_turn(uv_check_t *check)
{
        struct master_server *s = check->data;
        if (!uv_is_active((uv_handle_t *)&s->idle) || s->closing)
                return;
        uv_idle_stop(&s->idle);
        follow_clock(s);
        int64_t now = master_server_now();
        master_schedule(s->core, now);
        master_server_run(s);
        outbox_seal(&s->outbox);
        if (s->core->status == MASTER_ALIVE)
                master_server_close_recovery_connections(s);
        int64_t deadline = master_deadline(s->core);
        if (deadline == INT64_MAX)
                uv_timer_stop(&s->timer);
        else
                uv_timer_start(&s->timer, on_timer, MAX(ms_until(deadline, now), (uint64_t)1), 0);
}

/* ------------------------------------------------------------------------------------------------------- records */

static void on_durable(void *context)
{
        struct master_server *s = context;
        outbox_durable(&s->outbox);
        master_server_schedule_turn(s);
}

static bool master_server_commit(void *owner)
{
        struct master_server *s = owner;
        return s->no_recovery || persistence_commit(s->persistence, on_durable, s);
}

static void on_elected(void *owner, const struct persistence_record *records, size_t n)
{
        struct master_server *s = owner;
        _cleanup_(master_records_deinit) struct master_records r = MASTER_RECORDS_INIT;
        master_records_read(&r, records, n);
        master_elected(s->core, r.apps.data, (int)r.apps.len, r.drivers.data, (int)r.drivers.len, r.workers.data,
                       (int)r.workers.len, master_server_now());
        master_server_run(s);
        master_server_reconnect_peers(s);
        master_server_schedule_turn(s);
}

static void on_revoked(void *owner, const char *why)
{
        struct master_server *s = owner;
        log_error(MASTER_LOG, "%s", why);
        master_revoked(s->core, master_server_now());
        master_server_run(s);
}

static void on_failed(void *owner, const char *message)
{
        struct master_server *s = owner;
        log_error(MASTER_LOG, "%s", message);
        s->ended(s->owner, 1);
}

static const struct persistence_ops persistence_ops = {
        .elected = on_elected,
        .revoked = on_revoked,
        .failed = on_failed,
};

static int stand_for_election(struct master_server *s, struct fst_error *error)
{
        _cleanup_free_ char *mode = NULL;
        int r = conf_get_string(&s->conf->conf, "spark.deploy.recoveryMode", &mode, error);
        if (r == 0)
                r = persistence_open(s->loop, &s->conf->conf, s->url, &persistence_ops, s, &s->persistence, error);
        s->no_recovery = r == 0 && strcasecmp(mode, "NONE") == 0;
        return r;
}

/* ---------------------------------------------------------------------------------------------------------- life */

/* Each connection needs a descriptor. */
static void raise_limits(void)
{
        struct rlimit files;
        if (getrlimit(RLIMIT_NOFILE, &files) < 0 || files.rlim_cur >= files.rlim_max)
                return;
        files.rlim_cur = files.rlim_max;
        setrlimit(RLIMIT_NOFILE, &files);
}

static int listen_rpc(struct master_server *s, struct fst_error *error)
{
        const struct fst_conf *conf = &s->conf->conf;
        struct rpc_options options;
        int64_t retries = 0;
        int r = security_new(conf, "", SECURITY_DRIVER, &s->security, error);
        rpc_options_init(&options);
        options.name = STANDALONE_MASTER_ENV;
        options.app_id = "";
        options.security = s->security;
        options.max_guest_bytes = MAX_UNAUTHORIZED_MESSAGE;
        if (r == 0)
                r = rpc_options_configure(&options, conf, error);
        if (r == 0)
                r = conf_get_int(conf, "spark.port.maxRetries", &retries, error);
        if (r == 0)
                r = rpc_env_new(s->loop, &options, &s->env, error);
        if (r == 0)
                r = rpc_env_register(s->env, STANDALONE_MASTER_ENDPOINT, &master_endpoint_class, s, error);
        if (r == 0)
                r = rpc_env_listen(s->env, s->conf->host, s->conf->host, s->conf->port, (int)retries, error);
        return r;
}

static void free_server(struct master_server *s)
{
        outbox_deinit(&s->outbox); /* messages since then */
        sessions_deinit(&s->sessions);
        master_server_close_recovery_connections(s);
        vec_deinit(&s->calls);
        master_free(s->core);
        security_free(s->security);
        free(s->url);
        free(s->web_ui);
        free(s);
}

static void part_closed(void *owner)
{
        struct master_server *s = owner;
        if (--s->handles == 0)
                free_server(s);
}

static void handle_closed(uv_handle_t *handle)
{
        part_closed(handle->data);
}

void master_server_close(struct master_server *s)
{
        uv_handle_t *handles[] = {(uv_handle_t *)&s->timer, (uv_handle_t *)&s->idle, (uv_handle_t *)&s->turn};
        if (s->closing)
                return;
        s->closing = true;
        s->handles = (int)ARRAY_SIZE(handles) + (s->env != NULL) + (s->persistence != NULL);
        for (size_t i = 0; i < ARRAY_SIZE(handles); i++)
                uv_close(handles[i], handle_closed);
        outbox_deinit(&s->outbox);
        master_web_stop(s);
        persistence_close(steal(s->persistence), part_closed, s);
        if (s->env)
                rpc_env_close(s->env, DRAIN_MS, part_closed, s);
}

static void add_handle(struct master_server *s, uv_handle_t *handle)
{
        handle->data = s;
}

int master_server_new(uv_loop_t *loop, const struct master_conf *conf, void (*ended)(void *owner, int status),
                      void *owner, struct master_server **out, struct fst_error *error)
{
        struct master_server *s = new0(struct master_server);
        struct master_config config = conf->core;
        *s = (struct master_server){.loop = loop, .conf = conf, .ended = ended, .owner = owner};
        uv_timer_init(loop, &s->timer);
        uv_idle_init(loop, &s->idle);
        uv_check_init(loop, &s->turn);
        add_handle(s, (uv_handle_t *)&s->timer);
        add_handle(s, (uv_handle_t *)&s->idle);
        add_handle(s, (uv_handle_t *)&s->turn);
        config.wall_offset = s->wall_offset = wall_offset();
        config.log_level = log_threshold;
        s->core = master_new(&config);
        raise_limits();
        int r = listen_rpc(s, error);
        outbox_init(&s->outbox, &s->sessions, s->env, master_server_commit, s);
        if (r < 0) {
                master_server_close(s);
                return r;
        }
        s->url = mem_printf("spark://%s", rpc_env_address(s->env));
        log_info(MASTER_LOG, "Starting Spark master at %s", s->url);
        log_info(MASTER_LOG, "Running Firesteel version " FIRESTEEL_VERSION);
        uv_check_start(&s->turn, on_turn);
        r = master_web_start(s, error);
        if (r == 0)
                r = stand_for_election(s, error);
        if (r < 0)
                master_server_close(s);
        else
                *out = s;
        return r;
}

/* ------------------------------------------------------------------------------------------------------ queries */

const struct master *master_server_state(const struct master_server *s)
{
        return s->core;
}

const char *master_server_url(const struct master_server *s)
{
        return s->url;
}

/* ---------------------------------------------------------------------------------------------------- requests */

static void master_server_reply(struct master_server *s, struct master_reply *reply, master_replied *replied,
                                void *owner)
{
        master_server_run(s);
        outbox_reply(&s->outbox, reply, replied, owner);
        master_server_schedule_turn(s);
}

void master_server_submit(struct master_server *s, const struct driver_spec *driver, master_replied *replied,
                          void *owner)
{
        struct master_reply answer = master_submit_driver(s->core, driver, master_server_now());
        master_server_reply(s, &answer, replied, owner);
}

void master_server_kill(struct master_server *s, const char *driver_id, master_replied *replied, void *owner)
{
        struct master_reply answer = master_kill_driver(s->core, driver_id, master_server_now());
        master_server_reply(s, &answer, replied, owner);
}

void master_server_kill_all(struct master_server *s, master_replied *replied, void *owner)
{
        struct master_reply answer = master_kill_all_drivers(s->core, master_server_now());
        master_server_reply(s, &answer, replied, owner);
}

void master_server_clear(struct master_server *s, master_replied *replied, void *owner)
{
        struct master_reply answer = {.success = true};
        master_clear_completed(s->core);
        master_server_reply(s, &answer, replied, owner);
}

bool master_server_kill_app(struct master_server *s, const char *app_id)
{
        bool known = master_kill_app(s->core, app_id, master_server_now());
        master_server_schedule_turn(s);
        return known;
}

int master_server_decommission(struct master_server *s, const char *const *hosts, int n)
{
        int found = master_decommission_hosts(s->core, hosts, n, master_server_now());
        master_server_run(s);
        for (struct master_worker *w = found ? s->core->workers.first : NULL; w; w = w->next)
                for (int i = 0; i < n; i++)
                        if (w->state == WORKER_DECOMMISSIONED && strcasecmp(w->host, hosts[i]) == 0) {
                                outbox_send(&s->outbox, w->peer,
                                            FIRESTEEL__STANDALONE__STANDALONE_TYPE__DECOMMISSION_WORKER, NULL);
                                break;
                        }
        master_server_schedule_turn(s);
        return found;
}
