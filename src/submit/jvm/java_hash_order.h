/*
 * The order in which Java's HashMap hands out string keys. Spark's launcher puts settings and environment into its
 * command in that order, and so do we: the command is then the same word for word.
 */
#pragma once

#include "base/strmap.h"

#include <stdint.h>

/* String.hashCode: of UTF-16 units; @text is UTF-8, a byte that is not counts as U+FFFD. */
int32_t java_string_hash(const char *text);

/*
 * The entries of @m as a HashMap gives them that was made for @expected entries (0: the default) and filled in the
 * order of @m. An array of m->count pointers that the caller frees.
 */
struct strmap_entry **java_map_order(const struct strmap *m, size_t expected);
