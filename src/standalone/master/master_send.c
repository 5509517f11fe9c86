/* Carries out the core's actions: stores records, and sends messages through the outbox. See
 * master_server_internal.h.
 */
#include "standalone/master/master_server_internal.h"

#include "base/error.h"
#include "base/log.h"
#include "base/mem.h"
#include "net/secret.h"
#include "standalone/recovery/master_record.h"
#include "standalone/master/master_wire.h"
#include "rpc/rpc.h"

#include <ctype.h>
#include <stdio.h>

#define TYPE(name) FIRESTEEL__STANDALONE__STANDALONE_TYPE__##name

static struct session *find_session(const struct master_server *s, uint64_t peer)
{
        return peer ? sessions_find(&s->sessions, peer) : NULL;
}

/* Sends to a peer without a session, without waiting for the journal. */
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

static void record_store(struct master_server *s, const struct master_action *a)
{
        size_t size;
        if (s->no_recovery)
                return;
        _cleanup_free_ void *data = master_record_pack(a->record, a->object, &size);
        persistence_store(s->persistence, a->record, a->id, data, size);
        outbox_stored(&s->outbox);
}

static void record_remove(struct master_server *s, const struct master_action *a)
{
        if (s->no_recovery)
                return;
        persistence_remove(s->persistence, a->record, a->id);
        outbox_stored(&s->outbox);
}

/* ---------------------------------------------------------------------------------------------------- to workers */

static void send_worker_registered(struct master_server *s, const struct master_action *a)
{
        struct session *m = find_session(s, a->peer);
        if (!m)
                return;
        master_server_bind_session(s, m, SESSION_WORKER, a->worker->id);
        Firesteel__Standalone__Version version = standalone_version();
        Firesteel__Standalone__WorkerRegistered message = FIRESTEEL__STANDALONE__WORKER_REGISTERED__INIT;
        message.version = &version;
        message.master_url = s->url;
        message.master_web_ui = s->web_ui;
        message.again = a->again;
        outbox_send(&s->outbox, a->peer, TYPE(WORKER_REGISTERED), &message.base);
}

static void send_worker_refused(struct master_server *s, const struct master_action *a)
{
        struct session *m = find_session(s, a->peer);
        Firesteel__Standalone__Sentence message = FIRESTEEL__STANDALONE__SENTENCE__INIT;
        message.text = a->text;
        if (m)
                send_best_effort(m, STANDALONE_WORKER_ENDPOINT, TYPE(REGISTRATION_REFUSED), &message.base);
}

static void send_in_standby(struct master_server *s, const struct master_action *a)
{
        struct session *m = find_session(s, a->peer);
        if (!m)
                return;
        master_server_bind_session(s, m, a->is_app ? SESSION_APP : SESSION_WORKER, a->text);
        Firesteel__Standalone__Version version = standalone_version();
        Firesteel__Standalone__MasterInStandby message = FIRESTEEL__STANDALONE__MASTER_IN_STANDBY__INIT;
        message.version = &version;
        outbox_send(&s->outbox, a->peer, TYPE(MASTER_IN_STANDBY), &message.base);
}

static void send_reconnect_worker(struct master_server *s, const struct master_action *a)
{
        struct session *m = find_session(s, a->peer);
        if (m)
                send_best_effort(m, STANDALONE_WORKER_ENDPOINT, TYPE(RECONNECT_WORKER), NULL);
}

static void send_launch_executor(struct master_server *s, const struct master_action *a)
{
        const struct master_executor *e = a->executor;
        struct wire_memory memory = {0};
        Firesteel__Standalone__LaunchExecutor message = FIRESTEEL__STANDALONE__LAUNCH_EXECUTOR__INIT;
        message.master_url = s->url;
        message.app_id = e->app->id;
        message.executor = e->id;
        message.profile = e->profile->id;
        message.cores = e->cores;
        message.memory = e->memory;
        message.n_resources = (size_t)e->n_holds;
        message.resources = e->n_holds ? master_resources(a->worker, e->holds, e->n_holds, &memory) : NULL;
        message.command = (ProtobufCBinaryData){e->profile->body_size, e->profile->body};
        message.app_name = e->app->name;
        message.app_user = e->app->user;
        message.app_max_cores = e->app->max_cores;
        outbox_send(&s->outbox, a->peer, TYPE(LAUNCH_EXECUTOR), &message.base);
        standalone_memory_deinit(&memory);
}

static void send_kill_executor(struct master_server *s, const struct master_action *a)
{
        Firesteel__Standalone__ExecutorName message = FIRESTEEL__STANDALONE__EXECUTOR_NAME__INIT;
        message.app_id = a->text;
        message.executor = a->executor_id;
        outbox_send(&s->outbox, a->peer, TYPE(KILL_EXECUTOR), &message.base);
}

static void send_launch_driver(struct master_server *s, const struct master_action *a)
{
        const struct master_driver *d = a->driver;
        struct wire_memory memory = {0};
        Firesteel__Standalone__LaunchDriver message = FIRESTEEL__STANDALONE__LAUNCH_DRIVER__INIT;
        message.master_url = s->url;
        message.driver_id = d->id;
        message.description = (ProtobufCBinaryData){d->body_size, d->body};
        message.n_resources = (size_t)d->n_holds;
        message.resources = d->n_holds ? master_resources(a->worker, d->holds, d->n_holds, &memory) : NULL;
        outbox_send(&s->outbox, a->peer, TYPE(LAUNCH_DRIVER), &message.base);
        standalone_memory_deinit(&memory);
}

static void send_kill_driver(struct master_server *s, const struct master_action *a)
{
        Firesteel__Standalone__DriverId message = FIRESTEEL__STANDALONE__DRIVER_ID__INIT;
        message.id = a->text;
        outbox_send(&s->outbox, a->peer, TYPE(KILL_DRIVER), &message.base);
}

static void send_app_finished(struct master_server *s, const struct master_action *a)
{
        Firesteel__Standalone__ApplicationId message = FIRESTEEL__STANDALONE__APPLICATION_ID__INIT;
        message.id = a->app->id;
        for (const struct master_worker *w = s->core->workers.first; w; w = w->next)
                if (app_concerns(a->app, w))
                        outbox_send(&s->outbox, w->peer, TYPE(APPLICATION_FINISHED), &message.base);
}

/* ----------------------------------------------------------------------------------------------- to applications */

static void send_app_registered(struct master_server *s, const struct master_action *a)
{
        const struct master_app *app = a->app;
        struct session *m = find_session(s, a->peer);
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
        message.again = a->again;
        message.recovering = s->core->status != MASTER_ALIVE;
        message.executors = new_array(int32_t, (size_t)app->n_executors);
        for (const struct master_executor *e = app->executors; e; e = e->next_in_app)
                if (!e->left)
                        message.executors[message.n_executors++] = e->id;
        outbox_send(&s->outbox, a->peer, TYPE(REGISTERED_APPLICATION), &message.base);
        free(message.executors);
}

static void send_executor_added(struct master_server *s, const struct master_action *a)
{
        const struct master_executor *e = a->executor;
        Firesteel__Standalone__ExecutorAdded message = FIRESTEEL__STANDALONE__EXECUTOR_ADDED__INIT;
        message.executor = e->id;
        message.worker_id = e->worker_id;
        message.host_port = e->worker_address;
        message.cores = e->cores;
        message.memory = e->memory;
        message.profile = e->profile->id;
        message.worker_web_ui = a->worker->web_ui;
        outbox_send(&s->outbox, a->peer, TYPE(EXECUTOR_ADDED), &message.base);
}

static void send_executor_updated(struct master_server *s, const struct master_action *a)
{
        Firesteel__Standalone__ExecutorUpdated message = FIRESTEEL__STANDALONE__EXECUTOR_UPDATED__INIT;
        message.executor = a->executor->id;
        message.state = (char *)executor_state_name(a->state);
        message.message = a->text ? a->text : message.message;
        message.has_exit_status = a->has_exit_status;
        message.exit_status = a->exit_status;
        message.worker_host = a->worker ? a->worker->host : message.worker_host;
        outbox_send(&s->outbox, a->peer, TYPE(EXECUTOR_UPDATED), &message.base);
}

static void send_worker_removed(struct master_server *s, const struct master_action *a)
{
        Firesteel__Standalone__WorkerRemoved message = FIRESTEEL__STANDALONE__WORKER_REMOVED__INIT;
        message.worker_id = a->worker->id;
        message.host = a->worker->host;
        message.message = a->text;
        for (const struct master_app *app = s->core->apps.first; app; app = app->next)
                outbox_send(&s->outbox, app->peer, TYPE(WORKER_REMOVED), &message.base);
}

static void send_executors_do_not_fit(struct master_server *s, const struct master_action *a)
{
        Firesteel__Standalone__Sentence message = FIRESTEEL__STANDALONE__SENTENCE__INIT;
        message.text = a->text;
        outbox_send(&s->outbox, a->peer, TYPE(EXECUTORS_DO_NOT_FIT), &message.base);
}

static void send_app_removed(struct master_server *s, const struct master_action *a)
{
        Firesteel__Standalone__ApplicationRemoved message = FIRESTEEL__STANDALONE__APPLICATION_REMOVED__INIT;
        _cleanup_free_ char *text = mem_printf("Master removed our application: %s", app_state_name(a->app->state));
        message.state = (char *)app_state_name(a->app->state);
        message.message = text;
        outbox_send(&s->outbox, a->peer, TYPE(APPLICATION_REMOVED), &message.base);
}

/* Ends the session's role too, so that nothing that the old driver still sends has an effect. */
static void send_app_superseded(struct master_server *s, const struct master_action *a)
{
        struct session *m = find_session(s, a->peer);
        Firesteel__Standalone__ApplicationRemoved message = FIRESTEEL__STANDALONE__APPLICATION_REMOVED__INIT;
        if (!m)
                return;
        _cleanup_free_ char *text = mem_printf("driver number %d has taken it over", a->app->resume.epoch);
        message.state = (char *)app_state_name(APP_KILLED);
        message.message = text;
        send_best_effort(m, STANDALONE_APP_ENDPOINT, TYPE(APPLICATION_REMOVED), &message.base);
        sessions_dismiss(&s->sessions, m);
}

/* ------------------------------------------------------------------------------------------------ a new leader */

static void make_nonce(char text[static 33])
{
        if (secret_draw(text, 33))
                abort(); /* cannot fail for 16 bytes once the system has started */
}

/* Sends to a recorded peer over the connection on which it registered while this master was a standby, or over a new
 * one to its address.
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

static void send_master_changed(struct master_server *s, enum session_role role, const char *key, const char *address,
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

static void send_master_changed_app(struct master_server *s, const struct master_action *a)
{
        send_master_changed(s, SESSION_APP, a->app->address, a->app->address, a->app->id);
}

static void send_master_changed_worker(struct master_server *s, const struct master_action *a)
{
        send_master_changed(s, SESSION_WORKER, a->worker->id, a->worker->address, NULL);
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

static void leadership_lost(struct master_server *s, const struct master_action *a)
{
        (void)a;
        s->ended(s->owner, 0);
}

/* The text has names of applications and other untrusted strings, so line breaks are escaped. */
static void log_line(struct master_server *s, const struct master_action *a)
{
        (void)s;
        for (char *c = a->text; *c; c++)
                if (iscntrl((unsigned char)*c))
                        *c = ' ';
        log_at(a->level, MASTER_LOG, "%s", a->text);
}

void master_server_run(struct master_server *s)
{
        static void (*const run[])(struct master_server * s, const struct master_action *a) = {
                [MASTER_STORE] = record_store,
                [MASTER_REMOVE] = record_remove,
                [MASTER_WORKER_REGISTERED] = send_worker_registered,
                [MASTER_WORKER_REFUSED] = send_worker_refused,
                [MASTER_RECONNECT_WORKER] = send_reconnect_worker,
                [MASTER_LAUNCH_EXECUTOR] = send_launch_executor,
                [MASTER_KILL_EXECUTOR] = send_kill_executor,
                [MASTER_LAUNCH_DRIVER] = send_launch_driver,
                [MASTER_KILL_DRIVER] = send_kill_driver,
                [MASTER_APP_FINISHED] = send_app_finished,
                [MASTER_APP_REGISTERED] = send_app_registered,
                [MASTER_EXECUTOR_ADDED] = send_executor_added,
                [MASTER_EXECUTOR_UPDATED] = send_executor_updated,
                [MASTER_EXECUTORS_DO_NOT_FIT] = send_executors_do_not_fit,
                [MASTER_APP_REMOVED] = send_app_removed,
                [MASTER_APP_SUPERSEDED] = send_app_superseded,
                [MASTER_WORKER_REMOVED] = send_worker_removed,
                [MASTER_IN_STANDBY] = send_in_standby,
                [MASTER_CHANGED_APP] = send_master_changed_app,
                [MASTER_CHANGED_WORKER] = send_master_changed_worker,
                [MASTER_LEADERSHIP_LOST] = leadership_lost,
                [MASTER_LOG_LINE] = log_line,
        };
        if (s->running)
                return;
        s->running = true;
        for (const struct master_action *a; (a = master_next_action(s->core));)
                run[a->kind](s, a);
        s->running = false;
}
