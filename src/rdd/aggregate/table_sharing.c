/* See table_sharing.h. */
#include "rdd/aggregate/table_sharing.h"

#include "base/mem.h"
#include "rdd/partitioner.h"

#define MIN_KEYS_OF_PART 64                                 /* on average: fewer do not repay a page */
#define MAX_SHARED_KEY 4096                                 /* bytes */
#define RECORD_LENGTHS (sizeof(uint32_t) + sizeof(int64_t)) /* of a record beside its key */
#define AHEAD 16                                            /* slots that are prefetched */

void table_unshare(struct combine_table *t)
{
        page_keys_unref(steal(t->shared));
        free(steal(t->places));
        t->fresh.len = 0;
}

/* The keys of a table while they are ordered by partition. */
struct keys_by_part {
        uint32_t *slots, *parts; /* by number of the key, in the order of the slots */
        uint32_t n;
        size_t bytes;
};

/* Lists the used slots and their partitions. Returns false if a key is too large. */
static bool keys_by_part_list(struct keys_by_part *k, const struct combine_table *t,
                              const struct partitioner *partitioner)
{
        uint64_t hashes[FST_BATCH_ROWS];
        for (size_t at = 0; at < t->capacity; at++) {
                const struct table_slot *s = &t->slots[at];
                if (!s->meta)
                        continue;
                if (meta_len(s->meta) > MAX_SHARED_KEY)
                        return false;
                k->bytes += meta_len(s->meta);
                hashes[k->n % FST_BATCH_ROWS] = slot_hash(s);
                k->slots[k->n++] = (uint32_t)at;
                if (k->n % FST_BATCH_ROWS == 0)
                        partitioner_place_hashes(partitioner, hashes, FST_BATCH_ROWS, k->parts + k->n - FST_BATCH_ROWS);
        }
        uint32_t rest = k->n % FST_BATCH_ROWS;
        partitioner_place_hashes(partitioner, hashes, rest, k->parts + k->n - rest);
        return true;
}

/* Copies the keys to @to, and their slots to @places, by partition. */
static void keys_by_part_copy(const struct keys_by_part *k, const struct combine_table *t, struct page_keys *to,
                              uint32_t *places)
{
        char *text = to->text;
        for (uint32_t i = 0; i < k->n; i++)
                to->start[k->parts[i] + 1]++;
        for (uint32_t p = 0; p < to->parts; p++)
                to->start[p + 1] += to->start[p];
        uint32_t *next = mem_alloc(to->parts * sizeof(*next));
        memcpy(next, to->start, to->parts * sizeof(*next));
        for (uint32_t i = 0; i < k->n; i++) {
                const struct table_slot *s = &t->slots[k->slots[i]];
                uint32_t at = next[k->parts[i]]++, len = meta_len(s->meta);
                memcpy(text, slot_key(s), len);
                to->keys[at] = (fst_bytes){text, len};
                places[at] = k->slots[i];
                text += len;
        }
        free(next);
}

struct page_keys *table_share(struct combine_table *t, const struct partitioner *partitioner,
                              struct memory_manager *manager)
{
        uint32_t parts = (uint32_t)partitioner->partitions;
        if (!t->kept || !t->has_rows || !t->is_positive || t->type.key != FST_KIND_BYTES)
                return NULL;
        if (t->shared && t->fresh.len <= t->shared->n / 16)
                return t->shared;
        memory_release(t->memory, table_sharing_bytes(t));
        table_unshare(t);
        if (t->count < (size_t)parts * MIN_KEYS_OF_PART ||
            memory_acquire(t->memory, t->count * sizeof(*t->places)) != 0)
                return NULL;
        struct keys_by_part k = {.slots = mem_alloc(t->count * sizeof(uint32_t)),
                                 .parts = mem_alloc(t->count * sizeof(uint32_t))};
        if (keys_by_part_list(&k, t, partitioner))
                t->shared = page_keys_new(manager, parts, k.n, k.bytes);
        if (t->shared) {
                t->places = mem_alloc(k.n * sizeof(*t->places));
                keys_by_part_copy(&k, t, t->shared, t->places);
        } else {
                memory_release(t->memory, t->count * sizeof(*t->places));
        }
        free(k.slots);
        free(k.parts);
        return t->shared;
}

void table_take_values(struct combine_table *t, uint32_t part, struct page *page)
{
        const uint32_t first = t->shared->start[part], n = t->shared->start[part + 1] - first;
        const uint32_t *places = t->places + first;
        const fst_bytes *keys = t->shared->keys + first;
        int64_t *values = page_values(page);
        size_t used = 0;
        uint32_t rows = 0;
        for (uint32_t i = 0; i < n; i++) {
                struct table_slot *s = &t->slots[places[i]];
                __builtin_prefetch(&t->slots[places[MIN(i + AHEAD, n - 1)]], 1);
                values[i] = s->value.i64;
                s->value.i64 = 0;
                rows += values[i] != 0;
                used += values[i] ? keys[i].len + RECORD_LENGTHS : 0;
        }
        page->rows = rows;
        page->used = (uint32_t)used;
        t->rows_out += rows;
        t->reads_fresh = part + 1 == t->shared->parts;
}
