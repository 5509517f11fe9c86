/*
 * The hash table of an aggregate: keys and their accumulators, in memory only. It reports denied memory to its caller,
 * rdd/aggregate/aggregate.c, which decides what to do.
 *
 * There are two kinds of slots. Number keys have slots of 16 bytes: key and accumulator. Other keys have slots of 32
 * bytes: half of the hash, the length of the key, the key itself up to 16 bytes, and the accumulator. Longer keys, and
 * accumulators that are BYTES or larger than 8 bytes, are stored in pages that live as long as the content.
 *
 * The upper bits of (half of the hash × seed) give a slot, and collisions go to the next one. A search begins at the
 * first slot of a cache line, which holds four or two. So the slots are ordered by that product: a growing table is
 * copied from front to back, and the content can be written bucket by bucket without sorting.
 *
 * Tables that read each other's output have different seeds. With the same seed, rows arriving in the order of the
 * product would all collide in the same few slots.
 *
 * The map tasks of a slot often have the same keys. A table that sums positive numbers therefore keeps its keys: the
 * next task finds them at their places, in a table that has grown. A key whose value is 0 has no row in this task. As
 * the caller drains the table and clears it, nothing else depends on it when a number is not positive.
 */
#pragma once

#include "rdd/aggregate/aggregate.h"
#include "rdd/pipeline/key.h"
#include "rdd/pipeline/op.h"
#include "rdd/pipeline/struct_view.h"
#include "base/vec.h"
#include "store/page.h"

#define TABLE_BUCKETS_LOG2 4
#define TABLE_BUCKETS (1u << TABLE_BUCKETS_LOG2)

union slot_value {
        uint64_t bits;
        int64_t i64;
        double f64;
        char small[8];
        void *out; /* FIXED larger than 8 bytes, or struct table_cell */
};

struct table_slot {
        uint64_t meta;   /* upper half of the hash << 32 | length of the key + 1; 0: the slot is free */
        uint64_t lo, hi; /* the key; for a longer one its pointer and the whole hash */
        union slot_value value;
};

/* The slot of a number key: its bits ^ NUMBER_FREE; 0 in a free slot. The key NUMBER_FREE itself is in `aside`. */
struct number_slot {
        uint64_t key;
        union slot_value value;
};
#define NUMBER_FREE 0x9d4b8e5f3a61c720u

/* A BYTES accumulator. */
struct table_cell {
        uint64_t len, cap;
        char data[];
};

static inline uint32_t meta_len(uint64_t meta)
{
        return (uint32_t)meta - 1;
}

static inline bool meta_is_long(uint64_t meta)
{
        return (uint32_t)meta > KEY_INLINE + 1;
}

static inline const char *slot_key(const struct table_slot *s)
{
        return meta_is_long(s->meta) ? (const char *)(uintptr_t)s->lo : (const char *)&s->lo;
}

static inline uint64_t slot_hash(const struct table_slot *s)
{
        if (meta_is_long(s->meta))
                return s->hi;
        return key_hash_short((struct short_key){s->lo, s->hi}, meta_len(s->meta));
}

struct table_group; /* rdd/aggregate/table_group.h */
struct combine_table;

/* Finds or creates slots for @n rows of @batch from @first on and combines them. *@done: rows combined. */
typedef int (*table_rows_fn)(struct combine_table *t, const struct table_group *group, uint32_t n,
                             const fst_batch *batch, uint32_t first, uint32_t *done);

struct combine_table {
        union {
                char *memory_of_slots;
                struct table_slot *slots;
                struct number_slot *numbers;
        };
        bool is_number;           /* keys are numbers and `numbers` are the slots */
        bool has_aside;           /* the key NUMBER_FREE is in the table: */
        struct number_slot aside; /* its slot */
        size_t capacity;          /* number of slots: a power of 2, or 0 */
        size_t count, limit;      /* used slots; maximum before growing */
        size_t peak;              /* the largest count since the last table_start */
        uint32_t seed;
        struct page *pages; /* newest first: long keys and values; `used` counts the bytes used */
        size_t unreserved;  /* bytes in pages taken without a reservation */
        bool may_overdraw;  /* an empty table may take an unreserved page for a row */

        /* Keys that stay from task to task (table_keep). Those without rows in this task have the value 0. */
        bool may_keep;    /* a task leaves its keys to the next one, if that is worthwhile */
        bool gave_up;     /* it was not */
        bool is_positive; /* may_keep, and each value is a sum of positive numbers, and not 0 if the key has rows */
        bool stays;       /* between two tasks: the table holds keys, without a reservation */
        bool has_rows;    /* some were added since the last table_start or table_clear */
        size_t kept;      /* keys of earlier tasks in the table */
        size_t rows_out;  /* rows that were read while the keys stay */

        /* Kept keys that map outputs share (rdd/aggregate/table_sharing.h). */
        struct page_keys *shared; /* NULL: none */
        uint32_t *places;         /* by shared key: the number of its slot; reserved */
        VEC(uint32_t) fresh;      /* the slots of keys that are not shared */
        bool reads_fresh;         /* shared keys have no rows any more */
        struct memory_consumer *memory;
        bool dirty; /* some slot may be in use */

        fst_type type; /* key and accumulator */
        fst_fn combine;
        fst_task *task;
        fst_out *out;
        void (*out_reset)(fst_out *out);
        table_rows_fn combine_rows; /* finds slots and combines, for this kind of value and this function */

        /* for rows with other values: see struct aggregate_values */
        const void *zero;
        fst_fn create, merge;
        table_rows_fn take_rows; /* like combine_rows, for incoming values; the same function if the types are equal */
        int (*create_value)(struct combine_table *t, const fst_batch *batch, uint32_t row, uint64_t *bits);

        struct struct_column into, other; /* accumulators that are structs with fields, in a call of a function */
        struct struct_column taken;       /* incoming values that are */
        struct arena encoded;             /* the bytes of such an accumulator */

        uint64_t rows_in, keys;
        struct fst_error *error; /* of the current call */
};

/* The size in bytes of the slots of a table with @capacity. */
static inline size_t table_bytes(const struct combine_table *t, size_t capacity)
{
        return capacity * (t->is_number ? sizeof(struct number_slot) : sizeof(struct table_slot));
}

/* Returns -EINVAL if the function does not combine such values. */
int table_init(struct combine_table *t, const struct aggregate_options *options, struct memory_consumer *memory,
               struct fst_error *error);

/* Allocates slots for @keys keys, or for fewer if memory is short. Returns 0, or FST_MEMORY_E_DENIED if even the
 * smallest table is denied. */
int table_start(struct combine_table *t, size_t keys);

/* The values of the input rows: values to be taken in, or accumulators of a similar table. */
enum table_input { TABLE_VALUES, TABLE_ACCUMULATORS };

/* Adds rows *@at … of @batch. Returns 0, FST_MEMORY_E_DENIED with *@at after the last added row, or negative. */
int table_add(struct combine_table *t, enum table_input input, const fst_batch *batch, uint32_t *at,
              struct fst_error *error);

/* The same for pieces of a text, in a table with keys of kind BYTES whose values are I64 or none, and rows have the
 * same. */
int table_add_pieces(struct combine_table *t, const struct piece_ends *pieces, uint32_t *at, struct fst_error *error);

/* Allocates @size bytes, aligned to 16, that live until the table is cleared. Returns 0, FST_MEMORY_E_DENIED, or
 * negative. */
int table_take(struct combine_table *t, size_t size, void **memory);

/* Reads up to @room rows from slot *@pos on into the columns of @batch (BYTES as views into the table) and advances
 * *@pos. Returns the number of rows, 0 at the end. Frees the slots; their bytes stay until they are reused. With
 * @keep, which needs t->is_positive, the keys stay and their values become 0. */
uint32_t table_read(struct combine_table *t, size_t *pos, uint32_t room, fst_batch *batch, uint64_t *hashes, bool keep);

/* After table_read with @keep has read all rows: table_release leaves the keys in the table for the next table_start if
 * they are likely to come again. Otherwise removes them. */
void table_keep(struct combine_table *t);

/* True if no row was added, although there may be keys of earlier tasks. */
static inline bool table_is_empty(const struct combine_table *t)
{
        return t->count == 0 || (t->kept && !t->has_rows);
}

/* Reads the rows of one bucket only. Start with *@pos = 0. Does not change the slots. */
uint32_t table_read_bucket(struct combine_table *t, uint32_t bucket, size_t *pos, uint32_t room, fst_batch *batch);

/* Removes the content: keeps the slots and frees the pages. */
void table_clear(struct combine_table *t);

/* Removes the content and shrinks to the smallest table. */
void table_shrink(struct combine_table *t);

/* Returns all reservations and, unless keys are kept, removes the content. Keeps the slots mapped for the next task. */
void table_release(struct combine_table *t);

/* Unmaps the slots of a table that was released or never started. */
void table_free(struct combine_table *t);
