/*
 * Strata: keys, each with the fraction of its pairs that a sample takes. The choice of pairs equals that of Spark's
 * StratifiedSamplingUtils, with the same random numbers.
 *
 * A sample of exactly ceil(fraction × pairs) for each key takes two passes. Each pair draws a number. The first pass
 * accepts pairs below a lower bound, rejects pairs above an upper bound, and keeps the numbers in between on a wait
 * list. The threshold is the number of the wait list that makes the size exact. The second pass samples by the
 * threshold. The bounds are wide enough that only one sample of 10,000 misses the exact size, by a few rows.
 */
#pragma once

#include "rdd/aggregate/op_reduce.h"

#include <firesteel/emit.h>
#include <firesteel/types.h>

/* The sampling parameters of a key. */
struct stratum {
        double fraction;
        /*
         * Exact samples. Without replacement: a pair is taken if its number is below `threshold`. With replacement: the
         * means by which a pair is accepted, and put on the wait list; a waiting pair is taken if its number is below
         * `threshold`.
         */
        double accept, wait, threshold;
};

struct strata {
        fst_type key;
        size_t n;
        fst_column keys; /* BYTES point into `bytes` */
        char *bytes;
        struct stratum *data; /* one for each key */
        uint32_t *slots;      /* hash table of key index + 1, or 0; at most half full */
        size_t mask;
};

/* Copies @n keys and fractions. The last of equal keys counts. */
void strata_init(struct strata *s, fst_type key, const void *keys, const double *fractions, size_t n);

/* Builds the hash table after all other members are set. `slots` has room for strata_slots entries, all 0. */
size_t strata_slots(size_t n);
void strata_index(struct strata *s);

/* @s may be empty. */
void strata_deinit(struct strata *s);

#define STRATA_NONE UINT32_MAX

/* The stratum of row @row of @batch, whose key has @hash (rdd/aggregate/hash.h), or STRATA_NONE. */
uint32_t strata_find(const struct strata *s, const fst_batch *batch, uint32_t row, uint64_t hash);

/* Bounds for a key with @items pairs so far: a pair whose number is below *@accept is taken, one at or above *@wait is
 * not. NaN if there are no pairs. */
void strata_bounds_once(double fraction, int64_t items, double *accept, double *wait);

/* With replacement, for a key with @items (> 0) pairs: the means by which each pair is accepted and is put on the wait
 * list. */
void strata_bounds_replaced(double fraction, int64_t items, double *accept, double *wait);

/* The threshold for a key with @items pairs, of which @accepted are accepted, and @n sorted numbers on the wait list.
 * False if the bounds missed the exact size. The threshold is then the best available. */
bool strata_threshold(double fraction, int64_t items, int64_t accepted, double *waiting, size_t n, double accept,
                      double *threshold);
