/* Keys that Spark renamed or dropped, and the warnings for them. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct deprecated {
        const char *key;
        const char *since;    /* Spark's version */
        const char *instead;  /* the key to set instead; NULL: none */
        const char *sentence; /* the advice without such a key */
};

/* Find @key. Returns false if it is not deprecated. */
bool deprecated_find(const char *key, struct deprecated *out);

/* Warn about @key if it is deprecated: once for each key in the life of the process. Any thread. */
void deprecated_warn(const char *key);

/* Append Spark's warning to @out, or nothing if @key is not deprecated. */
struct buf;
void deprecated_put_warning(struct buf *out, const char *key);
