/*
 * Estimates the number of distinct hashes: a HyperLogLog of 2^precision one-byte registers with Ertl's estimator ("New
 * cardinality estimation algorithms for HyperLogLog sketches", 2017), which needs no correction tables and is accurate
 * for any number. The relative standard deviation is 1.04 / sqrt(2^precision).
 */
#pragma once

#include <stdint.h>

#define MIN_DISTINCT_PRECISION 4
#define MAX_DISTINCT_PRECISION 20

/* The precision for a relative standard deviation of at most @deviation, by Spark's rule. It may exceed the maximum. */
int distinct_precision(double deviation);

/* Adds @n hashes to @registers, which start as zeros. */
void distinct_add(uint8_t *registers, int precision, const uint64_t *hashes, uint32_t n);

/* Adds the hashes of @other. */
void distinct_merge(uint8_t *registers, int precision, const uint8_t *other);

/* The estimated number of distinct hashes. */
double distinct_estimate(const uint8_t *registers, int precision);
