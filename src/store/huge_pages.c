/*
 * See huge_pages.h. Clearing a huge page takes 0.1 to 0.3 ms; 512 small pages take 0.5 to 0.9 ms with their faults. If
 * a huge page takes longer than that, it costs more than it saves. CPU time is measured, so that other processes do not
 * matter. Two slow pages in a row decide, because one may have been interrupted. The machine may have huge pages again
 * later, so they are tried again after a while.
 */
#include "store/huge_pages.h"

#include <stdatomic.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#ifndef MADV_POPULATE_WRITE /* glibc 2.35 */
#define MADV_POPULATE_WRITE 23
#endif

#define SLOW_NS INT64_C(1500000)
#define SLOW_IN_A_ROW 2
#define PAUSE ((int64_t)4 << 30) /* bytes to map without them */

static atomic_int slow;
static _Atomic int64_t paused; /* bytes still to map without them */

bool huge_pages_wanted(void)
{
        return atomic_load_explicit(&paused, memory_order_relaxed) <= 0;
}

void huge_pages_advise(void *start, size_t size)
{
        if (huge_pages_wanted())
                madvise(start, size, MADV_HUGEPAGE); /* a kernel without huge pages refuses, which does no harm */
        else
                atomic_fetch_sub_explicit(&paused, (int64_t)size, memory_order_relaxed);
}

/* Linux 5.14; an older kernel refuses, and clears each page at its first use. */
static void small_pages_clear(void *start, size_t size)
{
        const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), first = (uintptr_t)start & -page;
        madvise((void *)first, (uintptr_t)start + size - first, MADV_POPULATE_WRITE);
}

void huge_pages_advise_table(void *start, size_t size)
{
        const bool huge = huge_pages_wanted();
        huge_pages_advise(start, size);
        if (!huge)
                small_pages_clear(start, size);
}

void huge_pages_observe(int64_t cpu_ns)
{
        if (cpu_ns < SLOW_NS) {
                atomic_store_explicit(&slow, 0, memory_order_relaxed);
                return;
        }
        if (atomic_fetch_add_explicit(&slow, 1, memory_order_relaxed) + 1 < SLOW_IN_A_ROW)
                return;
        atomic_store_explicit(&slow, 0, memory_order_relaxed);
        atomic_store_explicit(&paused, PAUSE, memory_order_relaxed);
}

static int64_t thread_cpu_ns(void)
{
        struct timespec t;
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
        return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

void huge_pages_first_touch(volatile unsigned char *start, size_t size, bool fresh)
{
        if (!huge_pages_wanted()) {
                small_pages_clear((void *)start, size);
                return;
        }
        if (!fresh)
                return;
        int64_t before = thread_cpu_ns();
        *start = 0;
        huge_pages_observe(thread_cpu_ns() - before);
}
