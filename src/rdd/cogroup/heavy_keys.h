/*
 * The frequent keys of a join, whose rows are spread over several partitions.
 *
 * The join of a key is the product of its left and right rows. So the rows of one side can be divided among several
 * partitions, if each of these gets all rows of the other side. A key is known by its hash. Keys of equal hashes are
 * treated alike, so a collision does no harm.
 */
#pragma once

#include "rdd/cogroup/broadcast_side.h"

#include <stdbool.h>
#include <stddef.h>

struct heavy_key {
        uint64_t hash;         /* rdd/aggregate/hash.h */
        uint32_t start, parts; /* its partitions: @parts (> 1) from @start on, modulo their number */
        enum join_side spread; /* the side whose rows are divided */
};

struct heavy_keys {
        struct heavy_key *keys; /* by ascending hash; owned */
        uint32_t n;
        uint32_t *slots; /* a hash table: the index of a key plus one; 0: free. Owned */
        uint32_t mask;
};

/* The greatest number of heavy keys of a join into @partitions partitions. */
#define MAX_HEAVY_KEYS(partitions) (2 * (size_t)(partitions))

/* A key of a sample, which stands for @rows rows. */
struct heavy_sample {
        uint64_t hash;
        double rows;
};

/* The samples of a side. */
struct heavy_samples {
        struct heavy_sample *keys;
        size_t n;
};

/*
 * Chooses the keys that would make a partition much larger than the mean of @partitions. The work of a key is the
 * number of its rows and of its pairs. @sides: bits of the sides (enum join_side) that may be spread. Sorts the samples
 * of both sides.
 */
void heavy_keys_choose(struct heavy_keys *h, const struct heavy_samples samples[2], int partitions, uint32_t sides);

/* Copies @from. */
void heavy_keys_copy(struct heavy_keys *h, const struct heavy_keys *from);
void heavy_keys_deinit(struct heavy_keys *h);

/* The slots that @n keys need, and the function that fills them. For keys that were decoded into other memory. */
size_t heavy_keys_slots(size_t n);
void heavy_keys_index(struct heavy_keys *h);

/* The heavy key of @hash, or NULL. */
static inline const struct heavy_key *heavy_keys_find(const struct heavy_keys *h, uint64_t hash)
{
        for (uint32_t at = (uint32_t)(hash >> 32) & h->mask; h->slots[at]; at = (at + 1) & h->mask)
                if (h->keys[h->slots[at] - 1].hash == hash)
                        return &h->keys[h->slots[at] - 1];
        return NULL;
}

/* The partition, of @partitions, of a row with number @row of the spread side. */
static inline uint32_t heavy_key_place(const struct heavy_key *key, uint64_t row, uint32_t partitions)
{
        uint32_t place = key->start + (uint32_t)(row % key->parts);
        return place < partitions ? place : place - partitions;
}
