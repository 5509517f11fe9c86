/*
 * How many different hashes there were, about: a HyperLogLog of 2^precision registers, one byte each, read by Ertl's
 * estimator ("New cardinality estimation algorithms for HyperLogLog sketches", 2017), which needs no tables of
 * corrections and is right from nothing up. The relative standard deviation is 1.04 / sqrt(2^precision).
 */
#pragma once

#include <stdint.h>

#define MIN_DISTINCT_PRECISION 4
#define MAX_DISTINCT_PRECISION 20

/* The precision with a relative standard deviation of @deviation at most, by Spark's rule; it may exceed the most. */
int distinct_precision(double deviation);

/* Add @n hashes to @registers, which were zero at first. */
void distinct_add(uint8_t *registers, int precision, const uint64_t *hashes, uint32_t n);

/* Add what @other has seen. */
void distinct_merge(uint8_t *registers, int precision, const uint8_t *other);

/* About how many different hashes were added. */
double distinct_estimate(const uint8_t *registers, int precision);
