/* Keys that Spark renamed or dropped, and what to tell who still sets them. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct deprecated {
        const char *key;
        const char *since;    /* Spark's version */
        const char *instead;  /* the key to set instead; NULL if there is none */
        const char *sentence; /* what to say where there is none */
};

/* Look @key up; false if nothing is wrong with it. */
bool deprecated_find(const char *key, struct deprecated *out);

/* Warn about @key if it is deprecated: once for each key in the life of the process. From any thread. */
void deprecated_warn(const char *key);

/* Append the warning to @out as Spark words it; nothing if @key is not deprecated. */
struct buf;
void deprecated_put_warning(struct buf *out, const char *key);
