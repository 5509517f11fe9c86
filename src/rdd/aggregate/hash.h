/*
 * Hashes keys to 64-bit numbers. The hash is the same in every process of an application, because the map side chooses
 * partitions by it and the rows of one key must meet on the reduce side.
 *
 * The two halves have different uses. The low 32 bits choose the partition (hash_partition). The high 32 bits, mixed
 * once more, choose the slot of a hash table and the bucket of a spilled one. So the keys of one partition still spread
 * over a whole table.
 *
 * F64 keys are equal as grouping requires: -0.0 is 0.0, and all NaNs are one key. I64, BYTES and FIXED keys are
 * compared by their bytes.
 */
#pragma once

#include <firesteel/iter.h>

/* Writes the hash of each row's key of @batch into @hashes. Any thread. */
void hash_keys(const fst_batch *batch, uint64_t *hashes);

/* The partition, of @n (> 0), for a key with hash @hash. */
static inline uint32_t hash_partition(uint64_t hash, uint32_t n)
{
        return (uint32_t)(((hash & 0xffffffffu) * n) >> 32);
}
