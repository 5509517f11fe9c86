/*
 * Sorts rows that are a number and nothing else.
 *
 * Such rows are equal if their prefixes are, so that only the prefixes are moved, half as many bytes as entries have.
 */
#pragma once

#include "rdd/sort/sort_index.h"

/* Sorts @entries by prefix. @other is room for @n entries. The values of entries are undefined afterwards. */
void entries_sort_numbers(struct sort_entry *entries, struct sort_entry *other, size_t n);

/* Sorts @n numbers of @numbers into @to. The order of @numbers is undefined afterwards. Fastest in the cache. */
void numbers_sort(uint64_t *numbers, uint64_t *to, size_t n);
