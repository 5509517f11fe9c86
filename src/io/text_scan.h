/*
 * The inner loop of reading text: finding line ends with vector instructions, 64 bytes at a time. SSE2 everywhere
 * on x86-64, AVX2 where the processor has it, plain C elsewhere. Pure functions on memory; any thread.
 */
#pragma once

#include <firesteel/types.h>

#include <stddef.h>
#include <stdint.h>

#define TEXT_SCAN_BLOCK 64

struct text_scan {
        size_t at;    /* scanned up to here */
        size_t start; /* where the next line begins */
};

/*
 * Find line ends in data[s->at … end) as long as whole blocks are left and @lines, of which @max are free, has room
 * for a block full of them. Returns the number of lines; @s moves on. A "\n" directly behind the "\r" that ended the
 * line before, if that lies in @data, is part of the same end.
 */
uint32_t text_scan_blocks(const char *data, size_t end, struct text_scan *s, fst_bytes *lines, uint32_t max);

/* The position of the first "\n" or "\r" in data[0 … len), or @len. */
size_t text_scan_terminator(const char *data, size_t len);
