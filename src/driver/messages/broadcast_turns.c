/* See broadcast_turns.h. Few values are fetched at a time, and few of them have many pieces. */
#include "driver/messages/broadcast_turns.h"

#include "base/hash_table.h"
#include "base/mem.h"

struct waiting_asker {
        struct waiting_asker *next;
        void *asker;
        int64_t deadline;
};

struct piece_turns {
        struct block_name name;
        int holders; /* executors */
        int given;   /* turns of executors that do not have it yet */
        bool removed;
        bool changed; /* in the list of those to look at */
        struct waiting_asker *first, **last;
        struct piece_turns *next;         /* of all */
        struct piece_turns *next_changed; /* of those where an asker may have got its turn */
};

struct broadcast_turns {
        struct object_table table;
        struct piece_turns *pieces, *changed;
        int waiting;
        int64_t expires; /* no asker has waited too long before; INT64_MAX: nobody waits */
};

#define EXPIRE_AGAIN ((int64_t)1000000) /* ns, if more askers have waited too long than turns are free */

static uint64_t broadcast_turns_hash(struct block_name name)
{
        return object_hash_number(object_hash_number((uint64_t)name.id) + (uint64_t)(uint32_t)name.part);
}

static bool piece_turns_have_name(const void *piece, const void *key)
{
        const struct block_name *name = key;
        const struct piece_turns *p = piece;
        return p->name.id == name->id && p->name.part == name->part;
}

static struct piece_turns *broadcast_turns_find(const struct broadcast_turns *t, struct block_name name)
{
        return object_table_find(&t->table, broadcast_turns_hash(name), piece_turns_have_name, &name);
}

struct broadcast_turns *broadcast_turns_new(void)
{
        struct broadcast_turns *t = new0(struct broadcast_turns);
        t->expires = INT64_MAX;
        return t;
}

void broadcast_turns_free(struct broadcast_turns *t)
{
        if (!t)
                return;
        while (t->pieces) {
                struct piece_turns *p = t->pieces;
                t->pieces = p->next;
                free(p);
        }
        object_table_deinit(&t->table);
        free(t);
}

static struct piece_turns *broadcast_turns_add(struct broadcast_turns *t, struct block_name name)
{
        struct piece_turns *p = new0(struct piece_turns);
        p->name = name;
        p->last = &p->first;
        p->next = t->pieces;
        t->pieces = p;
        object_table_put(&t->table, broadcast_turns_hash(name), p);
        return p;
}

static bool piece_turns_are_free(const struct piece_turns *p)
{
        return p->given < BROADCAST_TURNS * (p->holders + 1);
}

bool broadcast_turns_ask(struct broadcast_turns *t, struct block_name name, void *asker, int64_t now)
{
        struct piece_turns *p = broadcast_turns_find(t, name);
        if (!p)
                p = broadcast_turns_add(t, name);
        if (!p->first && piece_turns_are_free(p)) {
                p->given++;
                return true;
        }
        struct waiting_asker *w = mem_alloc(sizeof(*w));
        *w = (struct waiting_asker){.asker = asker, .deadline = now + BROADCAST_TURN_TIMEOUT};
        *p->last = w;
        p->last = &w->next;
        t->waiting++;
        t->expires = MIN(t->expires, w->deadline);
        return false;
}

static void broadcast_turns_changed(struct broadcast_turns *t, struct piece_turns *p)
{
        if (p->changed)
                return;
        p->changed = true;
        p->next_changed = t->changed;
        t->changed = p;
}

void broadcast_turns_held(struct broadcast_turns *t, struct block_name name)
{
        struct piece_turns *p = broadcast_turns_find(t, name);
        if (!p)
                return;
        p->holders++;
        p->given -= p->given > 0;
        broadcast_turns_changed(t, p);
}

void broadcast_turns_remove(struct broadcast_turns *t, int64_t id)
{
        for (struct piece_turns *p = t->pieces; p; p = p->next)
                if (p->name.id == id) {
                        p->removed = true;
                        broadcast_turns_changed(t, p);
                }
}

static void *piece_turns_take(struct broadcast_turns *t, struct piece_turns *p)
{
        struct waiting_asker *w = p->first;
        void *asker = w->asker;
        p->first = w->next;
        if (!p->first)
                p->last = &p->first;
        free(w);
        if (--t->waiting == 0)
                t->expires = INT64_MAX;
        return asker;
}

static void broadcast_turns_forget(struct broadcast_turns *t, struct piece_turns *p)
{
        struct piece_turns **at = &t->pieces;
        while (*at != p)
                at = &(*at)->next;
        *at = p->next;
        object_table_remove(&t->table, broadcast_turns_hash(p->name), p);
        free(p);
}

/* Looks for askers that have waited too long. Nobody got the piece meanwhile, so turns that were given do not count. */
static void broadcast_turns_expire(struct broadcast_turns *t, int64_t now)
{
        t->expires = INT64_MAX;
        for (struct piece_turns *p = t->pieces; p; p = p->next) {
                if (!p->first)
                        continue;
                const int64_t again = MAX(p->first->deadline, now + EXPIRE_AGAIN);
                t->expires = MIN(t->expires, again);
                if (p->first->deadline <= now) {
                        p->given = 0;
                        broadcast_turns_changed(t, p);
                }
        }
}

void *broadcast_turns_next(struct broadcast_turns *t, int64_t now, struct block_name *piece)
{
        if (now >= t->expires)
                broadcast_turns_expire(t, now);
        for (struct piece_turns *p; (p = t->changed);) {
                *piece = p->name;
                if (p->first && (p->removed || piece_turns_are_free(p))) {
                        p->given++;
                        return piece_turns_take(t, p);
                }
                t->changed = p->next_changed;
                p->changed = false;
                if (p->removed)
                        broadcast_turns_forget(t, p);
        }
        return NULL;
}

int64_t broadcast_turns_deadline(const struct broadcast_turns *t)
{
        return t->expires;
}

void *broadcast_turns_drop(struct broadcast_turns *t)
{
        for (struct piece_turns *p = t->waiting ? t->pieces : NULL; p; p = p->next)
                if (p->first)
                        return piece_turns_take(t, p);
        return NULL;
}
