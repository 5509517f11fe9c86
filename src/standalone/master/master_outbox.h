/* The messages of a master. Each is held until the records that were stored before it are durable.
 *
 *      outbox_stored(&o);                     a record was given to persistence
 *      outbox_send(&o, session, type, &m);    held; sent at once if nothing had been stored
 *      outbox_seal(&o);                       end of the loop iteration: persistence_commit for all of it
 *      …                                      → sent, in order
 *
 * Only one commit is in progress at a time. Messages that arrive meanwhile wait for the next one together.
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
        /* As persistence_commit. True: already durable. False: outbox_durable is called with the outbox later. */
        bool (*commit)(void *owner);
        void *owner;
        bool stored;     /* a record since the last commit started */
        bool committing; /* `under_way` waits for a commit */
        struct message_queue under_way, next;
        int unflushed; /* messages since the last flush of connections */
};

void outbox_init(struct outbox *o, struct sessions *sessions, struct rpc_env *env, bool (*commit)(void *), void *owner);

/* Drops messages that are held. */
void outbox_deinit(struct outbox *o);

void outbox_stored(struct outbox *o);

/* To the endpoint of session @number. Dropped if the number is 0 or the session is gone. @message NULL: no body. */
void outbox_send(struct outbox *o, uint64_t number, uint16_t type, const ProtobufCMessage *message);

/* The reply to an ask. */
void outbox_answer(struct outbox *o, struct rpc_message *m, const ProtobufCMessage *message);

/* Calls @replied with @reply, whose content it takes. Never from within this call. */
typedef void outbox_replied(void *owner, const struct master_reply *reply);
void outbox_reply(struct outbox *o, struct master_reply *reply, outbox_replied *replied, void *owner);

/* Ends the batch of this loop iteration. */
void outbox_seal(struct outbox *o);

/* The commit is done. */
void outbox_durable(struct outbox *o);
