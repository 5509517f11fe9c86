/* The edit distance of two words, to suggest what a misspelled name may mean. */
#pragma once

#include <stddef.h>

/*
 * Returns the number of characters to insert, delete, replace, or exchange with their neighbour that turns @a into @b,
 * or @limit + 1 if it exceeds @limit. Takes time in proportion to the words' length times @limit.
 */
int edit_distance(const char *a, size_t a_len, const char *b, size_t b_len, int limit);

/*
 * The limit for a name of @len characters: 2, less for short names, whose neighbours are other names rather than
 * misspelled ones. 0: no suggestion.
 */
int edit_distance_limit(size_t len);
