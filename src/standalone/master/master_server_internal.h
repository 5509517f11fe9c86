/* Shared by the files of the master process: master_server.c (lifetime, loop iterations), master_endpoint.c (decodes
 * messages and passes them to the core), master_send.c (carries out the core's actions), master_http.c (REST server
 * and pages). Users include master_server.h.
 */
#pragma once

#include "base/vec.h"
#include "standalone/master/master_sessions.h"
#include "standalone/master/master_outbox.h"
#include "standalone/master/master_server.h"
#include "standalone/core/master_state.h"

#define MASTER_LOG "Master"

struct master_pages;
struct persistence;
struct master_rest;
struct rpc_ref;
struct security;

/* A connection to a recorded worker or application that was not connected when this master became leader. */
struct recovery_connection {
        enum session_role role;
        char *key, *app_id; /* as a session's */
        char nonce[33];
        struct rpc_ref *ref;
};

struct master_server {
        uv_loop_t *loop;
        const struct master_conf *conf;
        void (*ended)(void *owner, int status);
        void *owner;
        struct security *security;
        struct rpc_env *env;
        struct master *core;
        struct persistence *persistence;
        bool no_recovery; /* recovery mode NONE: nothing waits for a record */
        struct sessions sessions;
        struct outbox outbox;
        VEC(struct recovery_connection) calls;
        char *url, *web_ui, *rest_url;
        struct master_rest *rest; /* NULL: none */
        struct master_pages *pages;

        uv_timer_t timer; /* master_deadline */
        uv_idle_t idle;   /* active while events are pending: the loop must not sleep before its iteration ends */
        uv_check_t turn;
        int handles;
        bool closing, running; /* running: actions of the core are being carried out */
        int64_t wall_offset;
};

/* Carries out the core's actions, in order. Call it after each event, before sending anything else. */
void master_server_run(struct master_server *s);

/* Call it after each event: carries out actions now; the core places and the outbox leaves at the end of the
 * iteration.
 */
void master_server_schedule_turn(struct master_server *s);

extern const struct rpc_endpoint_class master_endpoint_class; /* owner: the server */

/* master_http.c: starts the REST server and the pages. Negative with @error. */
int master_web_start(struct master_server *s, struct fst_error *error);
void master_web_stop(struct master_server *s);

/* This master leads: asks workers and applications that introduced themselves earlier and were not recorded to
 * register. Skips applications with an id: this master or another leader knows them.
 */
void master_server_reconnect_peers(struct master_server *s);

/* Closes the connections that were made to recorded peers. */
void master_server_close_recovery_connections(struct master_server *s);

/* Makes @session the session of worker or application @key, and disconnects the previous one. */
void master_server_bind_session(struct master_server *s, struct session *session, enum session_role role,
                                const char *key);
