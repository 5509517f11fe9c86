/*
 * A map from strings to strings that remembers the order of first insertion: configuration, environment,
 * headers. It owns copies of both. Lookups are by hash; a few hundred entries are its ordinary size.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct strmap_entry {
        char *key;
        char *value; /* NULL marks a removed entry; loops skip it */
};

struct strmap {
        struct strmap_entry *entries; /* in insertion order */
        size_t len, cap;              /* including removed entries */
        size_t count;                 /* without them */
        unsigned *slots;              /* index + 1 into entries, open addressing; 0 is free */
        size_t n_slots;
};

#define STRMAP_INIT ((struct strmap){0})

void strmap_deinit(struct strmap *m);

/* The value, or NULL. Valid until the entry is set or removed. */
const char *strmap_get(const struct strmap *m, const char *key);

/* Set, replacing; the entry keeps its place. Both strings are copied. */
void strmap_set(struct strmap *m, const char *key, const char *value);

/* Set unless there is a value already; true if it was set. */
bool strmap_set_if_missing(struct strmap *m, const char *key, const char *value);
bool strmap_remove(struct strmap *m, const char *key);

/* Copy every entry of @from into @m, replacing. */
void strmap_merge(struct strmap *m, const struct strmap *from);

/* for (struct strmap_entry *e = NULL; (e = strmap_next(m, e));) … in order of insertion. */
struct strmap_entry *strmap_next(const struct strmap *m, const struct strmap_entry *after);

/* The entries sorted by key, as an array of m->count pointers that the caller frees. */
struct strmap_entry **strmap_sorted(const struct strmap *m);
