/*
 * Which rows a sample takes: Spark's samplers, number for number (with replacement for means below 40, where Spark
 * begins to draw in another way), so that the same seed takes the same rows of the same partition there and here.
 *
 *      without replacement     each row once or not: BernoulliSampler
 *      with replacement        each row so many times as a Poisson distribution says: PoissonSampler
 *      a range                 rows whose random number lies in it: BernoulliCellSampler, for splits that share none
 *
 * What they are made of: java.util.Random (its linear congruence seeds the partitions), Marsaglia's xorshift seeded
 * through MurmurHash3, and for frequent replacement the generator WELL19937c.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum sampling { SAMPLING_ONCE, SAMPLING_REPLACED, SAMPLING_RANGE };

struct sampling_plan {
        enum sampling how;
        double fraction;     /* of rows; REPLACED: how often each is taken on average */
        double lower, upper; /* RANGE: lower <= number < upper */
        int64_t seed;
};

/* Spark's WELL19937c has 624 words. */
#define WELL_WORDS 624

struct well {
        uint32_t words[WELL_WORDS];
        uint32_t at;
};

struct sampler {
        struct sampling_plan plan;
        uint64_t xorshift;
        bool skipping; /* rows are skipped by how many lie between two that are taken */
        int64_t skip;  /* as many more */
        bool begun;    /* the first gap was drawn */
        struct well well;
};

/* Begin with the first row of partition @partition. */
void sampler_begin(struct sampler *s, const struct sampling_plan *plan, int partition);

/* How many times the next row is taken. */
uint32_t sampler_next(struct sampler *s);

/* The @n-th (from 0 on) nextLong() of a java.util.Random with @seed. */
int64_t java_random_long(int64_t seed, int n);

/* A java.util.Random with @seed, its nextInt(), and its nextInt(@bound), of 0 … @bound - 1. */
uint64_t java_random_start(int64_t seed);
int32_t java_random_int(uint64_t *state);
int32_t java_random_below(uint64_t *state, int32_t bound);

/* Spark's XORShiftRandom with @seed, and its next number in [0, 1). */
uint64_t xorshift_start(int64_t seed);
double xorshift_f64(uint64_t *state);

/* Commons-math's PoissonDistribution with @seed, and its next number for @mean (> 0; equal to it below 40). */
void poisson_begin(struct well *well, int64_t seed);
uint32_t poisson_next(struct well *well, double mean);

/* The first nextInt(bound) of Spark's XORShiftRandom with @seed. */
int32_t xorshift_random_int(int64_t seed, int32_t bound);
