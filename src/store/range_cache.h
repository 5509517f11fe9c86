/*
 * Mapped memory of large hash tables, kept for the next one: each stage makes tables anew, and the kernel would clear
 * their memory again at every first touch. Process-wide. Any thread.
 *
 * The cache does not account for memory: the caller has reserved the range (store/memory.h). The memory manager makes
 * it return memory beyond the reservations (range_cache_shed), together with the pool of pages.
 */
#pragma once

#include <stddef.h>

/*
 * Maps @size bytes, a power of 2 and at least a machine page, or takes a range of this size from the cache. All bytes
 * are zero. A range of HUGE_PAGE or more is aligned to it. Returns NULL if the system has no memory left.
 */
void *range_map(size_t size);

/* Ends the use of a range of @size bytes from range_map; NULL is allowed. */
void range_unmap(void *start, size_t size);

/* Returns ranges to the system, the largest first, until at most @keep bytes of them are left. */
void range_cache_shed(size_t keep);

/* The bytes of ranges in the cache. */
size_t range_cache_spare(void);
