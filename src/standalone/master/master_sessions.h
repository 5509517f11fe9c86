/*
 * Who is connected to a master: a member for each connection, by number, as the master's core names them, and by what
 * it said it is.
 *
 * A connection begins as a guest. Guests are few: whoever has said nothing for longest goes when there are too many.
 * A worker or application is a member of that role from its registration on, also with a master that does not lead.
 * Numbers are not used again.
 */
#pragma once

#include "base/hash_table.h"

struct rpc_peer;
struct rpc_ref;

enum member_role { MEMBER_GUEST, MEMBER_WORKER, MEMBER_APP };

struct member {
        uint64_t number;
        enum member_role role;
        char *key;                  /* the worker's id, or the address of the application's driver; NULL of guests */
        char *app_id;               /* of an application, once it is known */
        char greeting[33];          /* the master made this connection, and said that; "" else */
        struct rpc_peer *peer;      /* held */
        struct rpc_ref *ref;        /* its endpoint: Worker or AppClient; NULL of guests */
        int64_t heard;              /* guests: when they said something last */
        struct member *prev, *next; /* of those of its role; guests: who was heard last at the end */
};

struct member_list {
        struct member *first, *last;
        int n;
};

struct members {
        struct object_table by_number, by_key;
        struct member_list of[MEMBER_APP + 1]; /* by role */
        uint64_t last_number;
};

void members_deinit(struct members *t);

/* A guest. rpc_peer_data of @peer is the member until members_remove. */
struct member *members_add(struct members *t, struct rpc_peer *peer, int64_t now);
struct member *members_find(const struct members *t, uint64_t number); /* NULL: gone */

/* Who is worker @key, or the application whose driver is at @key; NULL if nobody is connected. */
struct member *members_find_key(const struct members *t, enum member_role role, const char *key);

/* The guest said something. */
void members_heard(struct members *t, struct member *m, int64_t now);

/*
 * It is a worker or application. Who was it before is not any more, becomes a guest, and is what this answers, or NULL.
 */
struct member *members_name(struct members *t, struct member *m, enum member_role role, const char *key);

/* The connection is gone. Frees it. */
void members_remove(struct members *t, struct member *m);
