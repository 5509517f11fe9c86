/*
 * Spark's samplers with the same random numbers, so that the same seed takes the same rows of the same partition as in
 * Spark (with replacement only for means below 40, where Spark changes its method).
 *
 *      without replacement     each row at most once: BernoulliSampler
 *      with replacement        each row a Poisson-distributed number of times: PoissonSampler
 *      a range                 rows whose random number lies in it: BernoulliCellSampler, for disjoint splits
 *
 * They use java.util.Random (a linear congruential generator, which seeds the partitions), Marsaglia's xorshift seeded
 * through MurmurHash3, and for replacement with large fractions the generator WELL19937c.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum sampling { SAMPLING_ONCE, SAMPLING_REPLACED, SAMPLING_RANGE };

struct sampling_plan {
        enum sampling how;
        double fraction;     /* fraction of rows; REPLACED: expected number of times for each row */
        double lower, upper; /* RANGE: takes rows with lower <= number < upper */
        int64_t seed;
};

/* Spark's WELL19937c has 624 words. */
#define WELL_WORDS 624

struct well19937c {
        uint32_t words[WELL_WORDS];
        uint32_t at;
};

struct sampler {
        struct sampling_plan plan;
        uint64_t xorshift;
        bool skipping; /* draws the gap between two taken rows instead of a number for each row */
        int64_t skip;  /* remaining rows of the gap */
        bool begun;    /* the first gap was drawn */
        struct well19937c well;
};

/* Starts with the first row of partition @partition. */
void sampler_begin(struct sampler *s, const struct sampling_plan *plan, int partition);

/* The number of times that the next row is taken. */
uint32_t sampler_next(struct sampler *s);

/* The @n-th (from 0) nextLong() of a java.util.Random with @seed. */
int64_t java_random_long(int64_t seed, int n);

/* A java.util.Random with @seed; its nextInt(); its nextInt(@bound), from 0 to @bound - 1. */
uint64_t java_random_start(int64_t seed);
int32_t java_random_int(uint64_t *state);
int32_t java_random_below(uint64_t *state, int32_t bound);

/* Spark's XORShiftRandom with @seed; its next number in [0, 1). */
uint64_t xorshift_start(int64_t seed);
double xorshift_f64(uint64_t *state);

/*
 * The PoissonDistribution of Commons Math with @seed; its next number for @mean (> 0; equal to the original below 40).
 */
void poisson_begin(struct well19937c *well, int64_t seed);
uint32_t poisson_next(struct well19937c *well, double mean);

/* The first nextInt(bound) of Spark's XORShiftRandom with @seed. */
int32_t xorshift_random_int(int64_t seed, int32_t bound);
