/*
 * The messages of a master. Each is held until the records that were stored before it are durable.
 *
 *      outbox_stored(&o);                     a record was given to persistence
 *      outbox_send(&o, session, type, &m);     held; sent at once if nothing had been stored
 *      outbox_seal(&o);                       the end of the loop's turn: persistence_commit for all of it
 *      …                                      → sent, in order
 *
 * One commit is under way at a time. Messages that come meanwhile wait for the next, together.
 */
#pragma once

#include "standalone/core/master_core.h"
#include "standalone/master/master_sessions.h"

#include <protobuf-c/protobuf-c.h>
#include <stdbool.h>

struct queued_message;
struct rpc_env;
struct rpc_message;

struct message_queue {
        struct queued_message *first, **last;
};

struct outbox {
        struct sessions *sessions;
        struct rpc_env *env;
        /* As persistence_commit: true: durable already. False: outbox_durable is called with the outbox later. */
        bool (*commit)(void *owner);
        void *owner;
        bool stored;     /* something, since the last commit was asked for */
        bool committing; /* `under_way` waits for it */
        struct message_queue under_way, next;
        int unflushed; /* messages since connections were written to */
};

void outbox_init(struct outbox *o, struct sessions *sessions, struct rpc_env *env, bool (*commit)(void *), void *owner);

/* What waits is dropped. */
void outbox_deinit(struct outbox *o);

void outbox_stored(struct outbox *o);

/* To the endpoint of the session of that number; 0, or one that is gone: dropped. @message NULL: without a body. */
void outbox_send(struct outbox *o, uint64_t number, uint16_t type, const ProtobufCMessage *message);

/* The answer to an ask. */
void outbox_answer(struct outbox *o, struct rpc_message *m, const ProtobufCMessage *message);

/* Call @replied with @reply, whose content it takes. Never before this returns. */
typedef void outbox_replied(void *owner, const struct master_reply *reply);
void outbox_reply(struct outbox *o, struct master_reply *reply, outbox_replied *replied, void *owner);

/* Everything of this turn has been said. */
void outbox_seal(struct outbox *o);

/* The commit is done. */
void outbox_durable(struct outbox *o);
