/*
 * Reads and writes rows in pages; see page.h.
 *
 * Code for each row is written once for all types, in always-inline functions with constant shapes of key and value.
 * `SHAPES` expands to one loop for each pair of shapes, which contains only the work of that pair. I64 and F64 are the
 * same eight bytes here.
 *
 * Short byte strings are copied as 16 bytes if both sides have room: a memcpy of unknown length costs more than the
 * rest of the row. Reading beyond the source's end is harmless within the machine's page. Sanitizers do not know that,
 * so their builds copy exactly.
 *
 * Invariants: a page's records are complete; used ≤ capacity. Readers trust pages, because page_validate checks pages
 * from outside of the process first.
 */
#include "store/page.h"

#include "base/error.h"
#include "base/mem.h"
#include "store/page_pool.h"

#include <assert.h>
#include <endian.h>
#include <sys/mman.h>
#include <unistd.h>
#include <xxhash.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "records are copied as they lie in memory");
static_assert(offsetof(struct page, data) % 16 == 0, "fixed columns are read in place");

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || !defined(__SSE2__)
#define OVERREAD 0
#elif defined(__has_feature)
#define OVERREAD                                                                                                       \
        !(__has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer))
#else
#define OVERREAD 1
#endif

#define INLINE static inline __attribute__((always_inline))

enum shape { NONE, EIGHT, BYTES, FIXED };

static enum shape shape_of(uint8_t kind)
{
        static const uint8_t shapes[] = {
                [FST_KIND_NONE] = NONE,   [FST_KIND_I64] = EIGHT,   [FST_KIND_F64] = EIGHT,
                [FST_KIND_BYTES] = BYTES, [FST_KIND_FIXED] = FIXED,
        };
        return shapes[kind];
}

/* Runs @call(key shape, value shape) with constants. */
#define SHAPES(type, call)                                                                                             \
        switch (shape_of((type).key) << 2 | shape_of((type).value)) {                                                  \
        case EIGHT << 2 | NONE:                                                                                        \
                call(EIGHT, NONE);                                                                                     \
        case EIGHT << 2 | EIGHT:                                                                                       \
                call(EIGHT, EIGHT);                                                                                    \
        case EIGHT << 2 | BYTES:                                                                                       \
                call(EIGHT, BYTES);                                                                                    \
        case EIGHT << 2 | FIXED:                                                                                       \
                call(EIGHT, FIXED);                                                                                    \
        case BYTES << 2 | NONE:                                                                                        \
                call(BYTES, NONE);                                                                                     \
        case BYTES << 2 | EIGHT:                                                                                       \
                call(BYTES, EIGHT);                                                                                    \
        case BYTES << 2 | BYTES:                                                                                       \
                call(BYTES, BYTES);                                                                                    \
        case BYTES << 2 | FIXED:                                                                                       \
                call(BYTES, FIXED);                                                                                    \
        case FIXED << 2 | NONE:                                                                                        \
                call(FIXED, NONE);                                                                                     \
        case FIXED << 2 | EIGHT:                                                                                       \
                call(FIXED, EIGHT);                                                                                    \
        case FIXED << 2 | BYTES:                                                                                       \
                call(FIXED, BYTES);                                                                                    \
        case FIXED << 2 | FIXED:                                                                                       \
                call(FIXED, FIXED);                                                                                    \
        }                                                                                                              \
        assert(!"a row has a key of a known kind")

/* ------------------------------------------------------------------------------------------------ pages */

size_t page_block_size(size_t record)
{
        if (record <= PAGE_CAPACITY)
                return PAGE_BLOCK;
        if (record > UINT32_MAX - sizeof(struct page) - 4096)
                return SIZE_MAX;
        return (sizeof(struct page) + record + 4095) & ~(size_t)4095;
}

static bool kind_valid(uint8_t kind, uint32_t size)
{
        switch (kind) {
        case FST_KIND_I64:
        case FST_KIND_F64:
                return size == 8;
        case FST_KIND_FIXED:
                return size > 0 && size <= FST_FIXED_MAX;
        case FST_KIND_BYTES:
                return true; /* the size is the number of a struct's description (structs/struct_type.h) */
        default:
                return kind == FST_KIND_NONE && size == 0;
        }
}

bool page_type_valid(fst_type t)
{
        return t.key != FST_KIND_NONE && kind_valid(t.key, t.key_size) && kind_valid(t.value, t.value_size);
}

int page_new(struct memory_consumer *c, fst_type type, size_t record, struct page **page)
{
        size_t block = page_block_size(record);
        if (block == SIZE_MAX)
                return -EMSGSIZE;
        if (c) {
                int r = memory_acquire(c, block);
                if (r == FST_MEMORY_E_DENIED && c->patient && c->held == 0 && block == PAGE_BLOCK)
                        return page_new_unreserved(c->task, type, record, page);
                if (r)
                        return r;
        }
        struct page *p;
        if (block == PAGE_BLOCK) {
                p = page_pool_get();
        } else {
                /* A mapping of its own, so that freeing it returns the memory to the system. */
                p = !mem_has_room(block)
                            ? MAP_FAILED
                            : mmap(NULL, block, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
                p = p == MAP_FAILED ? NULL : p;
        }
        if (!p) {
                if (c)
                        memory_release(c, block);
                return -ENOMEM;
        }
        *p = (struct page){.block = (uint32_t)block, .capacity = (uint32_t)(block - sizeof(struct page)), .type = type};
        *page = p;
        return 0;
}

int page_new_unreserved(const struct memory_task *task, fst_type type, size_t record, struct page **page)
{
        size_t block = page_block_size(record);
        if (block > memory_task_share(task))
                return FST_MEMORY_E_DENIED;
        return page_new(NULL, type, record, page);
}

int page_new_small(struct memory_consumer *c, fst_type type, size_t block, struct page **page)
{
        assert(block < PAGE_BLOCK && block > sizeof(struct page) && block % 16 == 0);
        int r = c ? memory_acquire(c, block) : 0;
        if (r)
                return r;
        struct page *p = aligned_alloc(16, block);
        if (!p) {
                if (c)
                        memory_release(c, block);
                return -ENOMEM;
        }
        *p = (struct page){.block = (uint32_t)block, .capacity = (uint32_t)(block - sizeof(struct page)), .type = type};
        *page = p;
        return 0;
}

static void block_free(struct page *page)
{
        if (page->keys)
                page_keys_unref(page->keys->owner);
        if (page->block == PAGE_BLOCK)
                page_pool_put(page);
        else if (page->block > PAGE_BLOCK)
                munmap(page, page->block);
        else
                free(page); /* from page_shrink or page_new_small */
}

void page_free(struct memory_consumer *c, struct page *page)
{
        if (!page)
                return;
        size_t block = page->block;
        block_free(page);
        if (c && !(c->patient && c->held == 0)) /* otherwise page_new did not reserve it */
                memory_release(c, block);
}

void page_list_free(struct memory_consumer *c, struct page *first)
{
        size_t freed = 0;
        while (first) {
                struct page *next = first->next;
                freed += first->block;
                block_free(first);
                first = next;
        }
        if (c && freed)
                memory_release(c, freed);
}

struct page *page_shrink(struct page *page)
{
        size_t size = sizeof(struct page) + page->used;
        if (page->block != PAGE_BLOCK || size > PAGE_BLOCK / 4 * 3)
                return page;
        struct page *small = aligned_alloc(16, (size + 15) & ~(size_t)15);
        if (!small)
                return page;
        memcpy(small, page, size);
        small->block = (uint32_t)((size + 15) & ~(size_t)15);
        small->capacity = page->used;
        block_free(page);
        return small;
}

/* ------------------------------------------------------------------------------------------------ rows in */

INLINE void put_u32(unsigned char *p, size_t x)
{
        uint32_t v = (uint32_t)x;
        memcpy(p, &v, 4);
}

INLINE uint32_t get_u32(const unsigned char *p)
{
        uint32_t v;
        memcpy(&v, p, 4);
        return v;
}

/* @room bytes may be written at @to. Bytes beyond @len are undefined. */
INLINE void copy_bytes(unsigned char *to, const char *from, size_t len, size_t room)
{
#if OVERREAD
        if (likely(len - 1 < 16 && room >= 16 && ((uintptr_t)from & 4095) <= 4096 - 16)) {
                _mm_storeu_si128((__m128i *)to, _mm_loadu_si128((const __m128i *)from));
                return;
        }
        if (len - 17 < 16) {
                _mm_storeu_si128((__m128i *)to, _mm_loadu_si128((const __m128i *)from));
                _mm_storeu_si128((__m128i *)(to + len - 16), _mm_loadu_si128((const __m128i *)(from + len - 16)));
                return;
        }
#endif
        if (len)
                memcpy(to, from, len);
}

INLINE size_t field_size(enum shape s, fst_column column, uint32_t size, uint32_t row)
{
        return s == NONE ? 0 : s == EIGHT ? 8 : s == BYTES ? column.bytes[row].len : size;
}

INLINE void put_field(enum shape s, unsigned char *p, fst_column column, size_t size, uint32_t row, size_t room)
{
        if (s == EIGHT)
                memcpy(p, &column.i64[row], 8);
        else if (s == BYTES)
                copy_bytes(p, column.bytes[row].data, size, room);
        else if (s == FIXED)
                memcpy(p, column.fixed + (size_t)row * size, size);
}

#define DOES_NOT_FIT SIZE_MAX

/* Writes a row's record to @p if it takes at most @room bytes. Returns its size. */
INLINE size_t put_record(unsigned char *p, size_t room, fst_type type, fst_column key, fst_column value, uint32_t row,
                         enum shape k, enum shape v)
{
        size_t key_size = field_size(k, key, type.key_size, row);
        size_t value_size = field_size(v, value, type.value_size, row);
        size_t lengths = (k == BYTES ? 4 : 0) + (v == BYTES ? 4 : 0);
        if (unlikely(lengths + key_size + value_size > room))
                return DOES_NOT_FIT;
        if (k == BYTES)
                put_u32(p, key_size);
        if (v == BYTES)
                put_u32(p + lengths - 4, value_size);
        put_field(k, p + lengths, key, key_size, row, room - lengths);
        put_field(v, p + lengths + key_size, value, value_size, row, room - lengths - key_size);
        return lengths + key_size + value_size;
}

INLINE uint32_t append(struct page *page, const fst_batch *batch, uint32_t first, enum shape k, enum shape v)
{
        const fst_column key = batch->key, value = batch->value;
        const fst_type type = batch->type;
        const uint32_t rows = batch->rows;
        const size_t capacity = page->capacity;
        size_t at = page->used;
        uint32_t row = first;
        if (k == EIGHT && v == NONE) {
                row += (uint32_t)MIN((size_t)(rows - first), (capacity - at) / 8);
                memcpy(page->data + at, key.i64 + first, (size_t)(row - first) * 8);
                at += (size_t)(row - first) * 8;
        }
        for (; row < rows; row++) {
                size_t size = put_record(page->data + at, capacity - at, type, key, value, row, k, v);
                if (unlikely(size == DOES_NOT_FIT))
                        break;
                at += size;
        }
        page->used = (uint32_t)at;
        page->rows += row - first;
        return row - first;
}

uint32_t page_append(struct page *page, const fst_batch *batch, uint32_t first)
{
        if (unlikely(batch->rows > UINT32_MAX - page->rows || first >= batch->rows))
                return 0; /* the first branch: empty structs only */
#define APPEND(k, v) return append(page, batch, first, k, v)
        SHAPES(batch->type, APPEND);
        return 0;
}

INLINE bool append_row(struct page *page, const fst_batch *batch, uint32_t row, enum shape k, enum shape v)
{
        size_t size = put_record(page->data + page->used, page->capacity - page->used, batch->type, batch->key,
                                 batch->value, row, k, v);
        if (unlikely(size == DOES_NOT_FIT || page->rows == UINT32_MAX))
                return false;
        page->used += (uint32_t)size;
        page->rows++;
        return true;
}

bool page_append_row(struct page *page, const fst_batch *batch, uint32_t row)
{
#define APPEND_ROW(k, v) return append_row(page, batch, row, k, v)
        SHAPES(batch->type, APPEND_ROW);
        return false;
}

/* Number of rows by which pages are prefetched into the cache: first the header, then the end. */
#define SCATTER_AHEAD 12

/* Headers and ends of so many pages stay in the nearest cache without being prefetched. */
#define SCATTER_NEAR 64

INLINE int scatter(const fst_batch *batch, const uint32_t *partition, uint32_t *first, struct page **open,
                   uint32_t n_open, page_full_fn full, void *owner, enum shape k, enum shape v)
{
        const fst_column key = batch->key, value = batch->value;
        const fst_type type = batch->type;
        const uint32_t rows = batch->rows;
        const uint32_t end_ahead = n_open > SCATTER_NEAR && rows > SCATTER_AHEAD ? rows - SCATTER_AHEAD : 0;
        for (uint32_t row = *first; row < rows; row++) {
                if (row < end_ahead) {
                        const struct page *soon = open[partition[row + SCATTER_AHEAD]];
                        const struct page *sooner = open[partition[row + SCATTER_AHEAD / 2]];
                        __builtin_prefetch(soon, 1);
                        if (sooner)
                                __builtin_prefetch(sooner->data + sooner->used, 1);
                }
                struct page *page = open[partition[row]];
                size_t size = DOES_NOT_FIT;
                if (likely(page && page->rows < UINT32_MAX))
                        size = put_record(page->data + page->used, page->capacity - page->used, type, key, value, row,
                                          k, v);
                if (unlikely(size == DOES_NOT_FIT)) {
                        *first = row;
                        int r = full(owner, partition[row], page_record_size(batch, row), &open[partition[row]]);
                        if (r)
                                return r;
                        page = open[partition[row]];
                        size = put_record(page->data + page->used, page->capacity - page->used, type, key, value, row,
                                          k, v);
                        assert(size != DOES_NOT_FIT);
                }
                page->used += (uint32_t)size;
                page->rows++;
        }
        *first = rows;
        return 0;
}

int page_scatter(const fst_batch *batch, const uint32_t *partition, uint32_t *first, struct page **open,
                 uint32_t n_open, page_full_fn full, void *owner)
{
#define SCATTER(k, v) return scatter(batch, partition, first, open, n_open, full, owner, k, v)
        SHAPES(batch->type, SCATTER);
        return -EINVAL;
}

size_t page_record_size(const fst_batch *batch, uint32_t row)
{
        enum shape k = shape_of(batch->type.key), v = shape_of(batch->type.value);
        return (k == BYTES ? 4 : 0) + (v == BYTES ? 4 : 0) + field_size(k, batch->key, batch->type.key_size, row) +
               field_size(v, batch->value, batch->type.value_size, row);
}

/* ------------------------------------------------------------------------------------------------ rows out */

/* True for a single fixed column, which is read in place and needs no array. */
static bool in_place(fst_type type)
{
        return type.value == FST_KIND_NONE && type.key != FST_KIND_BYTES;
}

static void column_init(fst_column *column, uint8_t kind, uint32_t size)
{
        column->fixed = NULL;
        if (kind != FST_KIND_NONE)
                column->fixed = mem_alloc(FST_BATCH_ROWS * (kind == FST_KIND_BYTES ? sizeof(fst_bytes) : (size_t)size));
}

void page_cursor_init(struct page_cursor *cursor, fst_type type)
{
        *cursor = (struct page_cursor){.type = type};
        if (in_place(type))
                return;
        column_init(&cursor->key, type.key, type.key_size);
        column_init(&cursor->value, type.value, type.value_size);
}

void page_cursor_deinit(struct page_cursor *cursor)
{
        free(cursor->key.fixed);
        free(cursor->value.fixed);
        *cursor = (struct page_cursor){0};
}

void page_cursor_start(struct page_cursor *cursor, const struct page *page)
{
        assert(!page->segments);
        cursor->page = page;
        cursor->at = cursor->row = 0;
}

INLINE size_t get_field(enum shape s, const unsigned char *p, fst_column column, size_t size, uint32_t row)
{
        if (s == NONE)
                return 0;
        if (s == EIGHT) {
                memcpy(&column.i64[row], p, 8);
                return 8;
        }
        if (s == BYTES)
                column.bytes[row] = (fst_bytes){(const char *)p, size};
        else
                memcpy(column.fixed + (size_t)row * size, p, size);
        return size;
}

/* Bytes by which pages are prefetched: the processor does so only up to the end of 4 KiB. */
#define NEXT_AHEAD 1536

INLINE size_t next_rows(const unsigned char *p, uint32_t rows, fst_type type, fst_column key, fst_column value,
                        enum shape k, enum shape v)
{
        const unsigned char *start = p;
        const size_t lengths = (k == BYTES ? 4 : 0) + (v == BYTES ? 4 : 0);
        for (uint32_t row = 0; row < rows; row++) {
                __builtin_prefetch(p + NEXT_AHEAD);
                size_t key_size = k == BYTES ? get_u32(p) : type.key_size;
                size_t value_size = v == BYTES ? get_u32(p + lengths - 4) : type.value_size;
                p += lengths;
                p += get_field(k, p, key, key_size, row);
                p += get_field(v, p, value, value_size, row);
        }
        return (size_t)(p - start);
}

static size_t next_shaped(const unsigned char *p, uint32_t rows, fst_type type, fst_column key, fst_column value)
{
#define NEXT(k, v) return next_rows(p, rows, type, key, value, k, v)
        SHAPES(type, NEXT);
        return 0;
}

/* Gets the next rows of a page of values: passes over those that are 0. */
static bool page_cursor_next_values(struct page_cursor *cursor, fst_batch *batch)
{
        const struct page *page = cursor->page;
        const fst_bytes *keys = page_values_keys(page);
        const int64_t *values = page_values(page);
        const uint32_t n = page_values_count(page);
        uint32_t at = cursor->at, rows = 0;
        for (; at < n && rows < FST_BATCH_ROWS; at++) {
                cursor->key.bytes[rows] = keys[at];
                cursor->value.i64[rows] = values[at];
                rows += values[at] != 0;
        }
        cursor->at = at;
        *batch = (fst_batch){.rows = rows, .type = cursor->type, .key = cursor->key, .value = cursor->value};
        return rows > 0;
}

bool page_cursor_next(struct page_cursor *cursor, fst_batch *batch)
{
        const struct page *page = cursor->page;
        if (unlikely(page->keys != NULL))
                return page_cursor_next_values(cursor, batch);
        uint32_t rows = MIN(page->rows - cursor->row, (uint32_t)FST_BATCH_ROWS);
        if (rows == 0)
                return false;
        const unsigned char *p = page->data + cursor->at;
        *batch = (fst_batch){.rows = rows, .type = cursor->type, .key = cursor->key, .value = cursor->value};
        if (in_place(cursor->type)) {
                batch->key.fixed = (char *)p; /* receivers of a batch only read it */
                cursor->at += rows * cursor->type.key_size;
        } else {
                cursor->at += (uint32_t)next_shaped(p, rows, cursor->type, cursor->key, cursor->value);
        }
        cursor->row += rows;
        return true;
}

/* ------------------------------------------------------------------------------------------------ wire */

static uint32_t type_tag(fst_type type)
{
        return FST_TAG(type.key, type.value);
}

void page_wire_header(const struct page *page, unsigned char header[static PAGE_WIRE_HEADER])
{
        assert(!page->segments);
        put_u32(header, PAGE_MAGIC);
        put_u32(header + 4, type_tag(page->type));
        put_u32(header + 8, page->type.key_size);
        put_u32(header + 12, page->type.value_size);
        put_u32(header + 16, page->rows);
        put_u32(header + 20, page->used);
        uint64_t sum = XXH3_64bits(page->data, page->used);
        memcpy(header + 24, &sum, 8);
}

int page_wire_check(const unsigned char header[static PAGE_WIRE_HEADER], fst_type type, size_t limit, uint32_t *bytes,
                    uint32_t *rows, uint64_t *checksum, struct fst_error *error)
{
        if (get_u32(header) != PAGE_MAGIC)
                return error_set(error, -EBADMSG, "not a page: it begins with %08x instead of %08x", get_u32(header),
                                 PAGE_MAGIC);
        if (get_u32(header + 4) != type_tag(type) || get_u32(header + 8) != type.key_size ||
            get_u32(header + 12) != type.value_size)
                return error_set(error, -EBADMSG,
                                 "a page of another type: its kinds and sizes are %04x %u %u, expected %04x %u %u",
                                 get_u32(header + 4), get_u32(header + 8), get_u32(header + 12), type_tag(type),
                                 type.key_size, type.value_size);
        if (get_u32(header + 20) > limit)
                return error_set(error, -EBADMSG, "a page too large: %u bytes where %zu are allowed",
                                 get_u32(header + 20), limit);
        *rows = get_u32(header + 16);
        *bytes = get_u32(header + 20);
        memcpy(checksum, header + 24, 8);
        return 0;
}

/* Returns the size of the first @rows records if they lie within @size bytes, else a value above @size. */
INLINE uint64_t measure(const unsigned char *p, uint32_t rows, size_t size, fst_type type, enum shape k, enum shape v)
{
        const size_t lengths = (k == BYTES ? 4 : 0) + (v == BYTES ? 4 : 0);
        if (lengths == 0)
                return (uint64_t)rows * ((uint64_t)type.key_size + type.value_size);
        uint64_t at = 0;
        for (uint32_t row = 0; row < rows; row++) {
                if (at + lengths > size)
                        return (uint64_t)size + 1;
                uint64_t key_size = k == BYTES ? get_u32(p + at) : type.key_size;
                uint64_t value_size = v == BYTES ? get_u32(p + at + lengths - 4) : type.value_size;
                at += lengths + key_size + value_size;
        }
        return at;
}

static uint64_t measure_shaped(const struct page *page)
{
#define MEASURE(k, v) return measure(page->data, page->rows, page->used, page->type, k, v)
        SHAPES(page->type, MEASURE);
        return 0;
}

int page_validate(const struct page *page, uint64_t checksum, struct fst_error *error)
{
        uint64_t sum = XXH3_64bits(page->data, page->used);
        if (sum != checksum)
                return error_set(error, -EBADMSG, "a damaged page: its checksum is %016llx, its header says %016llx",
                                 (unsigned long long)sum, (unsigned long long)checksum);
        uint64_t size = measure_shaped(page);
        if (size != page->used)
                return error_set(error, -EBADMSG, "a damaged page: its %u records do not end with its %u bytes",
                                 page->rows, page->used);
        return 0;
}

/* ------------------------------------------------------------------------------------------------ shared keys */

struct page_keys *page_keys_new(struct memory_manager *manager, uint32_t parts, uint32_t n, size_t bytes)
{
        size_t memory = sizeof(struct page_keys) + ((size_t)parts + 1) * sizeof(uint32_t) +
                        parts * sizeof(struct page_key_part) + n * sizeof(fst_bytes) + bytes;
        if (!memory_acquire_fixed_storage(manager, memory))
                return NULL;
        struct page_keys *keys = new0(struct page_keys);
        *keys = (struct page_keys){.refs = 1, .parts = parts, .n = n, .manager = manager, .memory = memory};
        keys->start = calloc((size_t)parts + 1, sizeof(uint32_t));
        keys->keys = malloc(MAX(n, 1u) * sizeof(fst_bytes));
        keys->text = malloc(bytes + 16);
        keys->part = malloc(parts * sizeof(struct page_key_part));
        if (!keys->start || !keys->keys || !keys->text || !keys->part) {
                page_keys_unref(keys);
                return NULL;
        }
        for (uint32_t p = 0; p < parts; p++)
                keys->part[p] = (struct page_key_part){keys, p};
        return keys;
}

struct page_keys *page_keys_ref(struct page_keys *keys)
{
        __atomic_add_fetch(&keys->refs, 1, __ATOMIC_RELAXED);
        return keys;
}

void page_keys_unref(struct page_keys *keys)
{
        if (!keys || __atomic_sub_fetch(&keys->refs, 1, __ATOMIC_ACQ_REL) > 0)
                return;
        memory_release_storage(keys->manager, keys->memory);
        free(keys->start);
        free(keys->keys);
        free(keys->text);
        free(keys->part);
        free(keys);
}

int page_new_values(struct memory_consumer *c, fst_type type, struct page_keys *keys, uint32_t part, struct page **page)
{
        size_t size = (size_t)(keys->start[part + 1] - keys->start[part]) * sizeof(int64_t);
        size_t block = (sizeof(struct page) + MAX(size, (size_t)16) + 15) & ~(size_t)15;
        int r = block < PAGE_BLOCK ? page_new_small(c, type, block, page) : page_new(c, type, size, page);
        if (r)
                return r;
        (*page)->keys = &page_keys_ref(keys)->part[part];
        return 0;
}
