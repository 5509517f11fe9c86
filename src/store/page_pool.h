/*
 * The pool of page blocks: PAGE_BLOCK bytes each, in chunks of 8 MiB that the kernel may back with huge pages.
 * Process-wide. Each thread caches a few free blocks in front of the shared lists.
 *
 * The pool does not account for memory: the caller has reserved the block (store/memory.h). The memory manager makes
 * the pool return memory beyond the reservations (page_pool_shed), so that resident memory follows them.
 */
#pragma once

#include "store/page.h"

#include <stddef.h>

#define PAGE_CHUNK ((size_t)8 << 20)

/* Returns a block, aligned to 64 bytes and not cleared; NULL if the system has no memory left. Any thread. */
void *page_pool_get(void);

/* Returns a block to the pool; NULL is allowed. Any thread, not only the one that took it. */
void page_pool_put(void *block);

/* Returns free resident blocks to the system until at most @keep bytes of them are left. Any thread. */
void page_pool_shed(size_t keep);

/* For tests: returns the bytes of free blocks that may be resident, without those in threads' caches. */
size_t page_pool_spare(void);
