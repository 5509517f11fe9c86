/*
 * Strata: keys, with what fraction of the pairs of each a sample takes; and which pairs, as Spark's
 * StratifiedSamplingUtils chooses them, number for number.
 *
 * A sample that is to have ceil(fraction × pairs) of a key exactly is drawn twice. The first time, pairs whose number
 * is so small that they are taken for sure are counted, those that are large are left, and the numbers between the two
 * bounds wait: the threshold is that of them which makes the size right. The second time the threshold decides. The
 * bounds are so wide that in one of 10,000 samples they do not hold what is wanted, which is then a few rows off.
 */
#pragma once

#include "rdd/aggregate/op_reduce.h"

#include <firesteel/emit.h>
#include <firesteel/types.h>

/* What is known of a key. */
struct stratum {
        double fraction;
        /* Of an exact sample: what a pair's number is below if it is taken; with replacement, the means by which it is
         * taken for sure, and perhaps; and what a number of the latter is below. */
        double accept, wait, threshold;
};

struct strata {
        fst_type key;
        size_t n;
        fst_column keys; /* BYTES point into `bytes` */
        char *bytes;
        struct stratum *data; /* one for each key */
        uint32_t *slots;      /* a table of key + 1, or 0, at most half full */
        size_t mask;
};

/* Copy @n keys and fractions. Of equal keys the last one counts. */
void strata_init(struct strata *s, fst_type key, const void *keys, const double *fractions, size_t n);

/* Make the table of one whose other members are set, with room for strata_slots in `slots`, all 0. */
size_t strata_slots(size_t n);
void strata_index(struct strata *s);

/* Empty is allowed. */
void strata_deinit(struct strata *s);

#define STRATA_NONE UINT32_MAX

/* The stratum of the key of row @row of @batch, which has @hash (rdd/aggregate/hash.h), or STRATA_NONE. */
uint32_t strata_find(const struct strata *s, const fst_batch *batch, uint32_t row, uint64_t hash);

/*
 * Bounds for a key of which @items pairs were seen so far: below the first number a pair is taken, from the second on
 * it is not. Not numbers for no pairs.
 */
void strata_bounds_once(double fraction, int64_t items, double *accept, double *wait);

/* With replacement, for a key that has @items (> 0) pairs: the means by which each is taken, and waits. */
void strata_bounds_replaced(double fraction, int64_t items, double *accept, double *wait);

/*
 * The threshold for a key with @items pairs of which @accepted are taken for sure, and @n numbers wait, which are
 * sorted. False if the bounds did not hold: it is then the best there is.
 */
bool strata_threshold(double fraction, int64_t items, int64_t accepted, double *waiting, size_t n, double accept,
                      double *threshold);
