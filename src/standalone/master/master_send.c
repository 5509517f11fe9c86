/* What the core says, as messages; see master_server_internal.h. */
#include "standalone/master/master_server_internal.h"

#include "base/error.h"
#include "base/log.h"
#include "base/mem.h"
#include "standalone/recovery/master_record.h"
#include "standalone/master/master_wire.h"
#include "rpc/rpc.h"

#include <ctype.h>
#include <stdio.h>
#include <sys/random.h>

#define TYPE(name) FIRESTEEL__STANDALONE__STANDALONE_TYPE__##name

static struct session *find_session(const struct master_server *s, uint64_t peer)
{
        return peer ? sessions_find(&s->sessions, peer) : NULL;
}

/* A word to somebody who is no session and to whom nothing was promised. */
static void send_best_effort(struct session *m, const char *endpoint, uint16_t type, const ProtobufCMessage *message)
{
        struct rpc_ref *ref = rpc_peer_ref(m->peer, endpoint);
        if (message)
                rpc_send_packed(ref, type, message, NULL);
        else
                rpc_send(ref, type, NULL, 0, NULL);
        rpc_ref_unref(ref);
}

/* ------------------------------------------------------------------------------------------------------ records */

static void say_store(void *owner, enum master_record kind, const char *id, const void *object)
{
        struct master_server *s = owner;
        size_t size;
        if (s->no_recovery)
                return;
        _cleanup_free_ void *data = master_record_pack(kind, object, &size);
        persistence_store(s->persistence, kind, id, data, size);
        outbox_stored(&s->outbox);
}

static void say_remove(void *owner, enum master_record kind, const char *id)
{
        struct master_server *s = owner;
        if (s->no_recovery)
                return;
        persistence_remove(s->persistence, kind, id);
        outbox_stored(&s->outbox);
}

/* ---------------------------------------------------------------------------------------------------- to workers */

static void say_worker_registered(void *owner, const struct master_worker *w, bool again)
{
        struct master_server *s = owner;
        struct session *m = find_session(s, w->peer);
        if (!m)
                return;
        master_server_bind_session(s, m, SESSION_WORKER, w->id);
        Firesteel__Standalone__Version version = standalone_version();
        Firesteel__Standalone__WorkerRegistered message = FIRESTEEL__STANDALONE__WORKER_REGISTERED__INIT;
        message.version = &version;
        message.master_url = s->url;
        message.master_web_ui = s->web_ui;
        message.again = again;
        outbox_send(&s->outbox, w->peer, TYPE(WORKER_REGISTERED), &message.base);
}

static void say_worker_refused(void *owner, uint64_t peer, const char *text)
{
        struct session *m = find_session(owner, peer);
        Firesteel__Standalone__Sentence message = FIRESTEEL__STANDALONE__SENTENCE__INIT;
        message.text = (char *)text;
        if (m)
                send_best_effort(m, STANDALONE_WORKER_ENDPOINT, TYPE(REGISTRATION_REFUSED), &message.base);
}

static void say_in_standby(void *owner, uint64_t peer)
{
        struct master_server *s = owner;
        struct session *m = find_session(s, peer);
        if (!m)
                return;
        master_server_bind_session(s, m, s->registering_role, s->registering_key);
        Firesteel__Standalone__Version version = standalone_version();
        Firesteel__Standalone__MasterInStandby message = FIRESTEEL__STANDALONE__MASTER_IN_STANDBY__INIT;
        message.version = &version;
        outbox_send(&s->outbox, peer, TYPE(MASTER_IN_STANDBY), &message.base);
}

static void say_reconnect_worker(void *owner, uint64_t peer)
{
        struct session *m = find_session(owner, peer);
        if (m)
                send_best_effort(m, STANDALONE_WORKER_ENDPOINT, TYPE(RECONNECT_WORKER), NULL);
}

static void say_launch_executor(void *owner, const struct master_executor *e)
{
        struct master_server *s = owner;
        struct wire_memory memory = {0};
        Firesteel__Standalone__LaunchExecutor message = FIRESTEEL__STANDALONE__LAUNCH_EXECUTOR__INIT;
        message.master_url = s->url;
        message.app_id = e->app->id;
        message.executor = e->id;
        message.profile = e->profile->id;
        message.cores = e->cores;
        message.memory = e->memory;
        message.n_resources = (size_t)e->n_holds;
        message.resources = e->n_holds ? master_resources(e->worker, e->holds, e->n_holds, &memory) : NULL;
        message.command = (ProtobufCBinaryData){e->profile->body_size, e->profile->body};
        message.app_name = e->app->name;
        message.app_user = e->app->user;
        message.app_max_cores = e->app->max_cores;
        outbox_send(&s->outbox, e->worker->peer, TYPE(LAUNCH_EXECUTOR), &message.base);
        standalone_memory_deinit(&memory);
}

static void say_kill_executor(void *owner, const struct master_worker *w, const char *app_id, int executor)
{
        struct master_server *s = owner;
        Firesteel__Standalone__ExecutorName message = FIRESTEEL__STANDALONE__EXECUTOR_NAME__INIT;
        message.app_id = (char *)app_id;
        message.executor = executor;
        outbox_send(&s->outbox, w->peer, TYPE(KILL_EXECUTOR), &message.base);
}

static void say_launch_driver(void *owner, const struct master_driver *d)
{
        struct master_server *s = owner;
        struct wire_memory memory = {0};
        Firesteel__Standalone__LaunchDriver message = FIRESTEEL__STANDALONE__LAUNCH_DRIVER__INIT;
        message.master_url = s->url;
        message.driver_id = d->id;
        message.description = (ProtobufCBinaryData){d->body_size, d->body};
        message.n_resources = (size_t)d->n_holds;
        message.resources = d->n_holds ? master_resources(d->worker, d->holds, d->n_holds, &memory) : NULL;
        outbox_send(&s->outbox, d->worker->peer, TYPE(LAUNCH_DRIVER), &message.base);
        standalone_memory_deinit(&memory);
}

static void say_kill_driver(void *owner, const struct master_worker *w, const char *driver_id)
{
        struct master_server *s = owner;
        Firesteel__Standalone__DriverId message = FIRESTEEL__STANDALONE__DRIVER_ID__INIT;
        message.id = (char *)driver_id;
        outbox_send(&s->outbox, w->peer, TYPE(KILL_DRIVER), &message.base);
}

static void say_app_finished(void *owner, const struct master_app *app)
{
        struct master_server *s = owner;
        Firesteel__Standalone__ApplicationId message = FIRESTEEL__STANDALONE__APPLICATION_ID__INIT;
        message.id = app->id;
        for (const struct master_worker *w = s->core->workers; w; w = w->next)
                if (app_concerns(app, w))
                        outbox_send(&s->outbox, w->peer, TYPE(APPLICATION_FINISHED), &message.base);
}

/* ----------------------------------------------------------------------------------------------- to applications */

static void say_app_registered(void *owner, const struct master_app *app, bool again)
{
        struct master_server *s = owner;
        struct session *m = find_session(s, app->peer);
        if (!m)
                return;
        master_server_bind_session(s, m, SESSION_APP, app->address);
        free(m->app_id);
        m->app_id = mem_strdup(app->id);
        Firesteel__Standalone__Version version = standalone_version();
        Firesteel__Standalone__RegisteredApplication message = FIRESTEEL__STANDALONE__REGISTERED_APPLICATION__INIT;
        message.version = &version;
        message.app_id = app->id;
        message.master_url = s->url;
        message.master_web_ui = s->web_ui;
        message.again = again;
        outbox_send(&s->outbox, app->peer, TYPE(REGISTERED_APPLICATION), &message.base);
}

static void say_executor_added(void *owner, const struct master_executor *e)
{
        struct master_server *s = owner;
        Firesteel__Standalone__ExecutorAdded message = FIRESTEEL__STANDALONE__EXECUTOR_ADDED__INIT;
        message.executor = e->id;
        message.worker_id = e->worker_id;
        message.host_port = e->worker_address;
        message.cores = e->cores;
        message.memory = e->memory;
        message.profile = e->profile->id;
        message.worker_web_ui = e->worker->web_ui;
        outbox_send(&s->outbox, e->app->peer, TYPE(EXECUTOR_ADDED), &message.base);
}

static void say_executor_updated(void *owner, const struct master_executor *e, const char *text, const int *exit_status,
                                 const char *worker_host)
{
        struct master_server *s = owner;
        Firesteel__Standalone__ExecutorUpdated message = FIRESTEEL__STANDALONE__EXECUTOR_UPDATED__INIT;
        message.executor = e->id;
        message.state = (char *)executor_state_name(e->state);
        message.message = (char *)(text ? text : "");
        message.has_exit_status = exit_status != NULL;
        message.exit_status = exit_status ? *exit_status : 0;
        message.worker_host = (char *)(worker_host ? worker_host : "");
        outbox_send(&s->outbox, e->app->peer, TYPE(EXECUTOR_UPDATED), &message.base);
}

static void say_worker_removed(void *owner, const struct master_app *app, const struct master_worker *w,
                               const char *text)
{
        struct master_server *s = owner;
        Firesteel__Standalone__WorkerRemoved message = FIRESTEEL__STANDALONE__WORKER_REMOVED__INIT;
        message.worker_id = w->id;
        message.host = w->host;
        message.message = (char *)text;
        outbox_send(&s->outbox, app->peer, TYPE(WORKER_REMOVED), &message.base);
}

static void say_executors_do_not_fit(void *owner, const struct master_app *app, const char *text)
{
        struct master_server *s = owner;
        Firesteel__Standalone__Sentence message = FIRESTEEL__STANDALONE__SENTENCE__INIT;
        message.text = (char *)text;
        outbox_send(&s->outbox, app->peer, TYPE(EXECUTORS_DO_NOT_FIT), &message.base);
}

static void say_app_removed(void *owner, const struct master_app *app)
{
        struct master_server *s = owner;
        Firesteel__Standalone__ApplicationRemoved message = FIRESTEEL__STANDALONE__APPLICATION_REMOVED__INIT;
        _cleanup_free_ char *text = mem_printf("Master removed our application: %s", app_state_name(app->state));
        message.state = (char *)app_state_name(app->state);
        message.message = text;
        outbox_send(&s->outbox, app->peer, TYPE(APPLICATION_REMOVED), &message.base);
}

/* ------------------------------------------------------------------------------------------------ a new leader */

static void make_nonce(char text[static 33])
{
        unsigned char bytes[16];
        if (getrandom(bytes, sizeof(bytes), 0) != sizeof(bytes))
                abort(); /* cannot happen for 16 bytes once the system has started */
        for (size_t i = 0; i < sizeof(bytes); i++)
                sprintf(text + 2 * i, "%02x", bytes[i]);
}

/*
 * To who was recorded: over the connection on which it registering_role itself when this master did not lead yet, else
 * over a new one to its address.
 */
static Firesteel__Standalone__MasterChanged master_changed(struct master_server *s,
                                                           Firesteel__Standalone__Version *version)
{
        Firesteel__Standalone__MasterChanged message = FIRESTEEL__STANDALONE__MASTER_CHANGED__INIT;
        *version = standalone_version();
        message.version = version;
        message.master_url = s->url;
        message.master_web_ui = s->web_ui;
        return message;
}

static void say_master_changed(struct master_server *s, enum session_role role, const char *key, const char *address,
                               const char *app_id)
{
        Firesteel__Standalone__Version version;
        Firesteel__Standalone__MasterChanged message = master_changed(s, &version);
        struct session *m = sessions_find_key(&s->sessions, role, key);
        if (m) {
                free(m->app_id);
                m->app_id = app_id ? mem_strdup(app_id) : NULL;
                outbox_send(&s->outbox, m->number, TYPE(MASTER_CHANGED), &message.base);
                return;
        }
        struct recovery_connection call = {.role = role};
        struct fst_error error = FST_ERROR_INIT;
        _cleanup_free_ char *url = mem_printf(
                "spark://%s@%s", role == SESSION_APP ? STANDALONE_APP_ENDPOINT : STANDALONE_WORKER_ENDPOINT, address);
        if (rpc_env_ref(s->env, url, &call.ref, &error) < 0) {
                log_warn(MASTER_LOG, "%s had exception on reconnect: %s", key, error_message(&error));
                error_deinit(&error);
                return;
        }
        make_nonce(call.nonce);
        message.nonce = call.nonce;
        call.key = mem_strdup(key);
        call.app_id = app_id ? mem_strdup(app_id) : NULL;
        rpc_send_packed(call.ref, TYPE(MASTER_CHANGED), &message.base, NULL);
        vec_push(&s->calls, call);
}

static void say_master_changed_app(void *owner, const struct master_app *app)
{
        say_master_changed(owner, SESSION_APP, app->address, app->address, app->id);
}

static void say_master_changed_worker(void *owner, const struct master_worker *w)
{
        say_master_changed(owner, SESSION_WORKER, w->id, w->address, NULL);
}

void master_server_reconnect_peers(struct master_server *s)
{
        Firesteel__Standalone__Version version;
        Firesteel__Standalone__MasterChanged changed = master_changed(s, &version);
        for (const struct session *m = s->sessions.of[SESSION_WORKER].first; m; m = m->next)
                if (!master_worker(s->core, m->key))
                        outbox_send(&s->outbox, m->number, TYPE(RECONNECT_WORKER), NULL);
        for (const struct session *m = s->sessions.of[SESSION_APP].first; m; m = m->next)
                if (!m->app_id)
                        outbox_send(&s->outbox, m->number, TYPE(MASTER_CHANGED), &changed.base);
}

void master_server_close_recovery_connections(struct master_server *s)
{
        for (size_t i = 0; i < s->calls.len; i++) {
                rpc_ref_unref(s->calls.data[i].ref);
                free(s->calls.data[i].key);
                free(s->calls.data[i].app_id);
        }
        s->calls.len = 0;
}

static void say_leadership_lost(void *owner)
{
        struct master_server *s = owner;
        s->ended(s->owner, 0);
}

/* Names of applications and what others said of themselves are in it: one line stays one line. */
static void say_log(void *owner, enum log_level level, const char *line)
{
        (void)owner;
        const char *c = line;
        while (*c && !iscntrl((unsigned char)*c))
                c++;
        if (!*c) {
                log_at(level, MASTER_LOG, "%s", line);
                return;
        }
        _cleanup_free_ char *clean = mem_strdup(line);
        for (char *at = clean; *at; at++)
                if (iscntrl((unsigned char)*at))
                        *at = ' ';
        log_at(level, MASTER_LOG, "%s", clean);
}

const struct master_ops master_server_ops = {
        .store = say_store,
        .remove = say_remove,
        .worker_registered = say_worker_registered,
        .worker_refused = say_worker_refused,
        .in_standby = say_in_standby,
        .reconnect_worker = say_reconnect_worker,
        .launch_executor = say_launch_executor,
        .kill_executor = say_kill_executor,
        .launch_driver = say_launch_driver,
        .kill_driver = say_kill_driver,
        .app_finished = say_app_finished,
        .app_registered = say_app_registered,
        .executor_added = say_executor_added,
        .executor_updated = say_executor_updated,
        .worker_removed = say_worker_removed,
        .executors_do_not_fit = say_executors_do_not_fit,
        .app_removed = say_app_removed,
        .master_changed_app = say_master_changed_app,
        .master_changed_worker = say_master_changed_worker,
        .leadership_lost = say_leadership_lost,
        .log = say_log,
};
