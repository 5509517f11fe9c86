/*
 * Sends messages. Those that need not wait for the journal are packed directly into their connection's buffers, others
 * into a queue first.
 */
#include "standalone/master/master_outbox.h"

#include "base/mem.h"
#include "rpc/rpc.h"

/* A connection with pending data holds a block of rpc/send_queue.h. Connections are flushed before they hold more
 * blocks than are kept for reuse, so that a message to ten thousand workers needs no more memory than one to a few.
 */
#define FLUSH_EVERY 32

enum queued_message_kind { QUEUED_MESSAGE, QUEUED_ANSWER, QUEUED_REPLY };

struct queued_message {
        struct queued_message *next;
        enum queued_message_kind kind;
        union {
                uint64_t number;
                struct rpc_call *call;
                struct {
                        outbox_replied *replied;
                        void *owner;
                        struct master_reply reply;
                };
        };
        uint16_t type;
        size_t size;
        uint8_t body[];
};

static void message_queue_init(struct message_queue *l)
{
        *l = (struct message_queue){.last = &l->first};
}

static void message_queue_put(struct message_queue *l, struct queued_message *queued)
{
        queued->next = NULL;
        *l->last = queued;
        l->last = &queued->next;
}

static struct queued_message *message_queue_take(struct message_queue *l)
{
        struct queued_message *first = l->first;
        if (first && !(l->first = first->next))
                message_queue_init(l);
        return first;
}

static void message_queue_move(struct message_queue *to, struct message_queue *from)
{
        if (!from->first)
                return;
        *to->last = from->first;
        to->last = from->last;
        message_queue_init(from);
}

static void queued_message_free(struct queued_message *queued)
{
        if (queued->kind == QUEUED_REPLY)
                master_reply_deinit(&queued->reply);
        free(queued);
}

void outbox_init(struct outbox *o, struct sessions *sessions, struct rpc_env *env, bool (*commit)(void *), void *owner)
{
        *o = (struct outbox){.sessions = sessions, .env = env, .commit = commit, .owner = owner};
        message_queue_init(&o->under_way);
        message_queue_init(&o->next);
}

static void message_queue_drop(struct message_queue *l)
{
        for (struct queued_message *queued = l->first, *next; queued; queued = next) {
                next = queued->next;
                if (queued->kind == QUEUED_ANSWER)
                        rpc_call_fail(queued->call, "the master is ending");
                queued_message_free(queued);
        }
        message_queue_init(l);
}

void outbox_deinit(struct outbox *o)
{
        message_queue_drop(&o->under_way);
        message_queue_drop(&o->next);
}

void outbox_stored(struct outbox *o)
{
        o->stored = true;
}

static bool must_wait(const struct outbox *o)
{
        return o->stored || o->committing || o->under_way.first || o->next.first;
}

static void was_sent(struct outbox *o)
{
        if (++o->unflushed < FLUSH_EVERY)
                return;
        o->unflushed = 0;
        rpc_env_flush(o->env);
}

static struct queued_message *queued_message_new(enum queued_message_kind kind, uint16_t type,
                                                 const ProtobufCMessage *message)
{
        size_t size = message ? protobuf_c_message_get_packed_size(message) : 0;
        struct queued_message *queued = mem_alloc(sizeof(*queued) + size);
        *queued = (struct queued_message){.kind = kind, .type = type, .size = size};
        if (message)
                protobuf_c_message_pack(message, queued->body);
        return queued;
}

void outbox_send(struct outbox *o, uint64_t number, uint16_t type, const ProtobufCMessage *message)
{
        struct session *m = number ? sessions_find(o->sessions, number) : NULL;
        if (!m || !m->ref)
                return;
        if (!must_wait(o)) {
                if (message)
                        rpc_send_packed(m->ref, type, message, NULL);
                else
                        rpc_send(m->ref, type, NULL, 0, NULL);
                was_sent(o);
                return;
        }
        struct queued_message *queued = queued_message_new(QUEUED_MESSAGE, type, message);
        queued->number = number;
        message_queue_put(&o->next, queued);
}

void outbox_answer(struct outbox *o, struct rpc_message *m, const ProtobufCMessage *message)
{
        if (m->ask == 0)
                return;
        if (!must_wait(o)) {
                rpc_reply_packed(m, m->type, message, NULL);
                was_sent(o);
                return;
        }
        struct queued_message *queued = queued_message_new(QUEUED_ANSWER, m->type, message);
        queued->call = rpc_message_defer(m);
        message_queue_put(&o->next, queued);
}

void outbox_reply(struct outbox *o, struct master_reply *reply, outbox_replied *replied, void *owner)
{
        struct queued_message *queued = queued_message_new(QUEUED_REPLY, 0, NULL);
        queued->replied = replied;
        queued->owner = owner;
        queued->reply = *reply;
        *reply = (struct master_reply){0};
        message_queue_put(&o->next, queued);
}

static void outbox_deliver(struct outbox *o, struct queued_message *queued)
{
        struct session *m;
        switch (queued->kind) {
        case QUEUED_MESSAGE:
                m = sessions_find(o->sessions, queued->number);
                if (m && m->ref)
                        rpc_send(m->ref, queued->type, queued->body, queued->size, NULL);
                was_sent(o);
                break;
        case QUEUED_ANSWER:
                rpc_call_reply(queued->call, queued->type, queued->body, queued->size, NULL);
                was_sent(o);
                break;
        case QUEUED_REPLY:
                queued->replied(queued->owner, &queued->reply);
                break;
        }
        queued_message_free(queued);
}

static void deliver_all(struct outbox *o)
{
        for (struct queued_message *queued; (queued = message_queue_take(&o->under_way));)
                outbox_deliver(o, queued);
}

void outbox_seal(struct outbox *o)
{
        while (!o->committing && (o->stored || o->next.first)) {
                o->stored = false;
                message_queue_move(&o->under_way, &o->next);
                o->committing = !o->commit(o->owner);
                if (!o->committing)
                        deliver_all(o);
        }
}

void outbox_durable(struct outbox *o)
{
        o->committing = false;
        deliver_all(o);
        outbox_seal(o);
}
