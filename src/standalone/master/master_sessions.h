/* Connected peers of a master: one session per connection, found by the number that the core uses and by worker id or
 * application address.
 *
 * A connection begins unregistered. Their number is limited: when there are too many, the one that has been silent
 * longest is closed. A worker or application has a session of that role from its registration on, also at a standby
 * master. Numbers are not reused.
 */
#pragma once

#include "base/hash_table.h"

struct rpc_peer;
struct rpc_ref;

enum session_role { SESSION_UNAUTHORIZED, SESSION_WORKER, SESSION_APP };

struct session {
        uint64_t number;
        enum session_role role;
        char *key;      /* the worker's id, or the address of the application's driver; NULL while unregistered */
        char *app_id;   /* of an application, once known */
        char nonce[33]; /* the nonce that this master sent over a connection that it made; otherwise "" */
        struct rpc_peer *peer; /* held */
        struct rpc_ref *ref;   /* its endpoint: Worker or AppClient; NULL while unregistered */
        int64_t last_message;  /* unregistered: time of the last message */
        struct session *prev,
                *next; /* in the list of its role; unregistered peers by last_message, latest at the end */
};

struct member_list {
        struct session *first, *last;
        int n;
};

struct sessions {
        struct object_table by_number, by_key;
        struct member_list of[SESSION_APP + 1]; /* by role */
        uint64_t last_number;
};

void sessions_deinit(struct sessions *t);

/* Adds an unregistered session. rpc_peer_data of @peer is the session until sessions_remove. */
struct session *sessions_add(struct sessions *t, struct rpc_peer *peer, int64_t now);
struct session *sessions_find(const struct sessions *t, uint64_t number); /* NULL if disconnected */

/* The session of worker @key, or of the application whose driver is at @key; NULL if not connected. */
struct session *sessions_find_key(const struct sessions *t, enum session_role role, const char *key);

/* An unregistered peer sent a message. */
void sessions_touch(struct sessions *t, struct session *m, int64_t now);

/* Registers the session as a worker or application. A previous session of @key becomes unregistered and is returned,
 * or NULL.
 */
struct session *sessions_identify(struct sessions *t, struct session *m, enum session_role role, const char *key);

/* The peer loses its role: it is unregistered, and nothing reaches it through its endpoint. */
void sessions_dismiss(struct sessions *t, struct session *m);

/* The connection is closed. Frees the session. */
void sessions_remove(struct sessions *t, struct session *m);
