/* Chance in a simulated world; see world_chance.h. */
#include "cmd/simulate/world_chance.h"

#include "base/mem.h"

#include <stdarg.h>
#include <stdio.h>

uint32_t world_chance_draw(struct world_chance *c, uint32_t below)
{
        c->state = c->state * 6364136223846793005u + 1442695040888963407u;
        return (uint32_t)(((c->state >> 32) * below) >> 32);
}

bool world_chance_happens(struct world_chance *c, double probability)
{
        return probability > 0 && world_chance_draw(c, 1000000) < (uint32_t)(probability * 1000000);
}

void world_chance_violate(struct world_chance *c, const char *format, ...)
{
        char text[200];
        va_list args;
        if (c->violation)
                return;
        va_start(args, format);
        vsnprintf(text, sizeof(text), format, args);
        va_end(args);
        c->violation = mem_strdup(text);
}
