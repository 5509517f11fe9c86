/*
 * The keys of a group of rows, on their way into a combining table: in registers' form, hashed, each with the slot
 * where its search begins, whose cache line is being fetched.
 *
 * Large tables exceed the near caches. A whole group is loaded before its first row accesses a slot, so that the
 * memory accesses overlap.
 */
#pragma once

#include "rdd/aggregate/combine_table.h"

#define TABLE_GROUP 256 /* rows; a multiple of 8 */

/* The beginning of a slot, which a search compares as a whole. */
struct group_row {
        uint64_t meta, lo, hi;
        struct table_slot *home;
};

struct group_number {
        uint64_t key; /* as in its slot */
        struct number_slot *home;
};

struct table_group {
        union {
                struct group_row rows[TABLE_GROUP];
                struct group_number numbers[TABLE_GROUP];
        } __attribute__((aligned(64)));
        /* The slots with the key in the line at its home, two bits for each slot, or 0; for number keys. */
        uint8_t found[TABLE_GROUP];
};

#define CACHE_LINE 64
#define SLOTS_IN_LINE (CACHE_LINE / sizeof(struct table_slot))
#define NUMBERS_IN_LINE (CACHE_LINE / sizeof(struct number_slot))

/* The product that determines a row's slot and bucket. Only the upper half of @hash (or meta) counts. */
static inline uint32_t slot_product_of(uint32_t seed, uint64_t hash)
{
        return (uint32_t)(hash >> 32) * seed;
}

/* The start of a search: the first slot of a cache line. @capacity is a power of 2. */
static inline size_t slot_home(uint64_t capacity, uint32_t seed, uint64_t hash, size_t in_line)
{
        return (size_t)((slot_product_of(seed, hash) * capacity) >> 32) & ~(in_line - 1);
}

static inline uint64_t number_hash(uint64_t key)
{
        return key_hash_short((struct short_key){key, 0}, sizeof(key));
}

/* Loads the keys of rows @first … @first + @n - 1 of @batch; n <= TABLE_GROUP. The second loads pieces as keys of kind
 * BYTES. */
void table_group_load(struct table_group *g, const struct combine_table *t, const fst_batch *batch, uint32_t first,
                      uint32_t n);
void table_group_load_pieces(struct table_group *g, const struct combine_table *t, const struct piece_ends *pieces,
                             uint32_t first, uint32_t n);

/* Sets `found` of the @n rows loaded last. It stays true while rows are combined, as their slots do not move. */
void table_group_find_numbers(struct table_group *g, uint32_t n);
