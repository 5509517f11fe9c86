/* The random numbers of a simulated world, and its first violation. A run depends only on its seed. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct world_chance {
        uint64_t state;
        char *violation; /* the first one; NULL: none. The owner of the world frees it */
};

static inline struct world_chance world_chance_of_seed(uint64_t seed)
{
        return (struct world_chance){.state = seed * 7919 + 1};
}

/* A number from 0 to @below - 1. */
uint32_t world_chance_draw(struct world_chance *c, uint32_t below);

bool world_chance_happens(struct world_chance *c, double probability);

/* Keeps the message unless there was a violation before. */
void world_chance_violate(struct world_chance *c, const char *format, ...) __attribute__((format(printf, 2, 3)));
