/*
 * Who is connected to a master: a session for each connection, by number, as the master's core names them, and by what
 * it said it is.
 *
 * A connection begins as a guest. Guests are few: whoever has said nothing for longest goes when there are too many.
 * A worker or application is a session of that role from its registration on, also with a master that does not lead.
 * Numbers are not used again.
 */
#pragma once

#include "base/hash_table.h"

struct rpc_peer;
struct rpc_ref;

enum session_role { SESSION_UNAUTHORIZED, SESSION_WORKER, SESSION_APP };

struct session {
        uint64_t number;
        enum session_role role;
        char *key;                   /* the worker's id, or the address of the application's driver; NULL of guests */
        char *app_id;                /* of an application, once it is known */
        char nonce[33];              /* the master made this connection, and said that; "" else */
        struct rpc_peer *peer;       /* held */
        struct rpc_ref *ref;         /* its endpoint: Worker or AppClient; NULL of guests */
        int64_t last_message_ms;     /* guests: when they said something last */
        struct session *prev, *next; /* of those of its role; guests: who was last_message_ms last at the end */
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

/* A guest. rpc_peer_data of @peer is the session until sessions_remove. */
struct session *sessions_add(struct sessions *t, struct rpc_peer *peer, int64_t now);
struct session *sessions_find(const struct sessions *t, uint64_t number); /* NULL: gone */

/* Who is worker @key, or the application whose driver is at @key; NULL if nobody is connected. */
struct session *sessions_find_key(const struct sessions *t, enum session_role role, const char *key);

/* The guest said something. */
void sessions_touch(struct sessions *t, struct session *m, int64_t now);

/*
 * It is a worker or application. Who was it before is not any more, becomes a guest, and is what this answers, or NULL.
 */
struct session *sessions_identify(struct sessions *t, struct session *m, enum session_role role, const char *key);

/* The connection is gone. Frees it. */
void sessions_remove(struct sessions *t, struct session *m);
