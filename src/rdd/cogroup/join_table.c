/* See join_table.h. */
#include "rdd/cogroup/join_table.h"

#include "rdd/pipeline/key.h"

#define INLINE static inline __attribute__((always_inline))

/* A table of this many rows takes a megabyte with its rows: half of a usual second-level cache. */
#define CACHED_ROWS ((size_t)1 << 15)

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

static bool keys_equal(const struct join_rows *a, uint32_t i, const struct join_rows *b, uint32_t j)
{
        return fst_bytes_equal(join_rows_key(a, i), join_rows_key(b, j));
}

/* The bits of @hash behind the first @skipped. @bits is less than 64; none give 0. */
INLINE uint64_t hash_bits(uint64_t hash, unsigned skipped, unsigned bits)
{
        return (hash << skipped) >> 1 >> (63 - bits);
}

#define BLOCK JOIN_GROUP /* rows that are hashed together */

/* The bits behind the first @skipped of the hashes of @n entries: partitions or buckets. */
INLINE void entries_number_in(enum join_key key, const struct sort_entry *restrict entries, size_t n, unsigned skipped,
                              unsigned bits, uint32_t *restrict numbers)
{
        for (size_t i = 0; i < n; i++)
                numbers[i] = (uint32_t)hash_bits(word_hash(key, entry_word(key, &entries[i])), skipped, bits);
}

#ifdef __x86_64__
/* The compiler turns the loop into one over four keys. */
__attribute__((target("avx2"))) static void entries_number_avx2(const struct sort_entry *entries, size_t n,
                                                                unsigned skipped, unsigned bits, uint32_t *numbers)
{
        entries_number_in(JOIN_KEY_I64, entries, n, skipped, bits, numbers);
}
#endif

static void entries_number(enum join_key key, const struct sort_entry *entries, size_t n, unsigned skipped,
                           unsigned bits, uint32_t *numbers)
{
#ifdef __x86_64__
        if (key == JOIN_KEY_I64 && __builtin_cpu_supports("avx2")) {
                entries_number_avx2(entries, n, skipped, bits, numbers);
                return;
        }
#endif
        if (key == JOIN_KEY_I64)
                entries_number_in(JOIN_KEY_I64, entries, n, skipped, bits, numbers);
        else if (key == JOIN_KEY_F64)
                entries_number_in(JOIN_KEY_F64, entries, n, skipped, bits, numbers);
        else
                entries_number_in(JOIN_KEY_BYTES, entries, n, skipped, bits, numbers);
}

/* ------------------------------------------------------------------------------------------------------- table */

/* There are at least as many buckets as rows. */
static unsigned bucket_bits(size_t rows)
{
        return rows ? 64 - (unsigned)__builtin_clzll(rows) : 0;
}

size_t join_table_bytes(size_t rows)
{
        return ((size_t)1 << bucket_bits(rows)) * sizeof(uint32_t) + (rows + 1) * (sizeof(uint32_t) + sizeof(bool));
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

/* Adds the rows from the last to the first, so that those of a bucket keep their order. */
static void table_add_rows(struct join_table *t)
{
        uint32_t buckets[BLOCK];
        for (uint32_t end = t->rows.n; end > 0;) {
                const uint32_t rows = MIN(end, (uint32_t)BLOCK), start = end - rows;
                entries_number(t->key, t->rows.entries + start, rows, t->skipped, t->bits, buckets);
                for (uint32_t i = rows; i-- > 0;) {
                        uint32_t *head = &t->heads[buckets[i]];
                        t->next[start + i + 1] = *head;
                        *head = start + i + 1;
                }
                end = start;
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
        t->matched = (bool *)(t->next + n + 1);
        memset(t->heads, 0, ((size_t)1 << t->bits) * sizeof(*t->heads));
        memset(t->matched, 0, n);
        table_add_rows(t);
}

/* ------------------------------------------------------------------------------------------------------ search */

void join_search_start(struct join_search *s, const struct join_table *table, struct join_rows rows, uint32_t room,
                       bool lists_missing)
{
        s->table = table;
        s->rows = rows;
        s->room = room;
        s->lists_missing = lists_missing;
        s->first_only = false;
        s->at = s->n = s->n_open = 0;
}

/* Whether row @i of the rows that are searched for has the key of row @row of the table. */
INLINE bool search_row_matches(const struct join_search *s, enum join_key key, uint32_t i, uint32_t row)
{
        const struct join_rows *probing = &s->rows, *built = &s->table->rows;
        bool same = entry_word(key, &probing->entries[i]) == entry_word(key, &built->entries[row]);
        if (key == JOIN_KEY_BYTES && same)
                same = keys_equal(probing, i, built, row);
        return same;
}

/*
 * Compares the open rows with their candidates, lists those that match, and goes on to the next candidates. No branch
 * depends on whether number keys match. The lists of pairs have room for all open rows.
 */
INLINE void search_compare(struct join_search *s, enum join_key key)
{
        const uint32_t *next = s->table->next;
        const bool first_only = s->first_only;
        uint32_t n = s->pairs.n, still_open = 0;
        for (uint32_t k = 0; k < s->n_open; k++) {
                const uint32_t i = s->open[k], row = s->candidates[k];
                const bool matches = search_row_matches(s, key, s->at + i, row - 1);
                s->pairs.probing[n] = s->at + i;
                s->pairs.built[n] = row - 1;
                n += matches;
                s->matched[i] |= matches;
                s->open[still_open] = (uint16_t)i;
                s->candidates[still_open] = next[row];
                still_open += (next[row] != 0) & !(first_only & matches);
        }
        s->pairs.n = n;
        s->n_open = still_open;
}

static void search_open_group(struct join_search *s)
{
        const struct join_table *t = s->table;
        uint32_t buckets[JOIN_GROUP], open = 0;
        entries_number(t->key, s->rows.entries + s->at, s->n, t->skipped, t->bits, buckets);
        for (uint32_t i = 0; i < s->n; i++) {
                uint32_t row = t->heads[buckets[i]];
                s->open[open] = (uint16_t)i;
                s->candidates[open] = row;
                open += row != 0;
                __builtin_prefetch(&t->rows.entries[row ? row - 1 : 0]);
                __builtin_prefetch(&t->next[row]);
        }
        s->n_open = open;
        memset(s->matched, 0, s->n * sizeof(*s->matched));
}

static void search_list_missing(struct join_search *s)
{
        uint32_t n = s->missing.n;
        for (uint32_t i = 0; i < s->n; i++) {
                s->missing.probing[n] = s->at + i;
                n += !s->matched[i];
        }
        s->missing.n = n;
}

/* Ends the group and begins the next. Returns false at the end. */
static bool search_next_group(struct join_search *s)
{
        if (s->lists_missing)
                search_list_missing(s);
        s->at += s->n;
        const uint32_t most = MIN(s->room, (uint32_t)JOIN_GROUP);
        s->n = MIN(s->rows.n - s->at, most);
        search_open_group(s);
        return s->n > 0;
}

bool join_search_next(struct join_search *s)
{
        s->pairs.n = s->missing.n = 0;
        for (;;) {
                while (s->n_open && s->pairs.n + s->n_open <= s->room)
                        if (s->table->key == JOIN_KEY_I64)
                                search_compare(s, JOIN_KEY_I64);
                        else if (s->table->key == JOIN_KEY_F64)
                                search_compare(s, JOIN_KEY_F64);
                        else
                                search_compare(s, JOIN_KEY_BYTES);
                if (s->n_open || (s->lists_missing && s->missing.n + s->n > s->room))
                        return true;
                if (!search_next_group(s))
                        return s->pairs.n + s->missing.n > 0;
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

void join_partitions_count(struct join_partitions *p, struct sort_index *index, unsigned bits)
{
        uint32_t numbers[BLOCK];
        p->index = index;
        p->key = join_key_of(index->order.type);
        p->bits = bits;
        p->is_hashed = false;
        memset(p->ends, 0, sizeof(*p->ends) << bits);
        if (p->key == JOIN_KEY_BYTES)
                partitions_hash(p);
        const struct sort_entry *entries = p->is_hashed ? index->other : index->entries;
        if (bits == 0)
                p->ends[0] = (uint32_t)index->n;
        for (size_t at = 0; at < index->n && bits; at += BLOCK) {
                const size_t rows = MIN(index->n - at, (size_t)BLOCK);
                entries_number(p->key, entries + at, rows, 0, bits, numbers);
                for (size_t i = 0; i < rows; i++)
                        p->ends[numbers[i]]++;
        }
        p->largest = 0;
        for (uint32_t i = 0; i < 1u << bits; i++)
                p->largest = MAX(p->largest, p->ends[i]);
}

/* Afterwards `ends` holds the end of each partition. */
static void partitions_scatter(struct join_partitions *p, const struct sort_entry *from, struct sort_entry *to)
{
        uint32_t numbers[BLOCK];
        const size_t n = p->index->n;
        for (uint32_t i = 0, at = 0; i < 1u << p->bits; i++) {
                uint32_t count = p->ends[i];
                p->ends[i] = at;
                at += count;
        }
        for (size_t at = 0; at < n; at += BLOCK) {
                const size_t rows = MIN(n - at, (size_t)BLOCK);
                entries_number(p->key, from + at, rows, 0, p->bits, numbers);
                for (size_t i = 0; i < rows; i++)
                        to[p->ends[numbers[i]]++] = from[at + i];
        }
}

void join_partitions_place(struct join_partitions *p)
{
        struct sort_index *ix = p->index;
        struct sort_entry *from = p->is_hashed ? ix->other : ix->entries, *to = p->is_hashed ? ix->entries : ix->other;
        p->placed = p->bits ? to : from;
        if (p->bits)
                partitions_scatter(p, from, to);
}

struct join_rows join_partitions_rows(const struct join_partitions *p, uint32_t partition)
{
        uint32_t start = partition ? p->ends[partition - 1] : 0;
        return (struct join_rows){p->placed + start, p->ends[partition] - start, p->index->order.type, NULL};
}
