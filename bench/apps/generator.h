/*
 * The data of the benchmarks: numbers that depend only on their index. Our applications, the plain C programs of
 * bench/reference and (rewritten in Java) those of bench/spark use the same ones, so that results can be compared.
 */
#pragma once

#include <stdint.h>
#include <string.h>

/* SplitMix64, a bijection of 64 bits: different indexes give different numbers. */
static inline uint64_t mix(uint64_t i)
{
        uint64_t z = i + 0x9e3779b97f4a7c15u;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
        return z ^ (z >> 31);
}

/* Returns a number from 0 to n - 1, for n up to 2^31. */
static inline int64_t below(uint64_t random, int64_t n)
{
        return (int64_t)((random >> 32) * (uint64_t)n >> 32);
}

static inline double unit(uint64_t random)
{
        return (double)(random >> 11) * 0x1p-53;
}

/* The digest of a result: the number of rows, and a sum that does not depend on their order. */
struct total {
        int64_t rows;
        uint64_t sum;
};

static inline void total_add(struct total *total, int64_t rows, uint64_t sum)
{
        total->rows += rows;
        total->sum += sum;
}

/* ---------------------------------------------------------------------------------------------------- PageRank */

static inline int64_t link_from(int64_t i, int64_t pages)
{
        return below(mix(2 * (uint64_t)i), pages);
}

static inline int64_t link_to(int64_t i, int64_t pages)
{
        return below(mix(2 * (uint64_t)i + 1), pages);
}

/* The number of pages with a rank, the sum of ranks, and a sum that depends on the page of each rank. */
struct ranks {
        double pages, sum, weighted;
};

static inline void ranks_add(struct ranks *ranks, int64_t page, double rank)
{
        ranks->pages++;
        ranks->sum += rank;
        ranks->weighted += rank * (double)(page % 1000);
}

/* ------------------------------------------------------------------------------------------------------ KMeans */

enum { DIMENSIONS = 10, CENTRES = 10 };

struct clouds {
        double x[CENTRES][DIMENSIONS], n[CENTRES]; /* the sums of n points each; a centre is the sum of one */
};

/* Point @i lies in one of CENTRES overlapping cubes. The first CENTRES points are the initial centres. */
static inline void point_make(int64_t i, double *x)
{
        uint64_t cube = (uint64_t)below(mix(~(uint64_t)i), CENTRES);
        for (uint64_t d = 0; d < DIMENSIONS; d++)
                x[d] = 6 * unit(mix(~(cube * DIMENSIONS + d) << 32)) + 4 * unit(mix((uint64_t)i * DIMENSIONS + d));
}

/* A vector of numbers that fits the processor's registers. */
#if defined(__AVX512F__)
#define LANES 8
#elif defined(__AVX2__)
#define LANES 4
#else
#define LANES 2
#endif
typedef double lanes __attribute__((vector_size(LANES * 8)));
typedef int64_t lanes_of_i64 __attribute__((vector_size(LANES * 8)));

/*
 * Adds each of @n points to the sum of its nearest centre. Transposes a block of points into columns, to compute the
 * distances of several points at a time. Selects the nearest centre without a branch, because the choice is
 * unpredictable. Omits the part of the (squared, halved) distance that is the same for all centres.
 */
static inline void clouds_take(struct clouds *sums, const struct clouds *centres, const double *points, size_t n)
{
        double half[CENTRES] = {0};
        for (int c = 0; c < CENTRES; c++)
                for (int d = 0; d < DIMENSIONS; d++)
                        half[c] += centres->x[c][d] * centres->x[c][d] / 2;
        enum { BLOCK = 8 };
        union {
                lanes group[BLOCK / LANES];
                double of[BLOCK];
        } column[DIMENSIONS] = {0};
        union {
                lanes_of_i64 group[BLOCK / LANES];
                int64_t of[BLOCK];
        } nearest;
        for (size_t at = 0; at < n; at += BLOCK, points += BLOCK * DIMENSIONS) {
                size_t some = n - at < BLOCK ? n - at : BLOCK;
                for (size_t i = 0; i < some; i++)
                        for (int d = 0; d < DIMENSIONS; d++)
                                column[d].of[i] = points[i * DIMENSIONS + (size_t)d];
                for (int g = 0; g < BLOCK / LANES; g++) {
                        lanes least = {0}, point[DIMENSIONS];
                        lanes_of_i64 which = {0};
                        for (int d = 0; d < DIMENSIONS; d++)
                                point[d] = column[d].group[g];
                        for (int c = 0; c < CENTRES; c++) {
                                lanes far = half[c] - centres->x[c][0] * point[0];
                                for (int d = 1; d < DIMENSIONS; d++)
                                        far -= centres->x[c][d] * point[d];
                                lanes_of_i64 nearer = c == 0 ? ~(lanes_of_i64){0} : far < least;
                                which = (nearer & c) | (~nearer & which);
                                least = (lanes)((nearer & (lanes_of_i64)far) | (~nearer & (lanes_of_i64)least));
                        }
                        nearest.group[g] = which;
                }
                for (size_t i = 0; i < some; i++) {
                        int64_t c = nearest.of[i];
                        sums->n[c]++;
                        for (int d = 0; d < DIMENSIONS; d++)
                                sums->x[c][d] += points[i * DIMENSIONS + (size_t)d];
                }
        }
}

/* Moves each centre to the mean of its points. A centre without points stays. */
static inline void clouds_move(struct clouds *centres, const struct clouds *sums)
{
        for (int i = 0; i < CENTRES; i++)
                for (int d = 0; d < DIMENSIONS && sums->n[i] > 0; d++)
                        centres->x[i][d] = sums->x[i][d] / sums->n[i];
}

/* -------------------------------------------------------------------------------- join, group_by_key, distinct */

/* The right side has each even key (0, 2, …) of the left side once. */
static inline int64_t left_key(int64_t i, int64_t right)
{
        return below(mix((uint64_t)i), 2 * right);
}

static inline int64_t right_value(int64_t key)
{
        return (int64_t)(mix(~(uint64_t)key) >> 8);
}

/* Three of ten pairs have the key 0; the others have one of @keys. */
static inline int64_t skewed_key(int64_t i, int64_t keys)
{
        uint64_t random = mix((uint64_t)i);
        return below(random, 10) < 3 ? 0 : below(mix(random), keys);
}

static inline uint64_t group_digest(int64_t key, int64_t rows, uint64_t sum)
{
        return mix((uint64_t)key) * (uint64_t)rows + sum;
}

/* Each number occurs twice if @n is even. */
static inline int64_t twice(int64_t i, int64_t n)
{
        return (int64_t)mix((uint64_t)(i % (n / 2)));
}

/* ----------------------------------------------------------------------------------------- rows of 2 GiB of them */

/* cartesian multiplies the rows with the numbers 1, 2, …, FACTORS. */
enum { WORDS = 12, ROW = WORDS * 8, FACTORS = 4 };

static inline void row_make(int64_t seed, uint64_t *words)
{
        for (uint64_t i = 0; i < WORDS; i++)
                words[i] = mix((uint64_t)seed * WORDS + i);
}

static inline uint64_t row_digest(const char *row)
{
        uint64_t digest = 0, word;
        for (int i = 0; i < WORDS; i++) {
                memcpy(&word, row + i * 8, 8);
                digest = digest * 31 + word;
        }
        return digest;
}

static inline int64_t joined_digest(int64_t key, uint64_t left, uint64_t right)
{
        return (int64_t)(mix((uint64_t)key) + left + 3 * right);
}

/*
 * Pairs for join and cogroup with @n rows in total. The left side has three quarters: n / 4 keys, three times each. The
 * right side has the rest, each key once. The first half of them are keys of the left side.
 */
static inline int64_t large_left_key(int64_t i, int64_t n)
{
        return (int64_t)mix((uint64_t)(i % (n / 4)));
}

static inline int64_t large_right_key(int64_t i, int64_t n)
{
        return (int64_t)mix((uint64_t)(n / 8 + i));
}

/* For group_by_key: each key sixteen times. */
static inline int64_t large_group_key(int64_t i, int64_t n)
{
        return (int64_t)mix((uint64_t)(i % (n / 16)));
}
