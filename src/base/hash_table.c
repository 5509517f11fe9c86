/* Hash table of pointers with linear probing. A removal moves the later entries of its run up. */
#include "base/hash_table.h"

#include "base/mem.h"

struct object_slot {
        uint64_t hash;
        void *object; /* NULL: free */
};

void object_table_deinit(struct object_table *t)
{
        free(t->slots);
        *t = (struct object_table){0};
}

uint64_t object_hash_text(const char *text)
{
        uint64_t h = 14695981039346656037u; /* FNV-1a */

        for (; *text; text++)
                h = (h ^ (unsigned char)*text) * 1099511628211u;
        return object_hash_number(h);
}

void *object_table_find(const struct object_table *t, uint64_t hash, object_has_key *has, const void *key)
{
        if (!t->n_slots)
                return NULL;
        for (size_t i = hash;; i++) {
                const struct object_slot *s = &t->slots[i & (t->n_slots - 1)];

                if (!s->object)
                        return NULL;
                if (s->hash == hash && has(s->object, key))
                        return s->object;
        }
}

static void hash_table_place(struct object_table *t, uint64_t hash, void *object)
{
        size_t i = hash;

        while (t->slots[i & (t->n_slots - 1)].object)
                i++;
        t->slots[i & (t->n_slots - 1)] = (struct object_slot){hash, object};
}

void object_table_put(struct object_table *t, uint64_t hash, void *object)
{
        if ((t->count + 1) * 3 > t->n_slots * 2) {
                struct object_table old = *t;

                t->n_slots = old.n_slots ? old.n_slots * 2 : 16;
                t->slots = new_array(struct object_slot, t->n_slots);
                for (size_t i = 0; i < old.n_slots; i++)
                        if (old.slots[i].object)
                                hash_table_place(t, old.slots[i].hash, old.slots[i].object);
                free(old.slots);
        }
        hash_table_place(t, hash, object);
        t->count++;
}

void object_table_remove(struct object_table *t, uint64_t hash, const void *object)
{
        size_t mask = t->n_slots - 1, i = hash & mask;

        if (!t->n_slots)
                return;
        while (t->slots[i].object != object || t->slots[i].hash != hash) {
                if (!t->slots[i].object)
                        return;
                i = (i + 1) & mask;
        }
        for (size_t next = (i + 1) & mask; t->slots[next].object; next = (next + 1) & mask) {
                size_t home = t->slots[next].hash & mask;

                if (((next - home) & mask) >= ((next - i) & mask)) { /* it may also lie at i */
                        t->slots[i] = t->slots[next];
                        i = next;
                }
        }
        t->slots[i].object = NULL;
        t->count--;
}
