/* Numbers of several distributions, for the tests of sorts. */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum number_distribution {
        RANDOM,
        EQUAL,
        TWO,
        SMALL,
        MOSTLY_ONE,
        RISING,
        FALLING,
        POWERS,
        LATE_OUTLIERS,
        DISTRIBUTIONS
};

/* Number @i of @n. */
static inline uint64_t number_of(enum number_distribution distribution, size_t i, size_t n)
{
        uint64_t random = (i + 1) * 0x9e3779b97f4a7c15u;
        random = (random ^ random >> 31) * 0xbf58476d1ce4e5b9u;
        random ^= random >> 29;
        switch (distribution) {
        case RANDOM:
                return random;
        case EQUAL:
                return UINT64_MAX;
        case TWO:
                return random & UINT64_C(1) << 63;
        case SMALL:
                return random % 1000;
        case MOSTLY_ONE:
                return random % 100 ? 5 : random;
        case RISING:
                return i;
        case FALLING:
                return UINT64_MAX - i;
        case POWERS: /* numbers that share all but their lowest bits with many others, one at a time */
                return UINT64_C(1) << random % 64 | random % 3;
        default: /* the first numbers are in the middle of the others */
                return i < n / 2 ? (UINT64_C(1) << 40) + random % 1000000 : random;
        }
}

/* Compares two numbers for qsort. */
static inline int number_compare(const void *a, const void *b)
{
        uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
        return (x > y) - (x < y);
}
