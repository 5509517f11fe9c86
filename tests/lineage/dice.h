/* Random numbers from a seed: the same in each run. */
#pragma once

#include "cell.h"

struct dice {
        uint64_t seed, rolled;
};

static inline uint64_t dice_number(struct dice *d)
{
        return mix(mix(d->seed, 99), ++d->rolled);
}

/* 0 … sides - 1 */
static inline int dice_roll(struct dice *d, int sides)
{
        return (int)(dice_number(d) % (uint64_t)sides);
}

static inline bool dice_one_in(struct dice *d, int n)
{
        return dice_roll(d, n) == 0;
}
