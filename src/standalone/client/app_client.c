/* See app_client.h. master_registration.h decides which master to connect to when and which one leads. This file
 * holds the connections and handles the masters' messages; app_client_requests.c sends the client's. A master that
 * gets a registration either leads, or replies that it is in standby and later announces that it has taken over.
 * Requests made without a leader go to the next one with APPLICATION_STATE.
 *
 * Spark's client tries three times in a row, 20 s apart, and after that waits for its one master to come back. This
 * one keeps trying all masters, quickly at first.
 */
#include "standalone/client/app_client_internal.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/string_prefix.h"
#include "base/vec.h"
#include "conf/conf.h"
#include "net/security.h"
#include "rpc/rpc.h"
#include "standalone/wire/master_addresses.h"

#include <limits.h>
#include <stdlib.h>

#define LOG APP_CLIENT_LOG
#define ATTEMPTS 3 /* Spark's number of attempts */
#define DRAIN_MS 200
#define MAX_EARLY_CLOSES                                                                                               \
        4 /* consecutive connections that end without a nonce before the port is taken for another service */

/* -------------------------------------------------------------------------------------------------- the end */

static void app_client_fail(struct app_client *c, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void app_client_end(struct app_client *c, const char *reason, const char *remedy)
{
        if (c->dead || c->stopping)
                return;
        c->dead = true;
        uv_timer_stop(&c->timeout);
        uv_timer_stop(&c->tick);
        c->ops->dead(c->owner, reason, remedy);
}

static void app_client_fail(struct app_client *c, const char *format, ...)
{
        _cleanup_(buf_deinit) struct buf reason = BUF_INIT;
        va_list args;
        va_start(args, format);
        buf_vprintf(&reason, format, args);
        va_end(args);
        app_client_end(c, buf_text(&reason), NULL);
}

/* Ends with Spark's sentence. The remedy names the addresses. */
static void app_client_fail_without_master(struct app_client *c)
{
        _cleanup_(buf_deinit) struct buf remedy = BUF_INIT;
        buf_puts(&remedy, "No master answers at ");
        for (size_t i = 0; i < c->n_links; i++)
                buf_printf(&remedy, "%s%s", i ? ", " : "", c->links[i].url);
        buf_puts(&remedy,
                 ": start one there (sbin/start-master.sh), or set --master to the address of a running master");
        app_client_end(c, "All masters are unresponsive! Giving up.", buf_text(&remedy));
}

static bool has_leader(const struct app_client *c)
{
        return registration_leader(c->registration) >= 0;
}

static void on_tick(uv_timer_t *timer);

static void app_client_do(struct app_client *c, const struct registration_action *action);

/* Carries out the actions of the registration and restarts its timer. Call it after each change. */
static void app_client_step(struct app_client *c)
{
        for (const struct registration_action *action; (action = registration_next_action(c->registration));)
                app_client_do(c, action);

        int64_t deadline = registration_deadline(c->registration);
        if (c->dead || c->stopping || deadline == INT64_MAX) {
                uv_timer_stop(&c->tick);
                return;
        }
        uv_update_time(c->loop);
        uv_timer_start(&c->tick, on_tick, ms_until(deadline, now_ns()), 0);
}

static void on_tick(uv_timer_t *timer)
{
        struct app_client *c = timer->data;
        registration_tick(c->registration, now_ns());
        app_client_step(c);
}

static void no_master(const struct master_link *l)
{
        if (l->http)
                app_client_fail(
                        l->client,
                        "%s is an HTTP server, not a Firesteel master: use the master's port (7077 by default), "
                        "not that of its pages (8080) or of its REST server (6066)",
                        l->url);
        else
                app_client_fail(
                        l->client,
                        "%s is not a Firesteel master, or has another spark.authenticate.secret: it ends every connection "
                        "before the handshake, as a master of Spark's JVM does (a native application needs one that was started "
                        "by firesteel master)",
                        l->url);
}

static void timed_out(uv_timer_t *timer)
{
        struct app_client *c = timer->data;
        const struct master_link *other = NULL;
        for (size_t i = 0; i < c->n_links; i++)
                if (c->links[i].strangers)
                        other = &c->links[i];
        if (!*c->app_id && other)
                no_master(other);
        else if (!*c->app_id)
                app_client_fail_without_master(c);
}

/* ------------------------------------------------------------------------------------- messages from masters */

static bool master_link_leads(const struct master_link *l)
{
        const struct app_client *c = l->client;
        return registration_leader(c->registration) == (int)(l - c->links);
}

static void app_client_handle_leader(struct master_link *l)
{
        struct app_client *c = l->client;
        registration_taken(c->registration, (int)(l - c->links));
        c->disconnected = false;
}

/* A master registered the application again with a new id. The executors know the old one. */
static void refuse_id(struct master_link *l, char *id)
{
        struct app_client *c = l->client;
        Firesteel__Standalone__ApplicationId not_ours = FIRESTEEL__STANDALONE__APPLICATION_ID__INIT;
        not_ours.id = id;
        rpc_send_packed(l->ref, FIRESTEEL__STANDALONE__STANDALONE_TYPE__UNREGISTER_APPLICATION, &not_ours.base, NULL);
        if (has_leader(c) && !master_link_leads(l))
                log_warn(LOG, "Ignored master %s, which leads another cluster", l->url);
        else
                app_client_fail(
                        c,
                        "Master %s does not know application %s any more: the connection was lost for longer than "
                        "spark.firesteel.standalone.reconnectTimeout, or the master restarted without its records "
                        "(spark.deploy.recoveryMode)",
                        l->url, c->app_id);
}

/* The first registration of this driver: notes the executors that the application had before. */
static void app_client_keep_earlier(struct app_client *c, const Firesteel__Standalone__RegisteredApplication *m)
{
        if (strcmp(m->app_id, c->resume_id) != 0)
                return;
        c->has_others = m->recovering;
        for (size_t i = 0; i < m->n_executors; i++) {
                vec_push(&c->earlier, m->executors[i]);
                c->next_executor = MAX(c->next_executor, m->executors[i] + 1);
        }
}

static void app_client_handle_registered(struct master_link *l, const Firesteel__Standalone__RegisteredApplication *m)
{
        struct app_client *c = l->client;
        bool first = !*c->app_id;
        if (!*m->app_id) {
                app_client_fail(c, "Master %s registered the application without giving it an id", l->url);
                return;
        }
        if (!first && strcmp(c->app_id, m->app_id) != 0) {
                refuse_id(l, m->app_id);
                return;
        }
        if (!first && c->disconnected)
                log_info(LOG, "Master has changed, new master is at %s", l->url);
        app_client_handle_leader(l);
        if (first) {
                free(c->app_id);
                c->app_id = mem_strdup(m->app_id);
                uv_timer_stop(&c->timeout);
                app_client_keep_earlier(c, m);
                c->ops->registered(c->owner, c->app_id);
                if (c->targets.len)
                        app_requests_executors(c);
        } else {
                app_requests_tell_state(c);
        }
}

static void app_client_handle_master_change(struct master_link *l)
{
        struct app_client *c = l->client;
        if (!*c->app_id) { /* it was a standby at the registration */
                app_requests_introduce(c, (int)(l - c->links));
                return;
        }
        log_info(LOG, "Master has changed, new master is at %s", l->url);
        app_client_handle_leader(l);
        app_requests_tell_state(c);
}

static void app_client_handle_executor_added(struct app_client *c, const Firesteel__Standalone__ExecutorAdded *m)
{
        c->next_executor = MAX(c->next_executor, m->executor + 1);
        log_info(LOG, "Executor added: %s/%d on %s (%s) with %d core(s)", c->app_id, m->executor, m->worker_id,
                 m->host_port, m->cores);
        c->ops->executor_added(c->owner, m);
}

static void app_client_handle_executor_update(struct app_client *c, const Firesteel__Standalone__ExecutorUpdated *m)
{
        log_info(LOG, "Executor updated: %s/%d is now %s%s%s%s", c->app_id, m->executor, m->state,
                 *m->message ? " (" : "", m->message, *m->message ? ")" : "");
        if (strcmp(m->state, "RUNNING") != 0 && strcmp(m->state, "DECOMMISSIONED") != 0)
                app_requests_forget_kill(c, m->executor);
        c->ops->executor_updated(c->owner, m);
}

/* The messages that a master may send: the form, whether the version comes first, and whether only the leader may
 * send it.
 */
static const struct master_message {
        const ProtobufCMessageDescriptor *form;
        bool has_version, leads;
} messages[] = {
#define FROM_MASTER(type, name, version, leader)                                                                       \
        [FIRESTEEL__STANDALONE__STANDALONE_TYPE__##                                                                    \
                type] = {&firesteel__standalone__##name##__descriptor, version, leader}
        FROM_MASTER(REGISTRATION_REFUSED, sentence, false, false),
        FROM_MASTER(MASTER_IN_STANDBY, master_in_standby, true, false),
        FROM_MASTER(MASTER_CHANGED, master_changed, true, false),
        FROM_MASTER(REGISTERED_APPLICATION, registered_application, true, false),
        FROM_MASTER(EXECUTOR_ADDED, executor_added, false, true),
        FROM_MASTER(EXECUTOR_UPDATED, executor_updated, false, true),
        FROM_MASTER(WORKER_REMOVED, worker_removed, false, true),
        FROM_MASTER(EXECUTORS_DO_NOT_FIT, sentence, false, true),
        FROM_MASTER(APPLICATION_REMOVED, application_removed, false, true),
};

static void on_master_message(struct master_link *l, int type, const void *message)
{
        struct app_client *c = l->client;
        switch (type) {
        case FIRESTEEL__STANDALONE__STANDALONE_TYPE__REGISTRATION_REFUSED:
                app_client_fail(c, "Master %s refused the application: %s", l->url,
                                ((const Firesteel__Standalone__Sentence *)message)->text);
                break;
        case FIRESTEEL__STANDALONE__STANDALONE_TYPE__MASTER_IN_STANDBY:
                log_debug(LOG, "Master %s is in standby", l->url);
                if (master_link_leads(l))
                        registration_again(c->registration, now_ns());
                break;
        case FIRESTEEL__STANDALONE__STANDALONE_TYPE__MASTER_CHANGED:
                app_client_handle_master_change(l);
                break;
        case FIRESTEEL__STANDALONE__STANDALONE_TYPE__REGISTERED_APPLICATION:
                app_client_handle_registered(l, message);
                break;
        case FIRESTEEL__STANDALONE__STANDALONE_TYPE__EXECUTOR_ADDED:
                app_client_handle_executor_added(c, message);
                break;
        case FIRESTEEL__STANDALONE__STANDALONE_TYPE__EXECUTOR_UPDATED:
                app_client_handle_executor_update(c, message);
                break;
        case FIRESTEEL__STANDALONE__STANDALONE_TYPE__WORKER_REMOVED:
                log_info(LOG, "Master removed worker %s: %s",
                         ((const Firesteel__Standalone__WorkerRemoved *)message)->worker_id,
                         ((const Firesteel__Standalone__WorkerRemoved *)message)->message);
                c->ops->worker_removed(c->owner, message);
                break;
        case FIRESTEEL__STANDALONE__STANDALONE_TYPE__EXECUTORS_DO_NOT_FIT:
                c->ops->executors_do_not_fit(c->owner, ((const Firesteel__Standalone__Sentence *)message)->text);
                break;
        case FIRESTEEL__STANDALONE__STANDALONE_TYPE__APPLICATION_REMOVED: {
                const Firesteel__Standalone__ApplicationRemoved *m = message;
                app_client_fail(c, "Master removed our application: %s%s%s", m->state, *m->message ? ": " : "",
                                m->message);
                break;
        }
        default:
                break;
        }
}

static struct master_link *link_of(struct app_client *c, const struct rpc_peer *peer)
{
        for (size_t i = 0; i < c->n_links; i++)
                if (c->links[i].peer == peer)
                        return &c->links[i];
        return NULL;
}

static void app_client_receive(void *owner, struct rpc_message *m)
{
        struct app_client *c = owner;
        struct master_link *l = link_of(c, m->peer);
        const struct master_message *known = m->type < ARRAY_SIZE(messages) ? &messages[m->type] : NULL;
        if (!l || c->dead || !known || !known->form || (known->leads && !master_link_leads(l)))
                return; /* of a later minor version, or of a former leader */
        struct fst_error error = FST_ERROR_INIT;
        _cleanup_(standalone_memory_deinit) struct wire_memory memory = wire_memory_for(m->len);
        const void *message = standalone_decode(m->body, m->len, known->form, &memory, &error);
        if (!message) {
                log_error(LOG, "Malformed message from master %s: %s", l->url, error_message(&error));
                rpc_peer_close(m->peer, error_message(&error));
        } else if (known->has_version &&
                   /* in all of these messages the version is the first member */
                   standalone_version_check(((const Firesteel__Standalone__MasterInStandby *)message)->version,
                                            "the master", "this application", &error)) {
                app_client_fail(c, "Master %s: %s", l->url, error_message(&error));
        } else {
                on_master_message(l, m->type, message);
        }
        error_deinit(&error);
        app_client_step(c);
}

/* -------------------------------------------------------------------------------------------- connections */

static void on_connected(void *owner, struct rpc_peer *peer)
{
        struct app_client *c = owner;
        for (size_t i = 0; i < c->n_links; i++) {
                struct master_link *l = &c->links[i];
                if (rpc_ref_peer(l->ref) != peer)
                        continue;
                l->peer = peer;
                l->strangers = 0;
                l->said = false;
                registration_reached(c->registration, (int)i, now_ns());
        }
        app_client_step(c);
}

static void on_disconnected(void *owner, struct rpc_peer *peer, const char *why)
{
        struct app_client *c = owner;
        struct master_link *l = link_of(c, peer);
        if (!l)
                return;
        l->peer = NULL;
        if (master_link_leads(l)) {
                log_warn(LOG, "Connection to %s failed; waiting for master to reconnect...", l->url + 8);
                if (!c->disconnected && !c->dead && !c->stopping)
                        c->ops->disconnected(c->owner);
                c->disconnected = true;
        }
        registration_unreachable(c->registration, (int)(l - c->links), now_ns());
        app_client_step(c);
}

static const struct rpc_endpoint_class endpoint_class = {
        .receive = app_client_receive, .connected = on_connected, .disconnected = on_disconnected};

/* All ports belong to other services, so waiting is useless. */
static bool app_client_has_no_master(const struct app_client *c)
{
        for (size_t i = 0; i < c->n_links; i++)
                if (c->links[i].strangers < MAX_EARLY_CLOSES)
                        return false;
        return true;
}

/* The ask only detects failed connections, so any reply means success. */
static void on_master_reached(void *owner, struct rpc_answer *answer)
{
        struct master_link *l = owner;
        struct app_client *c = l->client;
        if (answer->peer || l->peer || c->dead || c->stopping)
                return;
        if (!l->said)
                log_warn(LOG, "Failed to connect to master %s", answer->message);
        l->said = true;
        l->http = answer->http;
        l->strangers = answer->http ? MAX_EARLY_CLOSES : answer->stranger ? l->strangers + 1 : 0;
        if (!*c->app_id && app_client_has_no_master(c))
                no_master(l);
        registration_unreachable(c->registration, (int)(l - c->links), now_ns());
        app_client_step(c);
}

static void connect_to_master(struct app_client *c, int master)
{
        struct master_link *l = &c->links[master];
        if (!l->said)
                log_info(LOG, "Connecting to master %s...", l->url);
        rpc_ask(l->ref, FIRESTEEL__STANDALONE__STANDALONE_TYPE__STANDALONE_NONE, NULL, 0, NULL, 0, on_master_reached,
                l);
}

static void app_client_do(struct app_client *c, const struct registration_action *action)
{
        switch (action->kind) {
        case REGISTRATION_REACH:
                connect_to_master(c, action->number);
                break;
        case REGISTRATION_INTRODUCE:
                app_requests_introduce(c, action->number);
                break;
        case REGISTRATION_RETRYING:
                log_debug(LOG, "Retrying to register with the masters, attempt %d", action->number);
                break;
        case REGISTRATION_GIVE_UP: /* never, because the timeout ends the first one, and later ones do not give up */
                break;
        }
}

/* --------------------------------------------------------------------------------------------- start and end */

/* Splits spark://a:1,b:2 into spark://a:1 and spark://b:2. */
static int read_masters(struct app_client *c, const char *masters, struct fst_error *error)
{
        _cleanup_(string_list_deinit) struct string_list list = {0};
        int r = master_addresses_parse(masters, &list, error);
        if (r < 0)
                return r;
        c->links = new_array(struct master_link, list.len);
        c->n_links = list.len;
        for (size_t i = 0; i < list.len; i++)
                c->links[i] = (struct master_link){.client = c, .url = mem_printf("spark://%s", list.data[i])};
        return 0;
}

static void app_client_start_all(struct app_client *c, int64_t timeout_ms)
{
        for (size_t i = 0; i < c->n_links; i++) {
                struct master_link *l = &c->links[i];
                _cleanup_free_ char *endpoint =
                        mem_printf("spark://" STANDALONE_MASTER_ENDPOINT "@%s", l->url + strlen("spark://"));
                rpc_env_ref(c->rpc, endpoint, &l->ref, NULL); /* the address is valid already */
        }
        const int64_t pause = MAX(ms_to_ns(timeout_ms) / ATTEMPTS, NS_PER_MS);
        const struct registration_config config = {.masters = (int)c->n_links,
                                                   .most = INT_MAX,
                                                   .short_pause = pause,
                                                   .long_pause = pause,
                                                   .stretch = 0.5 + (double)random() / RAND_MAX};
        c->registration = registration_new(&config);
        uv_timer_init(c->loop, &c->tick);
        uv_timer_init(c->loop, &c->timeout);
        c->tick.data = c->timeout.data = c;
        c->open_handles = 2;
        uv_update_time(c->loop);
        uv_timer_start(&c->timeout, timed_out, (uint64_t)timeout_ms, 0);
        registration_start(c->registration, now_ns());
        app_client_step(c);
}

static int make_env(struct app_client *c, const struct fst_conf *conf, struct fst_error *error)
{
        struct rpc_options options;
        int r;
        rpc_options_init(&options);
        if ((r = security_new(conf, "", SECURITY_DRIVER, &c->security, error)) ||
            (r = rpc_options_configure(&options, conf, error)))
                return r;
        options.name = "appClient";
        options.security = c->security;
        options.quiet = true; /* repeated attempts are not logged */
        options.lookup_timeout_ms = MIN(options.lookup_timeout_ms, (int64_t)20000);
        r = rpc_env_new(c->loop, &options, &c->rpc, error);
        if (r == 0)
                rpc_env_register(c->rpc, STANDALONE_APP_ENDPOINT, &endpoint_class, c, NULL); /* the first endpoint */
        return r;
}

int app_client_new(const struct app_client_options *o, struct app_client **out, struct fst_error *error)
{
        struct app_client *c = new0(struct app_client);
        Firesteel__Standalone__Version version = standalone_version();
        Firesteel__Standalone__RegisterApplication application = *o->application;
        c->loop = o->loop;
        c->ops = o->ops;
        c->owner = o->owner;
        c->app_id = mem_strdup("");
        c->resume_id = mem_strdup(application.resume_id);
        c->next_executor = application.next_executor;
        application.version = &version;
        application.app_id = (char *)"";
        c->introduction = standalone_pack(&application.base, &c->introduction_size);
        int r = read_masters(c, o->masters, error);
        if (r == 0)
                r = make_env(c, o->conf, error);
        if (r) {
                app_client_free(c);
                return r;
        }
        *out = c;
        app_client_start_all(c, o->timeout_ms ? o->timeout_ms : APP_CLIENT_TIMEOUT_MS);
        return 0;
}

const char *app_client_id(const struct app_client *c)
{
        return c->app_id;
}

bool app_client_may_have(const struct app_client *c, int executor)
{
        for (size_t i = 0; i < c->earlier.len; i++)
                if (c->earlier.data[i] == executor)
                        return true;
        return c->has_others;
}

void app_client_request(struct app_client *c, Firesteel__Standalone__ExecutorTarget **targets, size_t n)
{
        Firesteel__Standalone__RequestExecutors request = FIRESTEEL__STANDALONE__REQUEST_EXECUTORS__INIT;
        size_t size;
        request.targets = targets;
        request.n_targets = n;
        _cleanup_free_ void *packed = standalone_pack(&request.base, &size);
        buf_reset(&c->targets);
        buf_append(&c->targets, packed, size);
        if (has_leader(c) && !c->dead)
                app_requests_executors(c);
}

bool app_client_is_asking(const struct app_client *c)
{
        return c->asked > 0;
}

void app_client_kill(struct app_client *c, int executor)
{
        struct kill *k = new0(struct kill);
        *k = (struct kill){c, executor, false};
        vec_push(&c->kills, k);
        if (has_leader(c) && !c->dead)
                app_requests_kill(c, k);
}

static void one_closed(void *owner)
{
        struct app_client *c = owner;
        if (--c->open_handles == 0)
                c->stopped(c->stopped_owner);
}

static void timer_closed(uv_handle_t *handle)
{
        one_closed(handle->data);
}

static void close_timer(struct app_client *c, uv_timer_t *timer)
{
        timer->data = c;
        uv_close((uv_handle_t *)timer, timer_closed);
}

void app_client_stop(struct app_client *c, void (*stopped)(void *owner), void *owner)
{
        Firesteel__Standalone__ApplicationId id = FIRESTEEL__STANDALONE__APPLICATION_ID__INIT;
        bool was_dead = c->dead;
        c->stopping = c->dead = true; /* later requests are dropped */
        c->stopped = stopped;
        c->stopped_owner = owner;
        id.id = c->app_id;
        if (has_leader(c) && !was_dead)
                rpc_send_packed(c->links[registration_leader(c->registration)].ref,
                                FIRESTEEL__STANDALONE__STANDALONE_TYPE__UNREGISTER_APPLICATION, &id.base, NULL);
        c->open_handles++; /* of the env */
        for (size_t i = 0; i < c->n_links; i++) {
                rpc_ref_unref(steal(c->links[i].ref));
        }
        close_timer(c, &c->tick);
        close_timer(c, &c->timeout);
        rpc_env_close(c->rpc, DRAIN_MS, one_closed, c);
}

void app_client_free(struct app_client *c)
{
        if (!c)
                return;
        for (size_t i = 0; i < c->n_links; i++)
                free(c->links[i].url);
        free(c->links);
        registration_free(c->registration);
        security_free(c->security);
        free(c->introduction);
        buf_deinit(&c->targets);
        for (size_t i = 0; i < c->kills.len; i++)
                free(c->kills.data[i]);
        vec_deinit(&c->kills);
        vec_deinit(&c->earlier);
        free(c->resume_id);
        free(c->app_id);
        free(c);
}
