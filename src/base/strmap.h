/*
 * A map from strings to strings that keeps insertion order: configuration, environment, headers. It owns copies of keys
 * and values. Lookups hash. A typical map has a few hundred entries.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct strmap_entry {
        char *key;
        char *value; /* NULL marks a removed entry, which loops skip */
};

struct strmap {
        struct strmap_entry *entries; /* in insertion order */
        size_t len, cap;              /* including removed entries */
        size_t count;                 /* without removed entries */
        unsigned *slots;              /* index + 1 into entries, open addressing; 0: free */
        size_t n_slots;
};

#define STRMAP_INIT ((struct strmap){0})

void strmap_deinit(struct strmap *m);

/* Returns the value or NULL. Valid until the entry is set or removed. */
const char *strmap_get(const struct strmap *m, const char *key);

/* Sets or replaces a value. A replaced entry keeps its place. Copies both strings. */
void strmap_set(struct strmap *m, const char *key, const char *value);

/* Sets the value unless the key has one. Returns true if it set it. */
bool strmap_set_if_missing(struct strmap *m, const char *key, const char *value);
bool strmap_remove(struct strmap *m, const char *key);

/* Copies every entry of @from into @m and replaces existing ones. */
void strmap_merge(struct strmap *m, const struct strmap *from);

/* for (struct strmap_entry *e = NULL; (e = strmap_next(m, e));) … in insertion order. */
struct strmap_entry *strmap_next(const struct strmap *m, const struct strmap_entry *after);

/* Returns the entries sorted by key: an array of m->count pointers that the caller frees. */
struct strmap_entry **strmap_sorted(const struct strmap *m);
