/*
 * The hash table inside an aggregate (rdd/combine_table.h).
 *
 * Rows are taken in groups: first every key of the group is loaded and hashed and its slot's cache line asked for,
 * then every row looks at its slot. A table of any interesting size does not fit the near caches, and only so do
 * the waits for memory overlap.
 *
 * Invariants: capacity is a power of 2 and at least TABLE_LEAST while the table is started; count ≤ limit <
 * capacity, so every search ends at a free slot; a slot is written after everything that it refers to is there, so
 * a refusal of memory leaves the table as it was.
 *
 * Loads go up to 1/2 (7/8 when growing is refused): keys that are not where their search begins cost a mispredicted
 * branch each time. Growing needs old and new slots at the same time; so does Spark's AppendOnlyMap.
 */
#include "rdd/combine_table.h"

#include "base/error.h"
#include "rdd/hash.h"

#include <math.h>
#include <sys/mman.h>

#define TABLE_LEAST ((size_t)1 << 11)
#define TABLE_MOST ((size_t)1 << 31)
#define HUGE_PAGE ((size_t)2 << 20)
#define LIMIT(capacity) ((capacity) / 2)
#define LIMIT_REFUSED(capacity) ((capacity) / 8 * 7)

static inline uint32_t meta_len(uint64_t meta)
{
        return (uint32_t)meta - 1;
}

static inline bool meta_is_long(uint64_t meta)
{
        return (uint32_t)meta > KEY_INLINE + 1;
}

static inline uint64_t meta_of(uint64_t hash, uint64_t len)
{
        return (hash & 0xffffffff00000000u) | (len + 1);
}

/* What the place of a slot and the bucket of its row are taken from. */
static inline uint32_t meta_product(const struct combine_table *t, uint64_t meta)
{
        return (uint32_t)(meta >> 32) * t->seed;
}

/* Where a search begins: the first slot of a cache line. */
static inline size_t home_of(uint64_t capacity, uint32_t seed, uint64_t meta)
{
        return (size_t)(((uint64_t)((uint32_t)(meta >> 32) * seed) * capacity) >> 32) & ~(size_t)1;
}

/* ------------------------------------------------------------------------------------------------- memory */

static struct slot *slots_map(size_t capacity)
{
        size_t size = capacity * sizeof(struct slot);
        size_t slack = size >= HUGE_PAGE ? HUGE_PAGE : 0;
        char *memory = mmap(NULL, size + slack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (memory == MAP_FAILED)
                return NULL;
        if (slack) {
                size_t before = -(uintptr_t)memory & (HUGE_PAGE - 1);
                if (before)
                        munmap(memory, before);
                if (slack - before)
                        munmap(memory + before + size, slack - before);
                memory += before;
                madvise(memory, size, MADV_HUGEPAGE);
        }
        return (struct slot *)memory;
}

static void slots_unmap(struct slot *slots, size_t capacity)
{
        if (slots)
                munmap(slots, capacity * sizeof(struct slot));
}

static void set_slots(struct combine_table *t, struct slot *slots, size_t capacity)
{
        t->slots = slots;
        t->capacity = capacity;
        t->limit = LIMIT(capacity);
}

static size_t capacity_for(size_t keys)
{
        size_t capacity = TABLE_LEAST;
        while (capacity < TABLE_MOST && LIMIT(capacity) < keys + TABLE_GROUP)
                capacity *= 2;
        return capacity;
}

/* Fresh slots, reserved; 0 or FST_MEMORY_E_DENIED, or what the spill of another consumer answered. */
static int slots_new(struct combine_table *t, size_t capacity, struct slot **slots)
{
        int r = memory_acquire(t->memory, capacity * sizeof(struct slot));
        if (r)
                return r;
        *slots = slots_map(capacity);
        if (*slots)
                return 0;
        memory_release(t->memory, capacity * sizeof(struct slot));
        return FST_MEMORY_E_DENIED;
}

int table_start(struct combine_table *t, size_t keys)
{
        size_t wanted = capacity_for(MAX(keys, t->peak));
        t->peak = 0;
        /* Clearing and reading walk over all slots: a table far too large would cost more than a fresh one. */
        if (t->slots && (t->capacity > wanted * 16 || t->capacity < capacity_for(keys) ||
                         memory_acquire(t->memory, t->capacity * sizeof(struct slot)) != 0)) {
                slots_unmap(t->slots, t->capacity);
                set_slots(t, NULL, 0);
        }
        if (t->slots)
                return 0;
        struct slot *slots;
        size_t capacity = capacity_for(keys);
        int r = slots_new(t, capacity, &slots);
        if (r == FST_MEMORY_E_DENIED && capacity > TABLE_LEAST)
                r = slots_new(t, capacity = TABLE_LEAST, &slots);
        if (r)
                return r;
        set_slots(t, slots, capacity);
        return 0;
}

void table_release(struct combine_table *t)
{
        table_clear(t);
        memory_release(t->memory, t->capacity * sizeof(struct slot));
}

void table_shrink(struct combine_table *t)
{
        table_clear(t);
        struct slot *slots = t->capacity > TABLE_LEAST ? slots_map(TABLE_LEAST) : NULL;
        if (!slots)
                return;
        memory_release(t->memory, (t->capacity - TABLE_LEAST) * sizeof(struct slot));
        slots_unmap(t->slots, t->capacity);
        set_slots(t, slots, TABLE_LEAST);
}

void table_free(struct combine_table *t)
{
        slots_unmap(t->slots, t->capacity);
        set_slots(t, NULL, 0);
}

void table_clear(struct combine_table *t)
{
        if (t->dirty)
                memset(t->slots, 0, t->capacity * sizeof(struct slot));
        t->dirty = false;
        t->count = 0;
        t->limit = LIMIT(t->capacity);
        size_t bytes = 0;
        for (const struct page *page = t->pages; page; page = page->next)
                bytes += page->block;
        page_list_free(NULL, t->pages);
        if (bytes > t->unreserved)
                memory_release(t->memory, bytes - t->unreserved);
        t->unreserved = 0;
        t->pages = NULL;
}

/* Twice the slots or more; both orders are that of the product, so this is one pass over each. */
static int grow(struct combine_table *t)
{
        size_t capacity = t->capacity * (t->capacity < (size_t)1 << 15 ? 4 : 2);
        struct slot *slots, *old = t->slots;
        size_t old_capacity = t->capacity, mask = capacity - 1;
        if (capacity > TABLE_MOST)
                return FST_MEMORY_E_DENIED;
        int r = slots_new(t, capacity, &slots);
        if (r)
                return r;
        set_slots(t, slots, capacity);
        for (size_t i = 0; i < old_capacity; i++) {
                if (!old[i].meta)
                        continue;
                size_t at = home_of(capacity, t->seed, old[i].meta);
                while (slots[at].meta)
                        at = (at + 1) & mask;
                slots[at] = old[i];
        }
        slots_unmap(old, old_capacity);
        memory_release(t->memory, old_capacity * sizeof(struct slot));
        return 0;
}

/* @size bytes, aligned to 16, that live until the table is cleared. */
static int take(struct combine_table *t, size_t size, void **memory)
{
        struct page *page = t->pages;
        size = (size + 15) & ~(size_t)15;
        if (!page || page->capacity - page->used < size) {
                int r = page_new(t->memory, t->type, size, &page);
                if (r == FST_MEMORY_E_DENIED && t->may_overdraw && t->count == 0) {
                        r = page_new_unreserved(t->memory->task, t->type, size, &page);
                        t->unreserved += r ? 0 : page->block;
                }
                if (r)
                        return r;
                page->used = 0;
                /* A page that is taken whole goes behind the one with room left. */
                if (t->pages && page->capacity - size < t->pages->capacity - t->pages->used) {
                        page->next = t->pages->next;
                        t->pages->next = page;
                } else {
                        page->next = t->pages;
                        t->pages = page;
                }
        }
        *memory = page->data + page->used;
        page->used += (uint32_t)size;
        return 0;
}

/* ----------------------------------------------------------------------------------------------- combining */

enum combine_op {
        OP_NONE, /* no value: only the key counts */
        OP_FIRST,
        OP_SUM_I64,
        OP_MIN_I64,
        OP_MAX_I64,
        OP_SUM_F64,
        OP_MIN_F64,
        OP_MAX_F64,
        OP_USER_I64,
        OP_USER_F64,
        OP_OTHER, /* BYTES and FIXED */
};

static int new_cell(struct combine_table *t, fst_bytes bytes, size_t cap, struct table_cell **cell)
{
        void *memory;
        if (bytes.len > UINT32_MAX / 2)
                return error_set(t->error, -EMSGSIZE, "a value of %zu bytes is too large to be combined", bytes.len);
        int r = take(t, sizeof(**cell) + cap, &memory);
        if (r)
                return r;
        *cell = memory;
        (*cell)->len = bytes.len;
        (*cell)->cap = cap;
        if (bytes.len)
                memcpy((*cell)->data, bytes.data, bytes.len);
        return 0;
}

/* The accumulator of a new key, of a kind that is no number. */
static int new_value(struct combine_table *t, const fst_batch *batch, uint32_t row, uint64_t *bits)
{
        union {
                uint64_t bits;
                char small[8];
                void *out;
        } value = {0};
        int r = 0;
        if (t->type.value == FST_KIND_BYTES) {
                struct table_cell *cell;
                fst_bytes bytes = batch->value.bytes[row];
                r = new_cell(t, bytes, bytes.len, &cell);
                value.out = r ? NULL : cell;
        } else {
                size_t size = t->type.value_size;
                const char *from = batch->value.fixed + row * size;
                char *to = value.small;
                if (size > sizeof(value.small)) {
                        r = take(t, size, &value.out);
                        to = value.out;
                }
                if (!r)
                        memcpy(to, from, size);
        }
        *bits = value.bits;
        return r;
}

static int combine_bytes(struct combine_table *t, struct slot *slot, fst_bytes b)
{
        struct table_cell *cell = slot->value.out;
        int (*f)(fst_task *, fst_bytes, fst_bytes, fst_out *) =
                (int (*)(fst_task *, fst_bytes, fst_bytes, fst_out *))t->combine.code;
        t->out_reset(t->out);
        int r = f(t->task, (fst_bytes){cell->data, cell->len}, b, t->out);
        if (r)
                return error_set(t->error, r < 0 ? r : -EINVAL, "%s failed with status %d",
                                 t->combine.name ? t->combine.name : "the combining function", r);
        if (t->out->rows != 1)
                return error_set(t->error, -EINVAL, "%s emitted %u rows where it combines two values into one",
                                 t->combine.name ? t->combine.name : "the combining function", t->out->rows);
        fst_bytes result = t->out->key.bytes[0];
        if (result.len <= cell->cap) {
                if (result.len)
                        memmove(cell->data, result.data, result.len);
                cell->len = result.len;
                return 0;
        }
        /* Some room beyond, or a value that grows by a byte at a time would be copied as often. */
        r = new_cell(t, result, result.len + result.len / 2, &cell);
        if (r == FST_MEMORY_E_DENIED)
                r = new_cell(t, result, result.len, &cell);
        if (!r)
                slot->value.out = cell;
        return r;
}

static int combine_other(struct combine_table *t, struct slot *slot, const fst_batch *batch, uint32_t row)
{
        if (!t->combine.code)
                return 0; /* fst_first */
        if (t->type.value == FST_KIND_BYTES)
                return combine_bytes(t, slot, batch->value.bytes[row]);
        size_t size = t->type.value_size;
        int (*f)(fst_task *, void *, const void *) = (int (*)(fst_task *, void *, const void *))t->combine.code;
        int r = f(t->task, size > sizeof(slot->value.small) ? slot->value.out : slot->value.small,
                  batch->value.fixed + row * size);
        if (!r)
                return 0;
        return error_set(t->error, r < 0 ? r : -EINVAL, "%s failed with status %d",
                         t->combine.name ? t->combine.name : "the combining function", r);
}

/* Whether @a sorts before @b: -0.0 before 0.0, NaN last. */
static inline bool f64_before(double a, double b)
{
        if (a < b)
                return true;
        if (a > b)
                return false;
        if (a == b)
                return signbit(a) && !signbit(b);
        return !isnan(a);
}

static inline __attribute__((always_inline)) int combine(struct combine_table *t, struct slot *s,
                                                         const fst_batch *batch, uint32_t row, enum combine_op op)
{
        switch (op) {
        case OP_NONE:
        case OP_FIRST:
                return 0;
        case OP_SUM_I64:
                s->value.bits += (uint64_t)batch->value.i64[row];
                return 0;
        case OP_MIN_I64:
                s->value.i64 = MIN(s->value.i64, batch->value.i64[row]);
                return 0;
        case OP_MAX_I64:
                s->value.i64 = MAX(s->value.i64, batch->value.i64[row]);
                return 0;
        case OP_SUM_F64:
                s->value.f64 += batch->value.f64[row];
                return 0;
        case OP_MIN_F64:
                if (f64_before(batch->value.f64[row], s->value.f64))
                        s->value.f64 = batch->value.f64[row];
                return 0;
        case OP_MAX_F64:
                if (f64_before(s->value.f64, batch->value.f64[row]))
                        s->value.f64 = batch->value.f64[row];
                return 0;
        case OP_USER_I64:
                s->value.i64 = ((int64_t(*)(fst_task *, int64_t, int64_t))t->combine.code)(t->task, s->value.i64,
                                                                                           batch->value.i64[row]);
                return 0;
        case OP_USER_F64:
                s->value.f64 = ((double (*)(fst_task *, double, double))t->combine.code)(t->task, s->value.f64,
                                                                                         batch->value.f64[row]);
                return 0;
        case OP_OTHER:
                break;
        }
        return combine_other(t, s, batch, row);
}

/* Row @i of the group begins a new key in slot @s. */
static inline __attribute__((always_inline)) int insert(struct combine_table *t, struct slot *s,
                                                        const struct table_group *g, uint32_t i, const fst_batch *batch,
                                                        uint32_t row, enum combine_op op)
{
        uint64_t lo = g->lo[i], bits = 0;
        if (unlikely(meta_is_long(g->meta[i]))) {
                void *key;
                size_t len = meta_len(g->meta[i]);
                if (len >= UINT32_MAX / 2)
                        return error_set(t->error, -EMSGSIZE, "a key of 2 GiB or more is too large");
                int r = take(t, len, &key);
                if (r)
                        return r;
                memcpy(key, (const void *)(uintptr_t)lo, len);
                lo = (uintptr_t)key;
        }
        if (op == OP_OTHER) {
                int r = new_value(t, batch, row, &bits);
                if (r)
                        return r;
        } else if (op != OP_NONE) {
                memcpy(&bits, &batch->value.i64[row], sizeof(bits));
        }
        s->meta = g->meta[i];
        s->lo = lo;
        s->hi = g->hi[i];
        s->value.bits = bits;
        t->count++;
        return 0;
}

static inline bool slot_is(const struct slot *s, const struct table_group *g, uint32_t i)
{
        return ((s->meta ^ g->meta[i]) | (s->lo ^ g->lo[i]) | (s->hi ^ g->hi[i])) == 0;
}

/* The slot of row @i's key, or the free one where it belongs. */
static __attribute__((noinline)) struct slot *search(const struct combine_table *t, const struct table_group *g,
                                                     uint32_t i)
{
        struct slot *s = g->home[i], *end = t->slots + t->capacity;
        bool is_long = meta_is_long(g->meta[i]);
        for (;;) {
                if (!s->meta || slot_is(s, g, i))
                        return s;
                if (is_long && s->meta == g->meta[i] && s->hi == g->hi[i] &&
                    memcmp((const void *)(uintptr_t)s->lo, (const void *)(uintptr_t)g->lo[i], meta_len(s->meta)) == 0)
                        return s;
                if (++s == end)
                        s = t->slots;
        }
}

/*
 * Which of the two slots of the line it is, is chosen by arithmetic: a branch would be guessed wrong for every
 * fourth word of a text, at the price of all the rest.
 */
static inline __attribute__((always_inline)) int rows_any(struct combine_table *t, const struct table_group *g,
                                                          uint32_t n, const fst_batch *batch, uint32_t first,
                                                          uint32_t *done, enum combine_op op)
{
        for (uint32_t i = 0; i < n; i++) {
                struct slot *s = g->home[i];
                int r;
                s += s[1].meta == g->meta[i];
                if (unlikely(!slot_is(s, g, i))) {
                        s = search(t, g, i);
                        if (!s->meta) {
                                r = insert(t, s, g, i, batch, first + i, op);
                                if (unlikely(r)) {
                                        *done = i;
                                        return r;
                                }
                                continue;
                        }
                }
                r = combine(t, s, batch, first + i, op);
                if (unlikely(r)) {
                        *done = i;
                        return r;
                }
        }
        *done = n;
        return 0;
}

#define ROWS(name, op)                                                                                                 \
        static int name(struct combine_table *t, const struct table_group *g, uint32_t n, const fst_batch *batch,      \
                        uint32_t first, uint32_t *done)                                                                \
        {                                                                                                              \
                return rows_any(t, g, n, batch, first, done, op);                                                      \
        }
ROWS(rows_none, OP_NONE)
ROWS(rows_first, OP_FIRST)
ROWS(rows_sum_i64, OP_SUM_I64)
ROWS(rows_min_i64, OP_MIN_I64)
ROWS(rows_max_i64, OP_MAX_I64)
ROWS(rows_sum_f64, OP_SUM_F64)
ROWS(rows_min_f64, OP_MIN_F64)
ROWS(rows_max_f64, OP_MAX_F64)
ROWS(rows_user_i64, OP_USER_I64)
ROWS(rows_user_f64, OP_USER_F64)
ROWS(rows_other, OP_OTHER)

/* The rows function for values of @value and the combining function @f; NULL if they do not go together. */
static table_rows_fn rows_for(uint8_t value, const fst_fn *f)
{
        static const table_rows_fn numbers[][2] = {
                [FST_BUILTIN_SUM] = {rows_sum_i64, rows_sum_f64},
                [FST_BUILTIN_MIN] = {rows_min_i64, rows_min_f64},
                [FST_BUILTIN_MAX] = {rows_max_i64, rows_max_f64},
        };
        uint32_t form = FST_SHAPE_FORM(f->shape), tag = FST_SHAPE_TAG(f->shape);
        if (value == FST_KIND_NONE)
                return rows_none;
        if (form == FST_FORM_BUILTIN) {
                if (tag == FST_BUILTIN_FIRST)
                        return value == FST_KIND_I64 || value == FST_KIND_F64 ? rows_first : rows_other;
                if (tag >= ARRAY_SIZE(numbers) || (value != FST_KIND_I64 && value != FST_KIND_F64))
                        return NULL;
                return numbers[tag][value == FST_KIND_F64];
        }
        if (!f->code || tag != FST_TAG(value, form == FST_FORM_INTO ? FST_KIND_NONE : value))
                return NULL;
        if (value == FST_KIND_I64)
                return form == FST_FORM_I64 ? rows_user_i64 : NULL;
        if (value == FST_KIND_F64)
                return form == FST_FORM_F64 ? rows_user_f64 : NULL;
        return form == (value == FST_KIND_BYTES ? FST_FORM_EMIT : FST_FORM_INTO) ? rows_other : NULL;
}

int table_init(struct combine_table *t, const struct aggregate_options *options, struct memory_consumer *memory,
               struct fst_error *error)
{
        const fst_fn *f = &options->combine;
        table_rows_fn rows = rows_for(options->type.value, f);
        if (!rows)
                return error_set(error, -EINVAL, "%s does not combine two values of this type into one",
                                 f->name ? f->name : "the function");
        t->rows = rows;
        t->type = options->type;
        t->combine = *f;
        t->task = options->task;
        t->out = options->out;
        t->out_reset = options->out_reset;
        t->memory = memory;
        t->rows_in = t->keys = 0;
        return 0;
}

/* -------------------------------------------------------------------------------------------------- adding */

/* What finding a home takes of the table: in registers, where the compiler knows that no store changes it. */
struct place {
        struct slot *slots;
        uint64_t capacity;
        uint32_t seed;
};

static inline __attribute__((always_inline)) void look_for(struct place place, struct table_group *g, uint32_t i,
                                                           uint64_t meta, uint64_t lo, uint64_t hi)
{
        struct slot *home = place.slots + home_of(place.capacity, place.seed, meta);
        __builtin_prefetch(home, 1);
        g->meta[i] = meta;
        g->lo[i] = lo;
        g->hi[i] = hi;
        g->home[i] = home;
}

static inline __attribute__((always_inline)) void look_for_short(struct place place, struct table_group *g, uint32_t i,
                                                                 struct short_key key, uint64_t len)
{
        look_for(place, g, i, meta_of(key_hash_short(key, len), len), key.lo, key.hi);
}

static inline __attribute__((always_inline)) void look_for_bytes(struct place place, struct table_group *g, uint32_t i,
                                                                 const char *data, size_t len)
{
        if (likely(len <= KEY_INLINE)) {
                look_for_short(place, g, i, key_load(data, len), len);
                return;
        }
        uint64_t hash = key_hash_long(data, len);
        look_for(place, g, i, meta_of(hash, MIN(len, (size_t)UINT32_MAX - 1)), (uintptr_t)data, hash);
}

static void look_for_rows(const struct combine_table *t, struct table_group *g, const fst_batch *batch, uint32_t first,
                          uint32_t n)
{
        const struct place place = {t->slots, t->capacity, t->seed};
        switch (t->type.key) {
        case FST_KIND_I64:
                for (uint32_t i = 0; i < n; i++)
                        look_for_short(place, g, i, (struct short_key){(uint64_t)batch->key.i64[first + i], 0}, 8);
                break;
        case FST_KIND_F64:
                for (uint32_t i = 0; i < n; i++)
                        look_for_short(place, g, i, (struct short_key){key_f64_bits(batch->key.f64[first + i]), 0}, 8);
                break;
        case FST_KIND_BYTES: {
                const fst_bytes *keys = batch->key.bytes + first;
                for (uint32_t i = 0; i < n; i++)
                        look_for_bytes(place, g, i, keys[i].data, keys[i].len);
                break;
        }
        default: {
                size_t size = t->type.key_size;
                for (uint32_t i = 0; i < n; i++)
                        look_for_bytes(place, g, i, batch->key.fixed + (first + i) * size, size);
        }
        }
}

/* Room for @n further keys. */
static int make_room(struct combine_table *t, uint32_t n)
{
        int r = grow(t);
        if (r != FST_MEMORY_E_DENIED)
                return r;
        t->limit = LIMIT_REFUSED(t->capacity);
        return t->count + n <= t->limit ? 0 : r;
}

int table_add(struct combine_table *t, const fst_batch *batch, uint32_t *at, struct fst_error *error)
{
        struct table_group group;
        const void *captured = t->task ? t->task->captured : NULL;
        uint32_t first = *at;
        size_t before = t->count;
        int r = 0;
        t->error = error;
        if (t->task)
                t->task->captured = t->combine.captured;
        while (first < batch->rows) {
                uint32_t n = MIN(batch->rows - first, (uint32_t)TABLE_GROUP), done;
                if (unlikely(t->count + n > t->limit) && (r = make_room(t, n)) != 0)
                        break;
                look_for_rows(t, &group, batch, first, n);
                r = t->rows(t, &group, n, batch, first, &done);
                first += done;
                if (r)
                        break;
        }
        if (t->task)
                t->task->captured = captured;
        t->dirty = t->dirty || t->count;
        t->rows_in += first - *at;
        t->keys += t->count - before;
        t->peak = MAX(t->peak, t->count);
        *at = first;
        return r;
}

/* ------------------------------------------------------------------------------------------------- reading */

static void read_slot(const struct combine_table *t, const struct slot *s, fst_batch *batch, uint32_t row)
{
        uint32_t len = meta_len(s->meta);
        const char *key = meta_is_long(s->meta) ? (const char *)(uintptr_t)s->lo : (const char *)&s->lo;
        switch (t->type.key) {
        case FST_KIND_BYTES:
                batch->key.bytes[row] = (fst_bytes){key, len};
                break;
        case FST_KIND_FIXED:
                memcpy(batch->key.fixed + (size_t)row * len, key, len);
                break;
        default:
                batch->key.i64[row] = (int64_t)s->lo;
        }
        switch (t->type.value) {
        case FST_KIND_NONE:
                break;
        case FST_KIND_BYTES: {
                const struct table_cell *cell = s->value.out;
                batch->value.bytes[row] = (fst_bytes){cell->data, cell->len};
                break;
        }
        case FST_KIND_FIXED: {
                size_t size = t->type.value_size;
                memcpy(batch->value.fixed + row * size, size > sizeof(s->value.small) ? s->value.out : s->value.small,
                       size);
                break;
        }
        default:
                batch->value.i64[row] = s->value.i64;
        }
}

static inline uint64_t slot_hash(const struct slot *s)
{
        if (meta_is_long(s->meta))
                return s->hi;
        return key_hash_short((struct short_key){s->lo, s->hi}, meta_len(s->meta));
}

uint32_t table_read(struct combine_table *t, size_t *pos, uint32_t room, fst_batch *batch, uint64_t *hashes, bool clear)
{
        uint32_t row = 0;
        size_t at = *pos;
        for (; at < t->capacity && row < room; at++) {
                struct slot *s = &t->slots[at];
                if (!s->meta)
                        continue;
                read_slot(t, s, batch, row);
                if (hashes)
                        hashes[row] = slot_hash(s);
                if (clear)
                        s->meta = 0;
                row++;
        }
        *pos = at;
        if (clear) {
                t->count -= row;
                t->dirty = t->count != 0;
        }
        batch->rows = row;
        return row;
}

uint32_t table_read_bucket(struct combine_table *t, uint32_t bucket, size_t *pos, uint32_t room, fst_batch *batch)
{
        size_t share = t->capacity / TABLE_BUCKETS, start = bucket * share, mask = t->capacity - 1;
        uint32_t row = 0;
        size_t at = *pos;
        /* Beyond its own slots a bucket has those of its rows that collisions pushed there, up to a free slot. */
        for (; at < t->capacity && row < room; at++) {
                const struct slot *s = &t->slots[(start + at) & mask];
                if (!s->meta) {
                        if (at >= share)
                                break;
                        continue;
                }
                if (meta_product(t, s->meta) >> (32 - TABLE_BUCKETS_LOG2) == bucket)
                        read_slot(t, s, batch, row++);
        }
        *pos = at;
        batch->rows = row;
        return row;
}
