/* The endpoint "Master": decodes messages of workers, applications and submission clients and passes them to the
 * core.
 *
 * Any peer may connect. An unregistered peer may register, submit and query, in small messages. A registered peer is
 * held to its role: a worker may report only itself and its own executors and drivers, an application only itself.
 * Any other message ends the connection or, where a change may have crossed it on the way, is ignored.
 */
#include "standalone/master/master_server_internal.h"

#include "base/error.h"
#include "base/log.h"
#include "base/mem.h"
#include "standalone/master/master_wire.h"
#include "standalone/rest/driver_validation.h"
#include "net/socket.h"
#include "rpc/rpc.h"

#define TYPE(name) FIRESTEEL__STANDALONE__STANDALONE_TYPE__##name
#define MAX_UNAUTHORIZED_PEERS 1024
#define MIN_UNAUTHORIZED_TIME                                                                                          \
        NS_PER_SECOND /* minimum lifetime of an unregistered connection before another may replace it */

/* A message being handled: its sender, and the memory of its decoded body. */
struct master_request {
        struct master_server *s;
        struct session *from;
        struct rpc_message *m;
        struct wire_memory memory;
        const void *body;
};

/* --------------------------------------------------------------------------------------------------- connections */

static void on_connected(void *owner, struct rpc_peer *peer)
{
        struct master_server *s = owner;
        int64_t now = master_server_now();
        struct session *m = sessions_add(&s->sessions, peer, now), *oldest = s->sessions.of[SESSION_UNAUTHORIZED].first;
        for (size_t i = 0; i < s->calls.len; i++) {
                const struct recovery_connection *call = &s->calls.data[i];
                if (rpc_ref_peer(call->ref) != peer || sessions_find_key(&s->sessions, call->role, call->key))
                        continue;
                sessions_identify(&s->sessions, m, call->role, call->key);
                m->app_id = call->app_id ? mem_strdup(call->app_id) : NULL;
                memcpy(m->nonce, call->nonce, sizeof(m->nonce));
                return;
        }
        if (s->sessions.of[SESSION_UNAUTHORIZED].n > MAX_UNAUTHORIZED_PEERS &&
            now - oldest->last_message >= MIN_UNAUTHORIZED_TIME)
                rpc_peer_close(oldest->peer, "it did not register, and other connections wait");
}

static void on_disconnected(void *owner, struct rpc_peer *peer, const char *why)
{
        struct master_server *s = owner;
        struct session *m = rpc_peer_data(peer);
        if (!m)
                return;
        int64_t now = master_server_now();
        if (m->role == SESSION_WORKER)
                master_worker_disconnected(s->core, m->number, m->key, now);
        else if (m->role == SESSION_APP && m->app_id)
                master_app_disconnected(s->core, m->number, m->app_id, now);
        sessions_remove(&s->sessions, m);
        master_server_schedule_turn(s);
}

/* Disconnects a peer that sent a message its role does not allow. */
static void disconnect_peer(struct master_request *w, const char *why)
{
        if (rpc_peer_may_log(w->from->peer))
                log_warn(MASTER_LOG, "%s is disconnected: %s", rpc_peer_name(w->from->peer), why);
        if (w->m->ask)
                rpc_fail(w->m, "%s", why);
        rpc_peer_close(w->from->peer, why);
}

/* Carries out the core's actions first, so that stored records precede the message, then sends. */
static void request_send(struct master_request *w, uint16_t type, const ProtobufCMessage *message)
{
        master_server_run(w->s);
        outbox_send(&w->s->outbox, w->from->number, type, message);
}

static void request_answer(struct master_request *w, const ProtobufCMessage *message)
{
        master_server_run(w->s);
        outbox_answer(&w->s->outbox, w->m, message);
}

/* Returns true if both connections come from the same address, ignoring ports. */
static bool same_host(const struct rpc_peer *a, const struct rpc_peer *b)
{
        struct host_port x, y;
        return host_port_parse(rpc_peer_name(a), &x, NULL) == 0 && host_port_parse(rpc_peer_name(b), &y, NULL) == 0 &&
               strcmp(x.host, y.host) == 0;
}

void master_server_bind_session(struct master_server *s, struct session *session, enum session_role role,
                                const char *key)
{
        struct session *before = sessions_identify(&s->sessions, session, role, key);
        rpc_peer_authorize(session->peer);
        if (before)
                rpc_peer_close(before->peer, role == SESSION_WORKER
                                                     ? "the worker has registered over another connection"
                                                     : "the application has registered over another "
                                                       "connection");
}

/* -------------------------------------------------------------------------------------------------- registration */

static void endpoint_refuse(struct master_request *w, const char *endpoint, const char *why)
{
        Firesteel__Standalone__Sentence message = FIRESTEEL__STANDALONE__SENTENCE__INIT;
        struct rpc_ref *ref = rpc_peer_ref(w->from->peer, endpoint);
        if (rpc_peer_may_log(w->from->peer))
                log_warn(MASTER_LOG, "%s %s may not register: %s",
                         strcmp(endpoint, STANDALONE_WORKER_ENDPOINT) == 0 ? "The worker at" : "The application at",
                         rpc_peer_name(w->from->peer), why);
        message.text = (char *)why;
        rpc_send_packed(ref, TYPE(REGISTRATION_REFUSED), &message.base, NULL);
        rpc_ref_unref(ref);
}

/* A registered id can be taken over only from the same host (its old connection may be dead). A peer that a new
 * leader contacted connects as well, possibly from another address if its host has several: a worker then shows the
 * nonce that it was sent, an application its id.
 */
static bool may_be(struct master_request *w, enum session_role role, const char *key)
{
        const struct session *other = sessions_find_key(&w->s->sessions, role, key);
        return !other || other == w->from || *other->nonce || !rpc_peer_connected(other->peer) ||
               same_host(other->peer, w->from->peer);
}

/* This master has just contacted the registered worker, and this peer, at another address, does not know the nonce:
 * it is another process, or the nonce has not arrived yet, in which case the worker registers again. After all have
 * had time to answer, a worker that did not has lost its id.
 */
static bool has_wrong_nonce(struct master_request *w, const char *key, const char *nonce)
{
        const struct session *other = sessions_find_key(&w->s->sessions, SESSION_WORKER, key);
        return other && other != w->from && *other->nonce && w->s->core->status == MASTER_RECOVERING &&
               rpc_peer_connected(other->peer) && !same_host(other->peer, w->from->peer) &&
               strcmp(other->nonce, nonce) != 0;
}

static void register_worker(struct master_request *w)
{
        const Firesteel__Standalone__RegisterWorker *r = w->body;
        struct master_server *s = w->s;
        struct fst_error error = FST_ERROR_INIT;
        struct worker_spec spec = {0};
        int e = standalone_version_check(r->version, "this worker", "the master", &error);
        if (e == 0)
                e = master_read_worker(r, &w->memory, &spec, &error);
        if (e == 0 && (w->from->role == SESSION_APP || (w->from->key && strcmp(w->from->key, spec.id) != 0)))
                e = error_set(&error, -EINVAL, "this connection is that of \"%s\"", w->from->key);
        if (e == 0 && !may_be(w, SESSION_WORKER, spec.id))
                e = error_set(&error, -EEXIST, "worker %s is connected from another host", spec.id);
        if (e < 0) {
                endpoint_refuse(w, STANDALONE_WORKER_ENDPOINT, error_message(&error));
        } else if (has_wrong_nonce(w, spec.id, r->nonce)) {
                if (rpc_peer_may_log(w->from->peer))
                        log_warn(MASTER_LOG, "%s claims worker id %s, which is registered at another address",
                                 rpc_peer_name(w->from->peer), spec.id);
        } else {
                master_register_worker(s->core, w->from->number, &spec, master_server_now());
        }
        error_deinit(&error);
}

/* An application proves with its id that it is the one at that address. If the master has just contacted it and it
 * never got an id, nothing is required.
 */
static bool knows_id(const struct master_request *w, const Firesteel__Standalone__RegisterApplication *r)
{
        const struct session *other = sessions_find_key(&w->s->sessions, SESSION_APP, r->address);
        return !other || other == w->from || !other->app_id || !rpc_peer_connected(other->peer) ||
               strcmp(other->app_id, r->app_id) == 0 || strcmp(other->app_id, r->resume_id) == 0 ||
               (*other->nonce && !*r->app_id && same_host(other->peer, w->from->peer));
}

static void register_app(struct master_request *w)
{
        const Firesteel__Standalone__RegisterApplication *r = w->body;
        struct master_server *s = w->s;
        struct fst_error error = FST_ERROR_INIT;
        struct app_spec spec = {0};
        int e = standalone_version_check(r->version, "this application", "the master", &error);
        if (e == 0)
                e = master_read_app(r, &w->memory, &spec, &error);
        if (e == 0 && (w->from->role == SESSION_WORKER || (w->from->key && strcmp(w->from->key, spec.address) != 0)))
                e = error_set(&error, -EINVAL, "this connection is that of \"%s\"", w->from->key);
        if (e == 0 && (!may_be(w, SESSION_APP, spec.address) || !knows_id(w, r)))
                e = error_set(&error, -EEXIST, "an application whose driver is at %s is connected already",
                              spec.address);
        if (e < 0) {
                endpoint_refuse(w, STANDALONE_APP_ENDPOINT, error_message(&error));
        } else {
                master_register_app(s->core, w->from->number, &spec, master_server_now());
                master_server_run(s);
                if (*r->app_id && w->from->role == SESSION_APP && !w->from->app_id)
                        w->from->app_id = mem_strdup(r->app_id); /* needed when this master leads */
        }
        error_deinit(&error);
}

/* ------------------------------------------------------------------------------------------------------ workers */

static bool speaks_for_itself(struct master_request *w, const char *id)
{
        const char *own = w->from->role == SESSION_WORKER ? w->from->key : w->from->app_id;
        if (own && strcmp(own, id) == 0)
                return true;
        disconnect_peer(w, "it sent a message on behalf of another peer");
        return false;
}

static void on_worker_heartbeat(struct master_request *w)
{
        const Firesteel__Standalone__WorkerId *b = w->body;
        if (w->from->role == SESSION_UNAUTHORIZED) { /* it believes it is registered */
                struct rpc_ref *ref = rpc_peer_ref(w->from->peer, STANDALONE_WORKER_ENDPOINT);
                if (w->s->core->status != MASTER_STANDBY)
                        rpc_send(ref, TYPE(RECONNECT_WORKER), NULL, 0, NULL);
                rpc_ref_unref(ref);
                return;
        }
        if (speaks_for_itself(w, b->id))
                master_heartbeat(w->s->core, w->from->number, b->id, master_server_now());
}

/* Notifies the worker of applications that ended while it was disconnected and whose files it keeps. */
static void send_ended_apps(struct master_request *w, const char *worker_id, char *const *app_ids, size_t n)
{
        const struct master *core = w->s->core;
        for (size_t i = 0; core->status != MASTER_STANDBY && i < n; i++) {
                Firesteel__Standalone__ApplicationId message = FIRESTEEL__STANDALONE__APPLICATION_ID__INIT;
                message.id = app_ids[i];
                if (!master_app(core, app_ids[i]))
                        request_send(w, TYPE(APPLICATION_FINISHED), &message.base);
                else
                        master_worker_keeps(w->s->core, worker_id, app_ids[i]);
        }
}

static void worker_state(struct master_request *w)
{
        const Firesteel__Standalone__WorkerState *b = w->body;
        struct executor_report *executors = NULL;
        struct driver_report *drivers = NULL;
        struct fst_error error = FST_ERROR_INIT;
        if (!speaks_for_itself(w, b->worker_id))
                return;
        if (master_read_state(b, &w->memory, &executors, &drivers, &error) < 0) {
                disconnect_peer(w, error_message(&error));
        } else {
                master_worker_state(w->s->core, w->from->number, b->worker_id, executors, (int)b->n_executors, drivers,
                                    (int)b->n_drivers, master_server_now());
                master_worker_only_own(w->s->core, b->worker_id, b->only_own);
                send_ended_apps(w, b->worker_id, b->app_ids, b->n_app_ids);
        }
        error_deinit(&error);
}

static void executor_state_changed(struct master_request *w)
{
        const Firesteel__Standalone__ExecutorStateChanged *b = w->body;
        const struct master *core = w->s->core;
        const struct master_app *app = master_app(core, b->app_id);
        const struct master_executor *e = app ? master_executor(core, app, b->executor) : NULL;
        enum executor_state state;
        if (!executor_state_named(b->state, &state)) {
                disconnect_peer(w, "it reported an invalid executor state");
                return;
        }
        if (e && strcmp(e->worker_id, w->from->key) != 0)
                return; /* it was lost with this worker, and its number was not reused: ignore the report */
        int status = b->exit_status;
        master_executor_changed(w->s->core, b->app_id, b->executor, state, *b->message ? b->message : NULL,
                                b->has_exit_status ? &status : NULL, master_server_now());
}

static void driver_state_changed(struct master_request *w)
{
        const Firesteel__Standalone__DriverStateChanged *b = w->body;
        const struct master_driver *d = master_driver(w->s->core, b->driver_id);
        enum driver_state state;
        if (!driver_state_named(b->state, &state)) {
                disconnect_peer(w, "it reported an invalid driver state");
                return;
        }
        /* During recovery the owner of the driver is not known yet, and it may have ended meanwhile. */
        if (d && (d->worker ? strcmp(d->worker->id, w->from->key) != 0 : w->s->core->status != MASTER_RECOVERING))
                return;
        master_driver_changed(w->s->core, b->driver_id, state, *b->exception ? b->exception : NULL,
                              master_server_now());
}

static void worker_decommissioning(struct master_request *w)
{
        const Firesteel__Standalone__WorkerId *b = w->body;
        if (speaks_for_itself(w, b->id))
                master_decommission_worker(w->s->core, b->id, master_server_now());
}

/* ------------------------------------------------------------------------------------------------- applications */

static void unregister_app(struct master_request *w)
{
        const Firesteel__Standalone__ApplicationId *b = w->body;
        if (speaks_for_itself(w, b->id))
                master_unregister_app(w->s->core, b->id, master_server_now());
}

/* The peer replies to this leader after it was given up, so only this message informs it. */
static void send_late_app_removed(struct master_request *w, const char *app_id)
{
        Firesteel__Standalone__ApplicationRemoved message = FIRESTEEL__STANDALONE__APPLICATION_REMOVED__INIT;
        if (w->s->core->status == MASTER_STANDBY || master_app(w->s->core, app_id))
                return;
        message.state = (char *)app_state_name(APP_FINISHED);
        message.message = (char *)"it answered when the master's recovery was over (spark.deploy.recoveryTimeout)";
        request_send(w, TYPE(APPLICATION_REMOVED), &message.base);
}

static void app_state(struct master_request *w)
{
        const Firesteel__Standalone__ApplicationState *b = w->body;
        struct executor_target *targets = NULL;
        struct fst_error error = FST_ERROR_INIT;
        if (!speaks_for_itself(w, b->app_id))
                return;
        if (master_read_targets(b->targets, b->n_targets, &w->memory, &targets, &error) < 0)
                disconnect_peer(w, error_message(&error));
        else {
                master_app_changed(w->s->core, w->from->number, b->app_id, targets, (int)b->n_targets, b->next_executor,
                                   master_server_now());
                send_late_app_removed(w, b->app_id);
        }
        error_deinit(&error);
}

static void answer_truth(struct master_request *w, bool value)
{
        Firesteel__Standalone__Truth answer = FIRESTEEL__STANDALONE__TRUTH__INIT;
        answer.value = value;
        request_answer(w, &answer.base);
}

static void request_executors(struct master_request *w)
{
        const Firesteel__Standalone__RequestExecutors *b = w->body;
        struct executor_target *targets = NULL;
        struct fst_error error = FST_ERROR_INIT;
        if (!speaks_for_itself(w, b->app_id))
                return;
        if (master_read_targets(b->targets, b->n_targets, &w->memory, &targets, &error) < 0)
                disconnect_peer(w, error_message(&error));
        else
                answer_truth(w, master_request_executors(w->s->core, b->app_id, targets, (int)b->n_targets,
                                                         master_server_now()));
        error_deinit(&error);
}

static void kill_executors_of_app(struct master_request *w)
{
        const Firesteel__Standalone__KillExecutorsOfApp *b = w->body;
        if (speaks_for_itself(w, b->app_id))
                answer_truth(w, master_kill_executors(w->s->core, b->app_id, b->executors, (int)b->n_executors,
                                                      master_server_now()));
}

/* -------------------------------------------------------------------------------------------------- submissions */

static bool in_standby(const struct master_request *w)
{
        return w->s->core->status == MASTER_STANDBY;
}

static bool check_client(struct master_request *w, const Firesteel__Standalone__Version *version)
{
        struct fst_error error = FST_ERROR_INIT;
        int e = standalone_version_check(version, "this client", "the master", &error);
        if (e < 0)
                rpc_fail(w->m, "%s", error_message(&error));
        error_deinit(&error);
        return e == 0;
}

static void answer_reply(struct master_request *w, struct master_reply *reply)
{
        Firesteel__Standalone__DriverReply answer = FIRESTEEL__STANDALONE__DRIVER_REPLY__INIT;
        answer.success = reply->success;
        answer.driver_id = reply->driver_id ? reply->driver_id : answer.driver_id;
        answer.message = reply->message ? reply->message : answer.message;
        answer.standby = in_standby(w);
        request_answer(w, &answer.base);
        master_reply_deinit(reply);
}

static void submit_driver(struct master_request *w)
{
        const Firesteel__Standalone__SubmitDriver *b = w->body;
        struct fst_error error = FST_ERROR_INIT;
        struct master_reply reply = {0};
        struct driver_spec spec;
        enum driver_kind kind;
        if (!check_client(w, b->version))
                return;
        int e = b->driver ? driver_check(b->driver->jar_url, &w->s->conf->conf, &kind, &error)
                          : error_set(&error, -EINVAL, "the driver has no command");
        if (e == 0)
                e = master_read_driver(b->driver, &w->memory, &spec, &error);
        if (e < 0)
                reply.message = mem_strdup(error_message(&error));
        else
                reply = master_submit_driver(w->s->core, &spec, master_server_now());
        error_deinit(&error);
        answer_reply(w, &reply);
}

static void kill_submitted(struct master_request *w)
{
        const Firesteel__Standalone__DriverRequest *b = w->body;
        if (!check_client(w, b->version))
                return;
        int64_t now = master_server_now();
        struct master_reply reply = *b->driver_id ? master_kill_driver(w->s->core, b->driver_id, now)
                                                  : master_kill_all_drivers(w->s->core, now);
        answer_reply(w, &reply);
}

static void driver_status(struct master_request *w)
{
        const Firesteel__Standalone__DriverRequest *b = w->body;
        if (!check_client(w, b->version))
                return;
        _cleanup_free_ char *message = NULL;
        const struct master_driver *d = master_driver_status(w->s->core, b->driver_id, &message);
        Firesteel__Standalone__DriverStatus answer = FIRESTEEL__STANDALONE__DRIVER_STATUS__INIT;
        answer.found = d != NULL;
        answer.standby = in_standby(w);
        answer.message = message ? message : answer.message;
        if (d) {
                answer.state = (char *)driver_state_name(d->state);
                answer.worker_id = d->worker_id ? d->worker_id : answer.worker_id;
                answer.worker_host_port = d->worker_address ? d->worker_address : answer.worker_host_port;
                answer.exception = d->exception ? d->exception : answer.exception;
        }
        request_answer(w, &answer.base);
}

static void clear_completed(struct master_request *w)
{
        const Firesteel__Standalone__DriverRequest *b = w->body;
        if (!check_client(w, b->version))
                return;
        struct master_reply reply = {.success = !in_standby(w)};
        if (reply.success)
                master_clear_completed(w->s->core);
        answer_reply(w, &reply);
}

static void decommission_hosts(struct master_request *w)
{
        const Firesteel__Standalone__DecommissionHosts *b = w->body;
        if (!check_client(w, b->version))
                return;
        Firesteel__Standalone__DecommissionedHosts answer = FIRESTEEL__STANDALONE__DECOMMISSIONED_HOSTS__INIT;
        answer.workers = master_server_decommission(w->s, (const char *const *)b->hosts, (int)b->n_hosts);
        answer.standby = in_standby(w);
        request_answer(w, &answer.base);
}

/* ------------------------------------------------------------------------------------------------------- messages */

#define ANYBODY (1 << SESSION_UNAUTHORIZED | 1 << SESSION_WORKER | 1 << SESSION_APP)
#define WORKERS (1 << SESSION_WORKER)
#define APPS (1 << SESSION_APP)

static const struct kind {
        void (*take)(struct master_request *w);
        const ProtobufCMessageDescriptor *descriptor;
        unsigned who;
        bool ask;
} kinds[] = {
        [TYPE(REGISTER_WORKER)] = {register_worker, &firesteel__standalone__register_worker__descriptor, ANYBODY},
        [TYPE(WORKER_HEARTBEAT)] = {on_worker_heartbeat, &firesteel__standalone__worker_id__descriptor, ANYBODY},
        [TYPE(WORKER_STATE)] = {worker_state, &firesteel__standalone__worker_state__descriptor, WORKERS},
        [TYPE(EXECUTOR_STATE_CHANGED)] = {executor_state_changed,
                                          &firesteel__standalone__executor_state_changed__descriptor, WORKERS},
        [TYPE(DRIVER_STATE_CHANGED)] = {driver_state_changed, &firesteel__standalone__driver_state_changed__descriptor,
                                        WORKERS},
        [TYPE(WORKER_DECOMMISSIONING)] = {worker_decommissioning, &firesteel__standalone__worker_id__descriptor,
                                          WORKERS},
        [TYPE(REGISTER_APPLICATION)] = {register_app, &firesteel__standalone__register_application__descriptor,
                                        ANYBODY},
        [TYPE(UNREGISTER_APPLICATION)] = {unregister_app, &firesteel__standalone__application_id__descriptor, APPS},
        [TYPE(APPLICATION_STATE)] = {app_state, &firesteel__standalone__application_state__descriptor, APPS},
        [TYPE(REQUEST_EXECUTORS)] = {request_executors, &firesteel__standalone__request_executors__descriptor, APPS,
                                     true},
        [TYPE(KILL_EXECUTORS_OF_APP)] = {kill_executors_of_app,
                                         &firesteel__standalone__kill_executors_of_app__descriptor, APPS, true},
        [TYPE(SUBMIT_DRIVER)] = {submit_driver, &firesteel__standalone__submit_driver__descriptor, ANYBODY, true},
        [TYPE(KILL_SUBMITTED)] = {kill_submitted, &firesteel__standalone__driver_request__descriptor, ANYBODY, true},
        [TYPE(DRIVER_STATUS)] = {driver_status, &firesteel__standalone__driver_request__descriptor, ANYBODY, true},
        [TYPE(CLEAR_COMPLETED)] = {clear_completed, &firesteel__standalone__driver_request__descriptor, ANYBODY, true},
        [TYPE(DECOMMISSION_HOSTS)] = {decommission_hosts, &firesteel__standalone__decommission_hosts__descriptor,
                                      ANYBODY, true},
};

static void on_message(void *owner, struct rpc_message *m)
{
        struct master_server *s = owner;
        const struct kind *kind = m->type < ARRAY_SIZE(kinds) ? &kinds[m->type] : NULL;
        struct master_request w = {.s = s, .from = rpc_peer_data(m->peer), .m = m};
        struct fst_error error = FST_ERROR_INIT;
        if (!w.from)
                return;
        if (!kind || !kind->take) {
                if (m->ask)
                        rpc_fail(m, "this master, firesteel " FIRESTEEL_VERSION ", does not know message %d", m->type);
                return;
        }
        sessions_touch(&s->sessions, w.from, master_server_now());
        if (!(kind->who & 1u << w.from->role)) {
                disconnect_peer(&w, "its role does not allow this message");
                return;
        }
        if (kind->ask && !m->ask) {
                disconnect_peer(&w, "it sent a message that must be a request");
                return;
        }
        w.memory = wire_memory_for(m->len);
        w.body = standalone_decode(m->body, m->len, kind->descriptor, &w.memory, &error);
        if (w.body)
                kind->take(&w);
        else
                disconnect_peer(&w, error_message(&error));
        if (w.body && m->ask && !kind->ask) { /* an ask wants to know that the state is stored */
                Firesteel__Standalone__Truth truth = FIRESTEEL__STANDALONE__TRUTH__INIT;
                truth.value = true;
                request_answer(&w, &truth.base);
        }
        standalone_memory_deinit(&w.memory);
        error_deinit(&error);
        master_server_schedule_turn(s);
}

const struct rpc_endpoint_class master_endpoint_class = {
        .receive = on_message,
        .connected = on_connected,
        .disconnected = on_disconnected,
};
