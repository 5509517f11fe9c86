/*
 * Whether to ask the kernel for huge pages. They save page faults and misses of the TLB, but some machines take long to
 * find or clear one: a sort then takes several times the CPU. So the first touch of huge pages is measured, and where
 * it is slow they are not asked for, for the next gigabytes.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HUGE_PAGE ((size_t)2 << 20)

/* Ask for huge pages for a new mapping, unless they are slow. Any thread. */
void huge_pages_advise(void *start, size_t size);

/* Write to a byte at @start, the first in a mapping that was advised: takes the time of that. Any thread. */
void huge_pages_first_touch(volatile unsigned char *start);

/* The first touch of a huge page has taken @cpu_ns. Called by huge_pages_first_touch, and by tests. */
void huge_pages_observe(int64_t cpu_ns);

/* Whether huge_pages_advise asks for them now. */
bool huge_pages_wanted(void);
