/*
 * The pool of page blocks: PAGE_BLOCK bytes each, carved from 8 MiB chunks that the kernel may back with huge
 * pages. Process-wide; each thread keeps a few free blocks of its own before the shared lists are asked.
 *
 * The pool does not account: who takes a block has reserved it (store/memory.h). The memory manager in turn has
 * the pool give back what reservations no longer cover (page_pool_shed), so that resident memory follows them.
 */
#pragma once

#include "store/page.h"

#include <stddef.h>

#define PAGE_CHUNK ((size_t)8 << 20)

/* A block, aligned to 64 bytes and not cleared; NULL when the system has no memory left. Any thread. */
void *page_pool_get(void);

/* Give a block back; NULL is allowed. Any thread, not only the one that took it. */
void page_pool_put(void *block);

/* Return free resident blocks to the system until at most @keep bytes of them are left. Any thread. */
void page_pool_shed(size_t keep);

/* Bytes of free blocks that are (or may be) resident, those in threads' own caches not counted. */
size_t page_pool_spare(void);
