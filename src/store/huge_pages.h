/*
 * Decides whether to ask the kernel for huge pages. They save page faults and TLB misses, but some machines take long
 * to find or clear one, and a sort then needs several times the CPU. So the first touch of huge pages is measured. If
 * it is slow, mappings go without them for a while.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HUGE_PAGE ((size_t)2 << 20)

/* Asks for huge pages for a new mapping, unless they are slow. Any thread. */
void huge_pages_advise(void *start, size_t size);

/*
 * The same for memory that is used all over, as a hash table is. Without huge pages the kernel clears all small pages
 * at once: a table is read before it is written, and each of its pages would fault twice and interrupt the other
 * processors.
 */
void huge_pages_advise_table(void *start, size_t size);

/*
 * Makes @size bytes at @start that are not resident ready to be written, after huge_pages_advise. If they begin a huge
 * page, or its first write is that to @start (@fresh), measures the write, and if huge pages are slow, takes the advice
 * back for the rest of the mapping, which ends at @end. Without huge pages the kernel clears all small pages at once.
 * Any thread.
 */
void huge_pages_first_touch(unsigned char *start, size_t size, bool fresh, unsigned char *end);

/* Records that the first touch of a huge page took @cpu_ns. Called by huge_pages_first_touch and by tests. */
void huge_pages_observe(int64_t cpu_ns);

/* True if huge_pages_advise currently asks for huge pages. */
bool huge_pages_wanted(void);
