/*
 * The iteration order of a Java HashMap with string keys. Spark's launcher writes settings and environment in that
 * order. So does Firesteel, to make its command equal word for word.
 */
#pragma once

#include "base/strmap.h"

#include <stdint.h>

/* String.hashCode over UTF-16 units. @text is UTF-8, and an invalid byte counts as U+FFFD. */
int32_t java_string_hash(const char *text);

/*
 * The entries of @m in the order of a HashMap with room for @expected entries (0: the default) that was filled in the
 * order of @m. Returns an array of m->count pointers that the caller frees.
 */
struct strmap_entry **java_map_order(const struct strmap *m, size_t expected);
