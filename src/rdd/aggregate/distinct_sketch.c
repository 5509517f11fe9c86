/* See distinct_sketch.h. The first bits of a hash choose the register, which keeps the largest number of zeros that
 * followed, plus 1. */
#include "rdd/aggregate/distinct_sketch.h"

#include "base/hash_table.h"
#include "base/mem.h"

#include <math.h>

int distinct_precision(double deviation)
{
        return MAX((int)ceil(2 * log2(1.054 / deviation)), MIN_DISTINCT_PRECISION);
}

void distinct_add(uint8_t *registers, int precision, const uint64_t *hashes, uint32_t n)
{
        for (uint32_t i = 0; i < n; i++) {
                uint64_t hash = object_hash_number(hashes[i]);
                uint64_t rest = hash << precision | 1ull << (precision - 1); /* bounds the number of zeros */
                uint8_t rank = (uint8_t)(__builtin_clzll(rest) + 1);
                uint8_t *r = &registers[hash >> (64 - precision)];
                *r = MAX(*r, rank);
        }
}

void distinct_merge(uint8_t *registers, int precision, const uint8_t *other)
{
        for (size_t i = 0; i < (size_t)1 << precision; i++)
                registers[i] = registers[i] > other[i] ? registers[i] : other[i];
}

static double distinct_sketch_sigma(double x)
{
        double y = 1, z = x, before;
        if (x == 1)
                return INFINITY;
        do {
                x *= x;
                before = z;
                z += x * y;
                y += y;
        } while (z != before);
        return z;
}

static double distinct_sketch_tau(double x)
{
        double y = 1, z = 1 - x, before;
        if (x == 0 || x == 1)
                return 0;
        do {
                x = sqrt(x);
                before = z;
                y *= 0.5;
                z -= (1 - x) * (1 - x) * y;
        } while (z != before);
        return z / 3;
}

double distinct_estimate(const uint8_t *registers, int precision)
{
        size_t n = (size_t)1 << precision;
        double m = (double)n, counts[66] = {0};
        int most = 64 - precision + 1;
        for (size_t i = 0; i < n; i++)
                counts[MIN(registers[i], (uint8_t)most)]++;
        double z = m * distinct_sketch_tau(1 - counts[most] / m);
        for (int k = most - 1; k >= 1; k--)
                z = 0.5 * (z + counts[k]);
        z += m * distinct_sketch_sigma(counts[0] / m);
        return m * m / (2 * M_LN2 * z);
}
