/*
 * Finds a text of digits in many decimal numbers without writing the numbers: an automaton reads four digits at a time.
 * A number costs some nanoseconds.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct digit_search;

/* Makes a search for @text, which is made of digits and '-'. A number has "-" only at its beginning. The caller frees
 * the search. */
struct digit_search *digit_search_new(const char *text);
void digit_search_free(struct digit_search *d);

/* Sets the bit of each of @n values whose decimal form contains the text. @bits has (n + 63) / 64 words. */
void digit_search_mark(const struct digit_search *d, const int64_t *values, size_t n, uint64_t *bits);

/* Values as differences from @least, each of @width bytes: 1, 2 or 4, little-endian. */
struct digit_offsets {
        int64_t least, greatest;
        const void *offsets;
        uint8_t width;
};

/* The same for such values, of which @offsets has at least @n. Eight at once where the processor can. */
void digit_search_mark_offsets(const struct digit_search *d, const struct digit_offsets *values, size_t n,
                               uint64_t *bits);

/* Returns whether the decimal form of a value contains the text. */
bool digit_search_has(const struct digit_search *d, int64_t value);

/* Returns false if no value of a range contains the text; exact if the ends are equal, else for small values only. */
bool digit_search_may_find(const struct digit_search *d, int64_t least, int64_t greatest);
