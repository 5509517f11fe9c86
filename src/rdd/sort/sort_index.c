/*
 * Sorts an index (rdd/sort/sort_index.h).
 *
 * This is a radix sort from the most significant bits down. It finds the bits that differ and distributes by the
 * topmost of them into about as many buckets as there are entries. The maximum is 4,096 buckets, and 1,024 while the
 * entries exceed the near caches, because the processor tracks only so many write addresses. Then it sorts each bucket.
 * Few entries are sorted by insertion. Where all prefixes are equal, the next eight bytes of the keys become the
 * prefix. Keys that end within them come first, the shorter before the longer.
 *
 * Every step is stable. Keys that separate one at a time over a long common prefix would make the recursion deep.
 * Beyond MAX_DEPTH a merge sort with full comparisons takes over.
 */
#include "rdd/sort/sort_index.h"

#include "rdd/sort/number_sort.h"

#include "store/huge_pages.h"
#include "store/memory.h"

#include <errno.h>
#include <sys/mman.h>

#define FEW 20
#define RADIX_BITS 12
#define WIDE_BITS 10 /* for WIDE entries or more */
#define WIDE 200000
#define MAX_DEPTH 24
#define ENTRY_COST (2 * sizeof(struct sort_entry))
#define MIN_STEP ((size_t)1 << 12) /* entries */
#define MAX_STEP ((size_t)1 << 18)

/* ------------------------------------------------------------------------------------------------- memory */

static struct sort_entry *sort_index_map_entries(struct sort_entry *old, size_t old_count, size_t count)
{
        size_t size = count * sizeof(struct sort_entry);
        void *memory =
                old ? mremap(old, old_count * sizeof(struct sort_entry), size, MREMAP_MAYMOVE)
                    : mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (memory == MAP_FAILED)
                return NULL;
        if (size >= 4 * HUGE_PAGE)
                huge_pages_advise(memory, size);
        return memory;
}

static bool sort_index_map_more(struct sort_index *ix, size_t wanted)
{
        size_t count = MAX(ix->mapped, MIN_STEP);
        while (count < wanted)
                count *= 2;
        if (count == ix->mapped)
                return true;
        struct sort_entry *entries = sort_index_map_entries(ix->entries, ix->mapped, count);
        if (!entries)
                return false;
        ix->entries = entries;
        /* The other array is empty between sorts. */
        if (ix->other)
                munmap(ix->other, ix->mapped * sizeof(struct sort_entry));
        ix->other = sort_index_map_entries(NULL, 0, count);
        ix->mapped = count;
        return ix->other != NULL;
}

void sort_index_free(struct sort_index *ix)
{
        if (ix->entries)
                munmap(ix->entries, ix->mapped * sizeof(struct sort_entry));
        if (ix->other)
                munmap(ix->other, ix->mapped * sizeof(struct sort_entry));
        ix->entries = ix->other = NULL;
        ix->n = ix->room = ix->mapped = 0;
}

void sort_index_start(struct sort_index *ix, struct record_order order, struct memory_consumer *memory)
{
        size_t kept = ix->room;
        ix->room = ix->n = 0;
        ix->in_order = true;
        ix->whole = sort_index_holds(order.type);
        ix->order = order;
        ix->memory = memory;
        /*
         * The smallest index is always kept: thousands of tiny partitions would otherwise map and clear it each time.
         */
        bool useful = kept && (kept <= MIN_STEP || ix->peak >= kept / 16);
        ix->peak = 0;
        if (useful && memory_acquire(memory, kept * ENTRY_COST) == 0)
                ix->room = kept;
        else
                sort_index_free(ix);
}

int sort_index_reserve(struct sort_index *ix, size_t rows)
{
        size_t wanted = ix->n + rows;
        if (wanted <= ix->room)
                return 0;
        size_t quarter = ix->room / 4, step = quarter < MIN_STEP ? MIN_STEP : MIN(quarter, MAX_STEP);
        size_t more = MAX(wanted - ix->room, step);
        int r = memory_acquire(ix->memory, more * ENTRY_COST);
        if (r == FST_MEMORY_E_DENIED && more > wanted - ix->room) {
                more = wanted - ix->room;
                r = memory_acquire(ix->memory, more * ENTRY_COST);
        }
        if (r)
                return r;
        if (!sort_index_map_more(ix, ix->room + more)) {
                memory_release(ix->memory, more * ENTRY_COST);
                return -ENOMEM;
        }
        ix->room += more;
        return 0;
}

void sort_index_clear(struct sort_index *ix)
{
        ix->n = 0;
        ix->in_order = true;
}

void sort_index_shrink(struct sort_index *ix, size_t entries)
{
        if (ix->room <= entries)
                return;
        memory_release(ix->memory, (ix->room - entries) * ENTRY_COST);
        sort_index_free(ix);
        if (entries && sort_index_map_more(ix, entries))
                ix->room = entries;
        else
                memory_release(ix->memory, entries * ENTRY_COST);
}

void sort_index_release(struct sort_index *ix)
{
        ix->n = 0;
        ix->in_order = true;
        memory_release(ix->memory, ix->room * ENTRY_COST);
}

/* ----------------------------------------------------------------------------------------------- building */

/* True if @a belongs after @b. Both have prefixes from @offset of their keys. */
static inline bool sort_entry_is_after(const struct record_order *order, const struct sort_entry *a,
                                       const struct sort_entry *b, size_t offset)
{
        if (likely(a->prefix != b->prefix))
                return a->prefix > b->prefix;
        if (!order->by_bytes)
                return false;
        struct record_view x = record_read(order->type, a->record), y = record_read(order->type, b->record);
        return record_compare_behind(order, &x, &y, offset) > 0;
}

/* True if each of the entries @at … @end belongs after its predecessor. */
static bool sort_index_comes_in_order(const struct sort_index *ix, size_t at, size_t end)
{
        const struct sort_entry *e = ix->entries;
        for (at = MAX(at, (size_t)1); at < end; at++)
                if (e[at - 1].prefix >= e[at].prefix && sort_entry_is_after(&ix->order, &e[at - 1], &e[at], 0))
                        return false;
        return true;
}

static void sort_index_note_added(struct sort_index *ix, uint32_t rows)
{
        if (ix->in_order)
                ix->in_order = sort_index_comes_in_order(ix, ix->n, ix->n + rows);
        ix->n += rows;
        ix->peak = MAX(ix->peak, ix->n);
}

const unsigned char *sort_index_add(struct sort_index *ix, const struct page *page, const unsigned char *record,
                                    uint32_t rows)
{
        const struct record_order order = ix->order;
        const unsigned char *end = page->data + page->used;
        struct sort_entry *entry = ix->entries + ix->n;
        for (uint32_t i = 0; i < rows; i++) {
                struct record_view r = record_read(order.type, record);
                *entry++ = (struct sort_entry){record_prefix(&order, &r, (size_t)(end - r.key)), {record}};
                record = record_end(&r);
        }
        sort_index_note_added(ix, rows);
        return record;
}

void sort_index_prefixes(const struct record_order *order, const fst_batch *batch, uint64_t *prefixes)
{
        const uint64_t flip = order->descending ? ~0ull : 0;
        if (batch->type.key == FST_KIND_I64)
                for (uint32_t i = 0; i < batch->rows; i++)
                        prefixes[i] = record_i64_prefix(batch->key.i64[i]) ^ flip;
        else
                for (uint32_t i = 0; i < batch->rows; i++)
                        prefixes[i] = record_f64_prefix(batch->key.f64[i]) ^ flip;
}

void sort_index_read_prefixes(const struct record_order *order, const uint64_t *prefixes, uint32_t rows,
                              fst_column keys)
{
        const uint64_t flip = order->descending ? ~0ull : 0;
        if (order->type.key == FST_KIND_I64)
                for (uint32_t i = 0; i < rows; i++)
                        keys.i64[i] = record_i64_of(prefixes[i] ^ flip);
        else
                for (uint32_t i = 0; i < rows; i++)
                        keys.i64[i] = (int64_t)record_f64_bits_of(prefixes[i] ^ flip);
}

void sort_index_add_rows(struct sort_index *ix, const fst_batch *batch, uint32_t first, uint32_t rows)
{
        const uint64_t flip = ix->order.descending ? ~0ull : 0;
        const size_t size = batch->type.value_size;
        struct sort_entry *entry = ix->entries + ix->n;
        if (batch->type.key == FST_KIND_I64)
                for (uint32_t i = 0; i < rows; i++)
                        entry[i].prefix = record_i64_prefix(batch->key.i64[first + i]) ^ flip;
        else
                for (uint32_t i = 0; i < rows; i++)
                        entry[i].prefix = record_f64_prefix(batch->key.f64[first + i]) ^ flip;
        if (size == sizeof(entry->value))
                for (uint32_t i = 0; i < rows; i++)
                        memcpy(&entry[i].value, batch->value.fixed + (first + i) * sizeof(entry->value),
                               sizeof(entry->value));
        else
                for (uint32_t i = 0; i < rows && size; i++)
                        memcpy(&entry[i].value, batch->value.fixed + (first + i) * size, size);
        sort_index_note_added(ix, rows);
}

/* ------------------------------------------------------------------------------------------------ sorting */

static void sort_entries_insertion(const struct record_order *order, struct sort_entry *a, size_t n, size_t offset)
{
        for (size_t i = 1; i < n; i++) {
                struct sort_entry entry = a[i];
                size_t j = i;
                for (; j > 0 && sort_entry_is_after(order, &a[j - 1], &entry, offset); j--)
                        a[j] = a[j - 1];
                a[j] = entry;
        }
}

/* Sorts into @to. @a and @to hold the same @n entries. The order of @a is undefined afterwards. */
static void sort_entries_merge(const struct record_order *order, struct sort_entry *a, struct sort_entry *to, size_t n,
                               size_t offset)
{
        if (n <= FEW) {
                sort_entries_insertion(order, a, n, offset);
                memcpy(to, a, n * sizeof(*a));
                return;
        }
        size_t half = n / 2, i = 0, j = half;
        sort_entries_merge(order, to, a, half, offset);
        sort_entries_merge(order, to + half, a + half, n - half, offset);
        for (size_t k = 0; k < n; k++)
                to[k] = j == n || (i < half && !sort_entry_is_after(order, &a[i], &a[j], offset)) ? a[i++] : a[j++];
}

/* For entries with equal prefixes: sorts the keys that end within the prefix to their end of @a and loads the next
 * prefix of the others. *@a and the result become the range of these others. */
static size_t sort_entries_next_prefixes(const struct record_order *order, struct sort_entry **a,
                                         struct sort_entry **other, size_t n, size_t offset, bool to_other)
{
        size_t counts[10] = {0}, starts[10], at = 0;
        struct sort_entry *from = *a, *to = *other;
        /* By length after the offset: 0 … 8, and 9 for longer keys; reversed if descending. */
        for (size_t i = 0; i < n; i++) {
                if (i + 16 < n)
                        __builtin_prefetch(from[i + 16].record);
                struct record_view r = record_read(order->type, from[i].record);
                size_t left = r.key_len > offset ? MIN(r.key_len - offset, (size_t)9) : 0;
                counts[left]++;
                from[i].prefix = left;
        }
        for (size_t i = 0; i < 10; i++) {
                size_t c = order->descending ? 9 - i : i;
                starts[c] = at;
                at += counts[c];
        }
        size_t longer = starts[9], left = counts[9];
        for (size_t i = 0; i < n; i++) {
                struct sort_entry entry = from[i];
                to[starts[entry.prefix]++] = entry;
        }
        if (!to_other)
                memcpy(from, to, n * sizeof(*to));
        else
                memcpy(from + longer, to + longer, left * sizeof(*to));
        *a = from += longer;
        *other = to + longer;
        for (size_t i = 0; i < left; i++) {
                if (i + 16 < left)
                        __builtin_prefetch(from[i + 16].record + offset);
                struct record_view r = record_read(order->type, from[i].record);
                uint64_t prefix = record_bytes(r.key, r.key_len, offset + 8, r.key_len);
                from[i].prefix = order->descending ? ~prefix : prefix;
        }
        return left;
}

static void sort_entries_radix(const struct record_order *order, struct sort_entry *a, struct sort_entry *other,
                               size_t n, size_t offset, unsigned depth, bool to_other);

/* Distributes by the bits from @shift up, then sorts each bucket. */
static void sort_entries_distribute(const struct record_order *order, struct sort_entry *a, struct sort_entry *other,
                                    size_t n, size_t offset, unsigned depth, bool to_other, unsigned shift,
                                    unsigned bits)
{
        uint32_t ends[1 << RADIX_BITS];
        size_t buckets = (size_t)1 << bits, mask = buckets - 1, at = 0, largest = 0;
        memset(ends, 0, buckets * sizeof(*ends));
        for (size_t i = 0; i < n; i++)
                ends[(a[i].prefix >> shift) & mask]++;
        for (size_t b = 0; b < buckets; b++) {
                size_t count = ends[b];
                largest = MAX(largest, count);
                ends[b] = (uint32_t)at;
                at += count;
        }
        for (size_t i = 0; i < n; i++)
                other[ends[(a[i].prefix >> shift) & mask]++] = a[i];
        if (largest <= FEW) {
                /* All entries are close to their place: one insertion sort over all is cheaper than one for each
                 * bucket. */
                sort_entries_insertion(order, other, n, offset);
                if (!to_other)
                        memcpy(a, other, n * sizeof(*a));
                return;
        }
        for (size_t b = 0, start = 0; b < buckets; start = ends[b++])
                if (ends[b] > start)
                        sort_entries_radix(order, other + start, a + start, ends[b] - start, offset, depth + 1,
                                           !to_other);
}

/* Sorts @a, using @other, into @other if @to_other, otherwise into @a. Prefixes start at @offset of the keys. */
static void sort_entries_radix(const struct record_order *order, struct sort_entry *a, struct sort_entry *other,
                               size_t n, size_t offset, unsigned depth, bool to_other)
{
        for (;;) {
                if (n <= FEW) {
                        sort_entries_insertion(order, a, n, offset);
                        if (to_other)
                                memcpy(other, a, n * sizeof(*a));
                        return;
                }
                if (depth > MAX_DEPTH) {
                        memcpy(other, a, n * sizeof(*a));
                        sort_entries_merge(order, to_other ? a : other, to_other ? other : a, n, offset);
                        return;
                }
                uint64_t differ = 0, sample = a[0].prefix;
                for (size_t i = 1; i < n; i++)
                        differ |= a[i].prefix ^ sample;
                if (differ) {
                        unsigned top = 64 - (unsigned)__builtin_clzll(differ);
                        unsigned bits = MIN(63 - (unsigned)__builtin_clzll(n),
                                            n < WIDE ? (unsigned)RADIX_BITS : (unsigned)WIDE_BITS);
                        bits = MIN(bits, top);
                        sort_entries_distribute(order, a, other, n, offset, depth, to_other, top - bits, bits);
                        return;
                }
                if (!order->by_bytes) {
                        if (to_other)
                                memcpy(other, a, n * sizeof(*a));
                        return;
                }
                n = sort_entries_next_prefixes(order, &a, &other, n, offset, to_other);
                offset += 8;
        }
}

void sort_index_sort(struct sort_index *ix)
{
        if (ix->in_order)
                return;
        if (ix->whole && ix->order.type.value == FST_KIND_NONE)
                entries_sort_numbers(ix->entries, ix->other, ix->n);
        else
                sort_entries_radix(&ix->order, ix->entries, ix->other, ix->n, 0, 0, false);
}

/* ------------------------------------------------------------------------------------------------ reading */

#define AHEAD 24

uint64_t sort_index_key(const struct sort_index *ix, const struct sort_entry *entry)
{
        uint64_t prefix = ix->order.descending ? ~entry->prefix : entry->prefix;
        return ix->order.type.key == FST_KIND_I64 ? (uint64_t)record_i64_of(prefix) : record_f64_bits_of(prefix);
}

static void sort_index_read_rows(const struct sort_index *ix, const struct sort_entry *entries, uint32_t rows,
                                 fst_batch *batch)
{
        const size_t size = ix->order.type.value_size;
        for (uint32_t i = 0; i < rows; i++)
                batch->key.i64[i] = (int64_t)sort_index_key(ix, &entries[i]);
        if (size == sizeof(entries->value))
                for (uint32_t i = 0; i < rows; i++)
                        memcpy(batch->value.fixed + i * sizeof(entries->value), &entries[i].value,
                               sizeof(entries->value));
        else
                for (uint32_t i = 0; i < rows && size; i++)
                        memcpy(batch->value.fixed + i * size, &entries[i].value, size);
}

static void sort_index_read_records(const struct sort_index *ix, const struct sort_entry *entries, uint32_t rows,
                                    size_t left, fst_batch *batch)
{
        for (uint32_t i = 0; i < rows; i++) {
                if (i + AHEAD < left) {
                        __builtin_prefetch(entries[i + AHEAD].record);
                        __builtin_prefetch(entries[i + AHEAD].record + 64);
                }
                struct record_view r = record_read(ix->order.type, entries[i].record);
                record_to_row(batch, i, &r);
        }
}

uint32_t sort_index_read(const struct sort_index *ix, size_t first, uint32_t room, fst_batch *batch)
{
        uint32_t rows = (uint32_t)MIN((size_t)room, ix->n - first);
        batch->rows = rows;
        if (ix->whole)
                sort_index_read_rows(ix, ix->entries + first, rows, batch);
        else
                sort_index_read_records(ix, ix->entries + first, rows, ix->n - first, batch);
        return rows;
}
