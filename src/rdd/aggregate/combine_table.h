/*
 * The hash table inside an aggregate: keys and their accumulators, in memory only. Everything about memory that is
 * refused is decided by rdd/aggregate/aggregate.c; here it is an answer.
 *
 * There are two kinds of slots. Keys that are numbers have slots of 16 bytes: the key and the accumulator. Any other
 * key has one of 32: half of the hash and the length of the key, the key itself up to 16 bytes, and the accumulator.
 * Longer keys, and accumulators that are BYTES or larger than 8 bytes, lie in pages that live as long as the content.
 *
 * Slots are found by the upper bits of (half of the hash × seed), and collisions go to the next slot; a search begins
 * at the first slot of a cache line, which holds four or two. So the slots in their order are ordered by that product: a
 * growing table is copied from front to back, and the content can be written out bucket by bucket without sorting it.
 *
 * The seed differs between tables that read what others wrote out: rows that arrive in the order of the table's
 * own product would all push into the same few slots.
 */
#pragma once

#include "rdd/aggregate/aggregate.h"
#include "rdd/pipeline/key.h"
#include "store/page.h"

#define TABLE_BUCKETS_LOG2 4
#define TABLE_BUCKETS (1u << TABLE_BUCKETS_LOG2)

union slot_value {
        uint64_t bits;
        int64_t i64;
        double f64;
        char small[8];
        void *out; /* FIXED of more than 8 bytes, or struct table_cell */
};

struct slot {
        uint64_t meta;   /* upper half of the hash << 32 | length of the key + 1; 0 is a free slot */
        uint64_t lo, hi; /* the key; if it is longer: pointer, and all of the hash */
        union slot_value value;
};

/* The slot of a key that is a number: its bits ^ NUMBER_FREE, 0 in a free slot. The key NUMBER_FREE is aside. */
struct number_slot {
        uint64_t key;
        union slot_value value;
};
#define NUMBER_FREE 0x9d4b8e5f3a61c720u

/* An accumulator that is BYTES. */
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

#define TABLE_GROUP 256

/* What the rows of a group look for, and the slots at which each begins to look. */
struct table_group {
        uint64_t meta[TABLE_GROUP], lo[TABLE_GROUP], hi[TABLE_GROUP]; /* of a number: lo, as in its slot */
        union {
                struct slot *home[TABLE_GROUP];
                struct number_slot *number_home[TABLE_GROUP];
        };
};

struct combine_table;

/* Find or make slots for @n rows of @batch from @first on and combine; *@done rows are in. */
typedef int (*table_rows_fn)(struct combine_table *t, const struct table_group *group, uint32_t n,
                             const fst_batch *batch, uint32_t first, uint32_t *done);

struct combine_table {
        union {
                char *memory_of_slots;
                struct slot *slots;
                struct number_slot *numbers;
        };
        bool is_number;           /* keys are: `numbers` */
        bool has_aside;           /* of them NUMBER_FREE is there: */
        struct number_slot aside; /* its slot */
        size_t capacity;          /* of slots: a power of 2, or 0 */
        size_t count, limit; /* used; grow beyond */
        size_t peak;         /* the largest count since the last table_start */
        uint32_t seed;
        struct page *pages; /* newest first: long keys and values; `used` counts */
        size_t unreserved;  /* bytes of those that were taken without asking */
        bool may_overdraw;  /* an empty table that is refused a page for a row takes one all the same */
        struct memory_consumer *memory;
        bool dirty; /* slots are not all free */

        fst_type type; /* key and accumulator */
        fst_fn combine;
        fst_task *task;
        fst_out *out;
        void (*out_reset)(fst_out *out);
        table_rows_fn combine_rows; /* finds slots and combines, for this kind of value and this function */

        /* Where rows of other values are taken into accumulators: struct aggregate_values */
        const void *zero;
        fst_fn create, merge;
        table_rows_fn take_rows; /* as combine_rows; the same where there are no other values */
        int (*create_value)(struct combine_table *t, const fst_batch *batch, uint32_t row, uint64_t *bits);

        uint64_t rows_in, keys;
        struct fst_error *error; /* of the call that is under way */
};

/* Bytes that the slots of a table of @capacity take. */
static inline size_t table_bytes(const struct combine_table *t, size_t capacity)
{
        return capacity * (t->is_number ? sizeof(struct number_slot) : sizeof(struct slot));
}

/* -EINVAL when the function does not combine such values. */
int table_init(struct combine_table *t, const struct aggregate_options *options, struct memory_consumer *memory,
               struct fst_error *error);

/* Have slots for @keys keys if memory allows, otherwise fewer: 0; FST_MEMORY_E_DENIED for not even the least. */
int table_start(struct combine_table *t, size_t keys);

/* What rows bring: values as they came in, or accumulators, which a table like this one has made. */
enum table_input { TABLE_VALUES, TABLE_ACCUMULATORS };

/* Rows *@at … of @batch; 0, FST_MEMORY_E_DENIED with *@at behind the last row that is in, or negative. */
int table_add(struct combine_table *t, enum table_input input, const fst_batch *batch, uint32_t *at,
              struct fst_error *error);

/* @size bytes, aligned to 16, that live until the table is cleared: 0, FST_MEMORY_E_DENIED, or negative. */
int table_take(struct combine_table *t, size_t size, void **memory);

/*
 * Up to @room rows from slot *@pos on into the columns of @batch (BYTES as views into the table); *@pos moves on.
 * Returns the number of rows, 0 at the end. With @clear the slots become free (their bytes stay until they are
 * used again).
 */
uint32_t table_read(struct combine_table *t, size_t *pos, uint32_t room, fst_batch *batch, uint64_t *hashes,
                    bool clear);

/* The same for the rows of one bucket alone; begin with *@pos = 0. Slots stay as they are. */
uint32_t table_read_bucket(struct combine_table *t, uint32_t bucket, size_t *pos, uint32_t room, fst_batch *batch);

/* Forget the content; the slots stay, pages go back. */
void table_clear(struct combine_table *t);

/* Forget the content, keep only the least table and give the rest back. */
void table_shrink(struct combine_table *t);

/* Forget the content and give all reservations back; the slots stay for the next task. */
void table_release(struct combine_table *t);

/* Unmap the slots of a table that was released, or never started. */
void table_free(struct combine_table *t);
