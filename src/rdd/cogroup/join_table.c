/* See join_table.h. */
#include "rdd/cogroup/join_table.h"

#include "rdd/pipeline/key.h"

#define INLINE static inline __attribute__((always_inline))

/* A table of this many rows takes a megabyte with its rows: half of a usual second-level cache. */
#define CACHED_ROWS ((size_t)1 << 15)

enum join_key join_key_of(fst_type type)
{
        return type.key == FST_KIND_I64 ? JOIN_KEY_I64 : type.key == FST_KIND_F64 ? JOIN_KEY_F64 : JOIN_KEY_BYTES;
}

/* ------------------------------------------------------------------------------------------------------- keys */

/* The word that equal keys share. For BYTES and FIXED the entry holds the hash. */
INLINE uint64_t entry_word(enum join_key key, const struct sort_entry *entry)
{
        const uint64_t minus_zero = ~(1ull << 63);
        return entry->prefix + (key == JOIN_KEY_F64 && entry->prefix == minus_zero);
}

INLINE uint64_t word_hash(enum join_key key, uint64_t word)
{
        return key == JOIN_KEY_BYTES ? word : key_mix(word);
}

static bool records_equal(fst_type x, const unsigned char *a, fst_type y, const unsigned char *b)
{
        struct record_view s = record_read(x, a), t = record_read(y, b);
        return s.key_len == t.key_len && memcmp(s.key, t.key, s.key_len) == 0;
}

/* The bits of @hash behind the first @skipped. @bits is less than 64; none give 0. */
INLINE uint64_t hash_bits(uint64_t hash, unsigned skipped, unsigned bits)
{
        return (hash << skipped) >> 1 >> (63 - bits);
}

/* ------------------------------------------------------------------------------------------------------- table */

/* At most half of the buckets are in use. */
static unsigned bucket_bits(size_t rows)
{
        return rows ? 65 - (unsigned)__builtin_clzll(rows) : 0;
}

size_t join_table_bytes(size_t rows)
{
        return ((size_t)1 << bucket_bits(rows)) * sizeof(uint32_t) + (rows + 1) * (2 * sizeof(uint32_t) + sizeof(bool));
}

bool join_table_alloc(struct join_table *t, size_t rows)
{
        *t = (struct join_table){.memory = mem_try(join_table_bytes(rows))};
        return t->memory != NULL;
}

void join_table_free(struct join_table *t)
{
        free(steal(t->memory));
}

/* Adds the rows from the last to the first, so that each precedes the rows of its key that are in the table. */
INLINE void table_add_rows(struct join_table *t, enum join_key key)
{
        const struct sort_entry *entries = t->rows.entries;
        for (uint32_t row = t->rows.n; row > 0; row--) {
                uint64_t word = entry_word(key, &entries[row - 1]);
                uint32_t *at = &t->heads[hash_bits(word_hash(key, word), t->skipped, t->bits)];
                for (; *at; at = &t->next[*at]) {
                        const struct sort_entry *other = &entries[*at - 1];
                        if (entry_word(key, other) == word &&
                            (key != JOIN_KEY_BYTES ||
                             records_equal(t->rows.type, other->record, t->rows.type, entries[row - 1].record)))
                                break;
                }
                t->same[row] = *at;
                t->next[row] = *at ? t->next[*at] : 0;
                *at = row;
        }
}

void join_table_build(struct join_table *t, enum join_key key, struct join_rows rows, unsigned skipped)
{
        size_t n = rows.n;
        t->key = key;
        t->rows = rows;
        t->skipped = skipped;
        t->bits = bucket_bits(n);
        t->heads = t->memory;
        t->next = t->heads + ((size_t)1 << t->bits);
        t->same = t->next + n + 1;
        t->matched = (bool *)(t->same + n + 1);
        memset(t->heads, 0, ((size_t)1 << t->bits) * sizeof(*t->heads));
        memset(t->matched, 0, n);
        t->next[0] = t->same[0] = 0;
        if (key == JOIN_KEY_I64)
                table_add_rows(t, JOIN_KEY_I64);
        else if (key == JOIN_KEY_F64)
                table_add_rows(t, JOIN_KEY_F64);
        else
                table_add_rows(t, JOIN_KEY_BYTES);
}

/* ------------------------------------------------------------------------------------------------------ search */

void join_search_start(struct join_search *s, const struct join_table *table, struct join_rows rows, uint32_t room,
                       bool lists_missing)
{
        s->table = table;
        s->rows = rows;
        s->room = room;
        s->lists_missing = lists_missing;
        s->at = s->n_found = s->next = s->pending = 0;
}

INLINE void search_find_group(struct join_search *s, enum join_key key)
{
        const struct join_table *t = s->table;
        const struct sort_entry *probing = s->rows.entries + s->at, *built = t->rows.entries;
        uint32_t *found = s->found, n = s->n_found;
        for (uint32_t i = 0; i < n; i++)
                found[i] = t->heads[hash_bits(word_hash(key, entry_word(key, &probing[i])), t->skipped, t->bits)];
        for (uint32_t i = 0; i < n; i++) {
                uint64_t word = entry_word(key, &probing[i]);
                uint32_t row = found[i];
                while (row && !(entry_word(key, &built[row - 1]) == word &&
                                (key != JOIN_KEY_BYTES ||
                                 records_equal(t->rows.type, built[row - 1].record, s->rows.type, probing[i].record))))
                        row = t->next[row];
                found[i] = row;
        }
}

/* Looks up the next group. Returns false at the end. */
static bool search_next_group(struct join_search *s)
{
        s->at += s->n_found;
        s->next = 0;
        s->n_found = MIN(s->rows.n - s->at, (uint32_t)JOIN_GROUP);
        switch (s->table->key) {
        case JOIN_KEY_I64:
                search_find_group(s, JOIN_KEY_I64);
                break;
        case JOIN_KEY_F64:
                search_find_group(s, JOIN_KEY_F64);
                break;
        default:
                search_find_group(s, JOIN_KEY_BYTES);
        }
        return s->n_found > 0;
}

/* Lists the further rows of a key, after the first. */
static void search_list_pending(struct join_search *s)
{
        uint32_t probing = s->at + s->next - 1, n = s->pairs.n;
        for (; s->pending && n < s->room; n++) {
                s->pairs.probing[n] = probing;
                s->pairs.built[n] = s->pending - 1;
                s->pending = s->table->same[s->pending];
        }
        s->pairs.n = n;
}

/* Lists the group's rows up to one whose key has further rows. No branch depends on whether a row has a match. */
static void search_list_group(struct join_search *s)
{
        const uint32_t *same = s->table->same;
        uint32_t n = s->pairs.n, missing = s->missing.n, i = s->next, pending = 0;
        const uint32_t list_missing = s->lists_missing;
        uint32_t room = s->room - MAX(n, missing), end = i + MIN(room, s->n_found - i);
        while (i < end && !pending) {
                uint32_t row = s->found[i];
                s->pairs.probing[n] = s->missing.probing[missing] = s->at + i;
                s->pairs.built[n] = row - 1;
                n += row != 0;
                missing += list_missing & (row == 0);
                pending = same[row];
                i++;
        }
        s->pairs.n = n;
        s->missing.n = missing;
        s->next = i;
        s->pending = pending;
}

bool join_search_next(struct join_search *s)
{
        s->pairs.n = s->missing.n = 0;
        for (;;) {
                if (s->pending)
                        search_list_pending(s);
                if (s->pairs.n == s->room || s->missing.n == s->room)
                        return true;
                if (s->next == s->n_found && !search_next_group(s))
                        return s->pairs.n + s->missing.n > 0;
                search_list_group(s);
        }
}

/* -------------------------------------------------------------------------------------------------- partitions */

unsigned join_partitions_bits(size_t rows)
{
        unsigned bits = 0;
        while (rows >> bits > CACHED_ROWS && bits < MAX_JOIN_BITS)
                bits++;
        return bits;
}

/* Fills the other array with entries of the hashes of keys. */
static void partitions_hash(struct join_partitions *p)
{
        struct sort_index *ix = p->index;
        enum { AHEAD = 24 };
        for (size_t i = 0; i < ix->n; i++) {
                if (i + AHEAD < ix->n)
                        __builtin_prefetch(ix->entries[i + AHEAD].record);
                const unsigned char *record = ix->entries[i].record;
                struct record_view r = record_read(ix->order.type, record);
                ix->other[i] = (struct sort_entry){key_hash_bytes((const char *)r.key, r.key_len), {record}};
        }
        p->is_hashed = true;
}

INLINE void partitions_count_rows(struct join_partitions *p, const struct sort_entry *entries, enum join_key key)
{
        const unsigned bits = p->bits;
        const size_t n = p->index->n;
        for (size_t i = 0; i < n; i++)
                p->ends[hash_bits(word_hash(key, entry_word(key, &entries[i])), 0, bits)]++;
}

void join_partitions_count(struct join_partitions *p, struct sort_index *index, unsigned bits)
{
        p->index = index;
        p->key = join_key_of(index->order.type);
        p->bits = bits;
        p->is_hashed = false;
        memset(p->ends, 0, sizeof(*p->ends) << bits);
        if (p->key == JOIN_KEY_BYTES)
                partitions_hash(p);
        if (bits == 0)
                p->ends[0] = (uint32_t)index->n;
        else if (p->key == JOIN_KEY_I64)
                partitions_count_rows(p, index->entries, JOIN_KEY_I64);
        else if (p->key == JOIN_KEY_F64)
                partitions_count_rows(p, index->entries, JOIN_KEY_F64);
        else
                partitions_count_rows(p, index->other, JOIN_KEY_BYTES);
        p->largest = 0;
        for (uint32_t i = 0; i < 1u << bits; i++)
                p->largest = MAX(p->largest, p->ends[i]);
}

/* Afterwards `ends` holds the end of each partition. */
INLINE void partitions_scatter(struct join_partitions *p, const struct sort_entry *from, struct sort_entry *to,
                               enum join_key key)
{
        const unsigned bits = p->bits;
        const size_t n = p->index->n;
        for (uint32_t i = 0, at = 0; i < 1u << bits; i++) {
                uint32_t count = p->ends[i];
                p->ends[i] = at;
                at += count;
        }
        for (size_t i = 0; i < n; i++)
                to[p->ends[hash_bits(word_hash(key, entry_word(key, &from[i])), 0, bits)]++] = from[i];
}

void join_partitions_place(struct join_partitions *p)
{
        struct sort_index *ix = p->index;
        struct sort_entry *from = p->is_hashed ? ix->other : ix->entries, *to = p->is_hashed ? ix->entries : ix->other;
        p->placed = from;
        if (p->bits == 0)
                return;
        p->placed = to;
        if (p->key == JOIN_KEY_I64)
                partitions_scatter(p, from, to, JOIN_KEY_I64);
        else if (p->key == JOIN_KEY_F64)
                partitions_scatter(p, from, to, JOIN_KEY_F64);
        else
                partitions_scatter(p, from, to, JOIN_KEY_BYTES);
}

struct join_rows join_partitions_rows(const struct join_partitions *p, uint32_t partition)
{
        uint32_t start = partition ? p->ends[partition - 1] : 0;
        return (struct join_rows){p->placed + start, p->ends[partition] - start, p->index->order.type};
}
