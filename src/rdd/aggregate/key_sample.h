/*
 * Counts the distinct keys of a stream of rows by a sample of keys: those whose hashes begin with some zero bits. The
 * sample holds all of these keys, each once, so that rows that repeat a key do not change it. When it is full, one more
 * bit must be zero, and half of the keys leave it. A row of another key costs a comparison.
 *
 * The estimate is exact up to KEY_SAMPLE_ROOM / 2 keys. Beyond, its standard deviation is about 2 %.
 */
#pragma once

#include <stdint.h>

#define KEY_SAMPLE_ROOM 8192 /* slots, of which half are used at most */

struct key_sample {
        uint64_t slots[KEY_SAMPLE_ROOM]; /* hashes, open addressing; 0: free */
        uint32_t n;
        uint32_t zeros; /* upper bits of a hash that must be zero */
};

void key_sample_clear(struct key_sample *s);

/* The same for a stream of so many keys that the first @zeros bits will have to be zero soon. */
void key_sample_start(struct key_sample *s, uint32_t zeros);

/* Adds the keys of @n rows by their hashes (rdd/aggregate/hash.h). */
void key_sample_add(struct key_sample *s, const uint64_t *hashes, uint32_t n);

/* The estimated number of distinct keys added. */
static inline uint64_t key_sample_estimate(const struct key_sample *s)
{
        return (uint64_t)s->n << s->zeros;
}
