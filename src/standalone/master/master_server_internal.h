/*
 * What the files of the master process share: master_server.c (its life, the loop's turn), master_endpoint.c (decodes
 * messages and passes them to the core), master_send.c (does the core's actions), master_http.c (REST server and
 * pages). Users include master_server.h.
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
struct rest_server;
struct rpc_ref;
struct security;

/* A connection to what was recorded and had not connected when this master became leader. */
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
        bool no_recovery; /* recovery mode NONE: nothing has to wait for a record */
        struct sessions sessions;
        struct outbox outbox;
        VEC(struct recovery_connection) calls;
        char *url, *web_ui, *rest_url;
        struct rest_server *rest; /* NULL: none */
        struct master_pages *pages;

        uv_timer_t timer; /* master_deadline */
        uv_idle_t idle;   /* while there is news: the loop must not wait before its turn ends */
        uv_check_t turn;
        int handles;
        bool closing, running; /* running: actions of the core are being done */
        int64_t wall_offset;
};

/* Does what the core wants done, in order. After each event, and before anything else is sent. */
void master_server_run(struct master_server *s);

/* After each event: runs, and lets the core place and the outbox leave at the end of the loop's turn. */
void master_server_schedule_turn(struct master_server *s);

extern const struct rpc_endpoint_class master_endpoint_class; /* owner: the server */

/* master_web.c: the REST server and the pages. Negative with @error. */
int master_web_start(struct master_server *s, struct fst_error *error);
void master_web_stop(struct master_server *s);

/*
 * This master leads: workers and applications that introduced themselves to it before, and that were not
 * recorded, are to register. Applications that have an id are left alone: they are known, or another leader's.
 */
void master_server_reconnect_peers(struct master_server *s);

/* Give up connections that were made to what was recorded. */
void master_server_close_recovery_connections(struct master_server *s);

/* @session is worker or application @key from now on; whoever was it before is disconnected. */
void master_server_bind_session(struct master_server *s, struct session *session, enum session_role role,
                                const char *key);
