/* See output_cache.h. */
#include "shuffle/output_cache.h"

#include "base/mem.h"
#include "shuffle/shuffle_output.h"

#include <xxhash.h>

struct cache_entry {
        struct output_key key;
        struct shuffle_output *output;
        size_t bytes;
        struct cache_entry *chain;         /* next in the same hash slot */
        struct cache_entry *older, *newer; /* in order of last use */
};

struct output_cache {
        size_t most, bytes, count;
        struct cache_entry **slots;
        size_t n_slots; /* a power of two */
        struct cache_entry *oldest, *newest;
};

struct output_cache *output_cache_new(size_t most)
{
        struct output_cache *c = new0(struct output_cache);
        c->most = most;
        c->n_slots = 256;
        c->slots = new_array(struct cache_entry *, c->n_slots);
        return c;
}

static struct cache_entry **output_cache_slot_of(const struct output_cache *c, const struct output_key *key)
{
        return &c->slots[XXH3_64bits(key, sizeof(*key)) & (c->n_slots - 1)];
}

static bool output_key_equal(const struct output_key *a, const struct output_key *b)
{
        return a->executor == b->executor && a->task_id == b->task_id && a->shuffle == b->shuffle &&
               a->map_partition == b->map_partition;
}

static void unlink_entry(struct output_cache *c, struct cache_entry *e)
{
        *(e->older ? &e->older->newer : &c->oldest) = e->newer;
        *(e->newer ? &e->newer->older : &c->newest) = e->older;
}

static void link_newest(struct output_cache *c, struct cache_entry *e)
{
        e->newer = NULL;
        e->older = c->newest;
        *(c->newest ? &c->newest->newer : &c->oldest) = e;
        c->newest = e;
}

static void output_cache_remove(struct output_cache *c, struct cache_entry *e)
{
        struct cache_entry **at = output_cache_slot_of(c, &e->key);
        while (*at != e)
                at = &(*at)->chain;
        *at = e->chain;
        unlink_entry(c, e);
        c->bytes -= e->bytes;
        c->count--;
        shuffle_output_unref(e->output);
        free(e);
}

void output_cache_free(struct output_cache *c)
{
        if (!c)
                return;
        while (c->oldest)
                output_cache_remove(c, c->oldest);
        free(c->slots);
        free(c);
}

static struct cache_entry *output_cache_find(const struct output_cache *c, const struct output_key *key)
{
        struct cache_entry *e = *output_cache_slot_of(c, key);
        while (e && !output_key_equal(&e->key, key))
                e = e->chain;
        return e;
}

struct shuffle_output *output_cache_get(struct output_cache *c, const struct output_key *key)
{
        struct cache_entry *e = output_cache_find(c, key);
        if (!e)
                return NULL;
        unlink_entry(c, e);
        link_newest(c, e);
        return shuffle_output_ref(e->output);
}

static void output_cache_grow(struct output_cache *c)
{
        free(c->slots);
        c->n_slots *= 2;
        c->slots = new_array(struct cache_entry *, c->n_slots);
        for (struct cache_entry *e = c->oldest; e; e = e->newer) {
                struct cache_entry **slot = output_cache_slot_of(c, &e->key);
                e->chain = *slot;
                *slot = e;
        }
}

void output_cache_put(struct output_cache *c, const struct output_key *key, struct shuffle_output *output, size_t bytes)
{
        bytes += sizeof(struct cache_entry);
        if (bytes > c->most || output_cache_find(c, key))
                return;
        while (c->bytes + bytes > c->most)
                output_cache_remove(c, c->oldest);
        struct cache_entry *e = new0(struct cache_entry);
        e->key = *key;
        e->output = shuffle_output_ref(output);
        e->bytes = bytes;
        struct cache_entry **slot = output_cache_slot_of(c, key);
        e->chain = *slot;
        *slot = e;
        link_newest(c, e);
        c->bytes += bytes;
        if (++c->count > c->n_slots)
                output_cache_grow(c);
}

void output_cache_forget(struct output_cache *c, const struct output_key *key)
{
        struct cache_entry *e = output_cache_find(c, key);
        if (e)
                output_cache_remove(c, e);
}

void output_cache_forget_executor(struct output_cache *c, uint64_t executor)
{
        for (struct cache_entry *e = c->oldest, *next; e; e = next) {
                next = e->newer;
                if (e->key.executor == executor)
                        output_cache_remove(c, e);
        }
}

size_t output_cache_count(const struct output_cache *c)
{
        return c->count;
}

size_t output_cache_bytes(const struct output_cache *c)
{
        return c->bytes;
}
