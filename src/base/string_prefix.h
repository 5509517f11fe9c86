/* Prefixes and suffixes of strings. */
#pragma once

#include <stdbool.h>
#include <string.h>

static inline bool text_starts_with(const char *text, const char *start)
{
        return strncmp(text, start, strlen(start)) == 0;
}

static inline bool text_ends_with(const char *text, const char *end)
{
        size_t n = strlen(text), m = strlen(end);
        return n >= m && memcmp(text + n - m, end, m) == 0;
}
