/*
 * See master_outbox.h. What need not wait is packed right into its connection's buffers; what does is packed into a
 * letter first.
 */
#include "standalone/master/master_outbox.h"

#include "base/mem.h"
#include "rpc/rpc.h"

/*
 * A connection with something to send holds a block of rpc/send_queue.h. They are written to before there are more of
 * these than are kept, so that a word to each of ten thousand workers needs no more memory than a word to a few.
 */
#define FLUSH_EVERY 32

enum letter_kind { LETTER_MESSAGE, LETTER_ANSWER, LETTER_REPLY };

struct letter {
        struct letter *next;
        enum letter_kind kind;
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

static void letters_init(struct letters *l)
{
        *l = (struct letters){.last = &l->first};
}

static void letters_put(struct letters *l, struct letter *letter)
{
        letter->next = NULL;
        *l->last = letter;
        l->last = &letter->next;
}

static void letters_move(struct letters *to, struct letters *from)
{
        if (!from->first)
                return;
        *to->last = from->first;
        to->last = from->last;
        letters_init(from);
}

static void letter_free(struct letter *letter)
{
        if (letter->kind == LETTER_REPLY)
                master_reply_deinit(&letter->reply);
        free(letter);
}

void outbox_init(struct outbox *o, struct members *members, struct rpc_env *env, bool (*commit)(void *), void *owner)
{
        *o = (struct outbox){.members = members, .env = env, .commit = commit, .owner = owner};
        letters_init(&o->under_way);
        letters_init(&o->next);
}

static void drop(struct letters *l)
{
        for (struct letter *letter = l->first, *next; letter; letter = next) {
                next = letter->next;
                if (letter->kind == LETTER_ANSWER)
                        rpc_call_fail(letter->call, "the master is ending");
                letter_free(letter);
        }
        letters_init(l);
}

void outbox_deinit(struct outbox *o)
{
        drop(&o->under_way);
        drop(&o->next);
}

void outbox_stored(struct outbox *o)
{
        o->stored = true;
}

static bool must_wait(const struct outbox *o)
{
        return o->stored || o->committing || o->delivering || o->next.first;
}

static void was_sent(struct outbox *o)
{
        if (++o->unflushed < FLUSH_EVERY)
                return;
        o->unflushed = 0;
        rpc_env_flush(o->env);
}

static struct letter *letter_new(enum letter_kind kind, uint16_t type, const ProtobufCMessage *message)
{
        size_t size = message ? protobuf_c_message_get_packed_size(message) : 0;
        struct letter *letter = mem_alloc(sizeof(*letter) + size);
        *letter = (struct letter){.kind = kind, .type = type, .size = size};
        if (message)
                protobuf_c_message_pack(message, letter->body);
        return letter;
}

void outbox_send(struct outbox *o, uint64_t number, uint16_t type, const ProtobufCMessage *message)
{
        struct member *m = number ? members_find(o->members, number) : NULL;
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
        struct letter *letter = letter_new(LETTER_MESSAGE, type, message);
        letter->number = number;
        letters_put(&o->next, letter);
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
        struct letter *letter = letter_new(LETTER_ANSWER, m->type, message);
        letter->call = rpc_message_defer(m);
        letters_put(&o->next, letter);
}

void outbox_reply(struct outbox *o, struct master_reply *reply, outbox_replied *replied, void *owner)
{
        struct letter *letter = letter_new(LETTER_REPLY, 0, NULL);
        letter->replied = replied;
        letter->owner = owner;
        letter->reply = *reply;
        *reply = (struct master_reply){0};
        letters_put(&o->next, letter);
}

static void deliver(struct outbox *o, struct letter *letter)
{
        struct member *m;
        switch (letter->kind) {
        case LETTER_MESSAGE:
                m = members_find(o->members, letter->number);
                if (m && m->ref)
                        rpc_send(m->ref, letter->type, letter->body, letter->size, NULL);
                was_sent(o);
                break;
        case LETTER_ANSWER:
                rpc_call_reply(letter->call, letter->type, letter->body, letter->size, NULL);
                was_sent(o);
                break;
        case LETTER_REPLY:
                letter->replied(letter->owner, &letter->reply);
                break;
        }
        letter_free(letter);
}

static void deliver_all(struct outbox *o)
{
        struct letters now;
        letters_init(&now);
        letters_move(&now, &o->under_way);
        o->delivering = true;
        for (struct letter *letter = now.first, *next; letter; letter = next) {
                next = letter->next;
                deliver(o, letter);
        }
        o->delivering = false;
}

void outbox_seal(struct outbox *o)
{
        while (!o->committing && (o->stored || o->next.first)) {
                o->stored = false;
                letters_move(&o->under_way, &o->next);
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
