/* Comparisons and parts of strings. */
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

/* Either may be NULL, which equals NULL only. */
static inline bool text_equals(const char *a, const char *b)
{
        return a == b || (a && b && strcmp(a, b) == 0);
}

/* Returns the part of @path after its last slash. */
static inline const char *text_base_name(const char *path)
{
        const char *slash = strrchr(path, '/');
        return slash ? slash + 1 : path;
}
