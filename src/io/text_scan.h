/* The inner loop of the text reader: finds line ends with vector instructions, 64 bytes at a time. SSE2 on all x86-64,
 * AVX2 if the processor has it, plain C elsewhere. Pure functions on memory; any thread. */
#pragma once

#include <firesteel/types.h>

#include <stddef.h>
#include <stdint.h>

#define TEXT_SCAN_BLOCK 64

struct text_scan {
        size_t at;    /* everything before is scanned */
        size_t start; /* start of the next line */
};

/*
 * Finds line ends in data[s->at … end) while whole blocks remain and @lines (@max free entries) has room for a block
 * full of lines. Returns the number of lines and advances @s. A "\n" directly after the "\r" that ended the previous
 * line, if that is in @data, belongs to the same line end.
 */
uint32_t text_scan_blocks(const char *data, size_t end, struct text_scan *s, fst_bytes *lines, uint32_t max);

/* The position of the first "\n" or "\r" in data[0 … len), or @len. */
size_t text_scan_terminator(const char *data, size_t len);
