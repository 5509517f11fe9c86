/*
 * Sorts numbers as they come: each goes into the bucket of its range, and buckets that fit the cache are sorted when
 * they are read. So a number is written to memory once, and memory for a copy of all numbers is not needed.
 *
 *      struct number_buckets *b = number_buckets_new();
 *      while (at < n)                                  add; if some are left, give a page and repeat
 *              at += number_buckets_add(b, numbers + at, n - at);
 *      while ((sorted = number_buckets_next(b, &n)))   … use n numbers
 *      pages = number_buckets_clear(b);                ready for others
 *      number_buckets_free(b);
 *
 * Belongs to one thread at a time.
 */
#pragma once

#include "store/page.h"

struct number_buckets;

/* Bytes that number_buckets_new allocates, in addition to the pages that it is given; the caller reserves them. */
#define NUMBER_BUCKETS_SIZE ((size_t)640 << 10)

struct number_buckets *number_buckets_new(void);

/* NULL is allowed. Call number_buckets_clear before. */
void number_buckets_free(struct number_buckets *b);

/* Adds up to @n of @numbers, before the first call of number_buckets_next. Returns how many were added. If that is
 * less than @n, call number_buckets_give and repeat. */
size_t number_buckets_add(struct number_buckets *b, const uint64_t *numbers, size_t n);

/* Takes over a page of PAGE_BLOCK bytes as memory for numbers. */
void number_buckets_give(struct number_buckets *b, struct page *page);

/* Returns how many numbers were added since number_buckets_clear. */
size_t number_buckets_count(const struct number_buckets *b);

/* Returns the next *@n numbers in ascending order, valid until the next call, or NULL after the last. Where many
 * numbers are in a small part of the range, this may take a page or two that are not reserved. */
const uint64_t *number_buckets_next(struct number_buckets *b, size_t *n);

/* Removes all numbers. Returns the list of the given pages. */
struct page *number_buckets_clear(struct number_buckets *b);
