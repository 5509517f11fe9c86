/* See sampler.h. */
#include "rdd/aggregate/sampler.h"

#include "base/mem.h"

#include <math.h>

/* ---------------------------------------------------------------------------------------------- java.util.Random */

#define JAVA_MULTIPLIER 0x5deece66dull
#define JAVA_MASK ((1ull << 48) - 1)

uint64_t java_random_start(int64_t seed)
{
        return ((uint64_t)seed ^ JAVA_MULTIPLIER) & JAVA_MASK;
}

static int32_t java_next(uint64_t *state, int bits)
{
        *state = (*state * JAVA_MULTIPLIER + 0xb) & JAVA_MASK;
        return (int32_t)(uint32_t)(*state >> (48 - bits));
}

int64_t java_random_long(int64_t seed, int n)
{
        uint64_t state = java_random_start(seed);
        for (int i = 0; i < 2 * n; i++)
                java_next(&state, 32);
        uint64_t high = (uint64_t)(int64_t)java_next(&state, 32) << 32;
        return (int64_t)(high + (uint64_t)(int64_t)java_next(&state, 32));
}

int32_t java_random_int(uint64_t *state)
{
        return java_next(state, 32);
}

int32_t java_random_below(uint64_t *state, int32_t bound)
{
        uint32_t range = (uint32_t)bound, bits = (uint32_t)java_next(state, 31);
        if ((range & (range - 1)) == 0)
                return (int32_t)((uint64_t)range * bits >> 31);
        while (bits - bits % range + (range - 1) > INT32_MAX) /* rejects the last, incomplete range */
                bits = (uint32_t)java_next(state, 31);
        return (int32_t)(bits % range);
}

/* -------------------------------------------------------------------------------------------------- MurmurHash3 */

static uint32_t sampler_rotate(uint32_t x, int by)
{
        return x << by | x >> (32 - by);
}

/* MurmurHash3 (x86, 32 bits) of the eight bytes of @seed in big-endian order. */
static uint32_t sampler_murmur(uint64_t seed, uint32_t hash)
{
        uint32_t words[2] = {__builtin_bswap32((uint32_t)(seed >> 32)), __builtin_bswap32((uint32_t)seed)};
        for (int i = 0; i < 2; i++) {
                hash ^= sampler_rotate(words[i] * 0xcc9e2d51u, 15) * 0x1b873593u;
                hash = sampler_rotate(hash, 13) * 5 + 0xe6546b64u;
        }
        hash ^= 8;
        hash = (hash ^ hash >> 16) * 0x85ebca6bu;
        hash = (hash ^ hash >> 13) * 0xc2b2ae35u;
        return hash ^ hash >> 16;
}

#define ARRAY_SEED 0x3c074a61u /* Scala's seed for hashes of arrays */

/* ----------------------------------------------------------------------------------------------------- xorshift */

uint64_t xorshift_start(int64_t seed)
{
        uint32_t low = sampler_murmur((uint64_t)seed, ARRAY_SEED), high = sampler_murmur((uint64_t)seed, low);
        return (uint64_t)high << 32 | low;
}

static uint64_t xorshift_bits(uint64_t *state, int bits)
{
        uint64_t x = *state;
        x ^= x << 21;
        x ^= x >> 35;
        x ^= x << 4;
        *state = x;
        return x & ((1ull << bits) - 1);
}

int32_t xorshift_random_int(int64_t seed, int32_t bound)
{
        uint64_t state = xorshift_start(seed);
        int32_t bits = (int32_t)xorshift_bits(&state, 31);
        if ((bound & (bound - 1)) == 0)
                return (int32_t)(((int64_t)bound * bits) >> 31);
        int32_t rest = bits % bound;
        while ((int64_t)bits - rest + bound - 1 > INT32_MAX) {
                bits = (int32_t)xorshift_bits(&state, 31);
                rest = bits % bound;
        }
        return rest;
}

double xorshift_f64(uint64_t *state)
{
        uint64_t high = xorshift_bits(state, 26) << 27;
        return (double)(high + xorshift_bits(state, 27)) * 0x1p-53;
}

/* --------------------------------------------------------------------------------------------------- WELL19937c */

static void well_seed(struct well19937c *s, int64_t seed)
{
        s->words[0] = (uint32_t)((uint64_t)seed >> 32);
        s->words[1] = (uint32_t)seed;
        for (uint32_t i = 2; i < WELL_WORDS; i++) {
                int64_t before = (int32_t)s->words[i - 2]; /* an int: the shift keeps its sign */
                s->words[i] = (uint32_t)(1812433253ll * (before ^ before >> 30) + i);
        }
        s->at = 0;
}

static uint32_t well_bits(struct well19937c *s, int bits)
{
        uint32_t *v = s->words, at = s->at;
        uint32_t before = (at + WELL_WORDS - 1) % WELL_WORDS, before2 = (at + WELL_WORDS - 2) % WELL_WORDS;
        uint32_t v0 = v[at], m1 = v[(at + 70) % WELL_WORDS], m2 = v[(at + 179) % WELL_WORDS];
        uint32_t m3 = v[(at + 449) % WELL_WORDS];
        uint32_t z0 = (v[before] & 0x80000000u) ^ (v[before2] & 0x7fffffffu);
        uint32_t z1 = (v0 ^ v0 << 25) ^ (m1 ^ m1 >> 27);
        uint32_t z2 = (m2 >> 9) ^ (m3 ^ m3 >> 1);
        uint32_t z3 = z1 ^ z2;
        uint32_t z4 = z0 ^ (z1 ^ z1 << 9) ^ (z2 ^ z2 << 21) ^ (z3 ^ z3 >> 21);
        v[at] = z3;
        v[before] = z4;
        v[before2] &= 0x80000000u;
        s->at = before;
        z4 ^= z4 << 7 & 0xe46e1700u;
        z4 ^= z4 << 15 & 0x9b868000u;
        return z4 >> (32 - bits);
}

static double well_f64(struct well19937c *s)
{
        uint64_t high = (uint64_t)well_bits(s, 26) << 26;
        return (double)(high | well_bits(s, 26)) * 0x1p-52;
}

/* ------------------------------------------------------------------------------------------------------- Poisson */

static uint32_t sampler_poisson_of(struct well19937c *s, double mean)
{
        double p = exp(-mean), r = 1.0;
        uint32_t n = 0;
        while (n < 1000 * mean) {
                r *= well_f64(s);
                if (r < p)
                        break;
                n++;
        }
        return n;
}

/*
 * From this mean on Spark uses another algorithm. Here a large mean is a sum of small ones, whose exp(-mean) is not 0.
 */
#define POISSON_LARGE 40.0

void poisson_begin(struct well19937c *s, int64_t seed)
{
        well_seed(s, seed);
}

uint32_t poisson_next(struct well19937c *s, double mean)
{
        uint32_t n = 0;
        mean = MIN(mean, (double)INT32_MAX); /* at most INT32_MAX, as a Java int */
        for (; mean >= POISSON_LARGE; mean -= POISSON_LARGE / 2)
                n += sampler_poisson_of(s, POISSON_LARGE / 2);
        return n + sampler_poisson_of(s, mean);
}

/* ----------------------------------------------------------------------------------------------------- sampling */

/* Up to this fraction Spark draws gaps between rows instead of a number for each row. */
#define GAP_FRACTION 0.4
#define MIN_RANDOM 5e-11

static void sampler_draw_gap(struct sampler *s)
{
        double f = s->plan.fraction;
        double scale = s->plan.how == SAMPLING_REPLACED ? -f : log1p(-f);
        s->skip = (int64_t)(log(MAX(xorshift_f64(&s->xorshift), MIN_RANDOM)) / scale);
}

void sampler_begin(struct sampler *s, const struct sampling_plan *plan, int partition)
{
        int64_t seed = plan->how == SAMPLING_RANGE ? (int64_t)((uint64_t)plan->seed + (uint64_t)partition)
                                                   : java_random_long(plan->seed, partition);
        s->plan = *plan;
        s->skipping = plan->how != SAMPLING_RANGE && plan->fraction > 0 && plan->fraction <= GAP_FRACTION;
        s->begun = false;
        s->xorshift = xorshift_start(seed);
        if (plan->how == SAMPLING_REPLACED && !s->skipping)
                poisson_begin(&s->well, seed);
}

/* A Poisson-distributed number that is not 0. */
static uint32_t sampler_poisson_at_least_one(struct sampler *s)
{
        double q = exp(-s->plan.fraction);
        double p = q + (1.0 - q) * xorshift_f64(&s->xorshift);
        uint32_t n = 1;
        for (p *= xorshift_f64(&s->xorshift); p > q; p *= xorshift_f64(&s->xorshift))
                n++;
        return n;
}

static uint32_t sampler_next_by_gap(struct sampler *s)
{
        if (!s->begun) {
                sampler_draw_gap(s);
                s->begun = true;
        }
        if (s->skip > 0) {
                s->skip--;
                return 0;
        }
        uint32_t n = s->plan.how == SAMPLING_REPLACED ? sampler_poisson_at_least_one(s) : 1;
        sampler_draw_gap(s);
        return n;
}

uint32_t sampler_next(struct sampler *s)
{
        double fraction = s->plan.fraction;
        if (s->plan.how == SAMPLING_RANGE) {
                double x = xorshift_f64(&s->xorshift);
                return x >= s->plan.lower && x < s->plan.upper;
        }
        if (fraction <= 0)
                return 0;
        if (s->skipping)
                return sampler_next_by_gap(s);
        if (s->plan.how == SAMPLING_REPLACED)
                return poisson_next(&s->well, fraction);
        return fraction >= 1 || xorshift_f64(&s->xorshift) <= fraction;
}
