/* Finds a name in a sorted table of names. */
#pragma once

#include <stddef.h>
#include <string.h>

/* Returns the position of @name among the @n names that @at gives, or -1. */
static inline ptrdiff_t sorted_names_find(const char *name, size_t n, const char *(*at)(size_t position))
{
        size_t low = 0, high = n;
        while (low < high) {
                size_t middle = low + (high - low) / 2;
                int order = strcmp(name, at(middle));
                if (order == 0)
                        return (ptrdiff_t)middle;
                if (order < 0)
                        high = middle;
                else
                        low = middle + 1;
        }
        return -1;
}
