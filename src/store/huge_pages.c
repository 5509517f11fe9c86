/*
 * See huge_pages.h. Clearing a huge page takes 0.1 to 0.3 ms; 512 small pages take 0.5 to 0.9 ms with their faults. If
 * a huge page takes longer than that, it costs more than it saves. CPU time is measured, so that other processes do not
 * matter. Two slow pages in a row decide, because one may have been interrupted.
 *
 * A page of 2 ms is no sign of a slow machine: on one whose huge pages take 0.25 ms, every fourth takes that long, and
 * the small ones cost more. So what such pages cost beyond small ones is a debt that fast ones pay back, and only a
 * large debt pauses.
 *
 * A slow page takes 6 ms where the host of a virtual machine provides its memory only then, and fast pages may follow
 * at once: so the first pause is short. Its end measures one page. Each slow page doubles the next pause, each fast one
 * halves it. Thus a wrong pause costs about as much as a wrong measurement.
 */
#include "store/huge_pages.h"

#include "base/clock.h"
#include "base/mem.h"

#include <stdatomic.h>
#include <sys/mman.h>
#include <unistd.h>

#ifndef MADV_POPULATE_WRITE /* glibc 2.35 */
#define MADV_POPULATE_WRITE 23
#endif

#define CLEARED_NS INT64_C(20000) /* less: the page was there, or is a small one */
#define SMALL_NS INT64_C(700000)  /* 512 small pages */
#define SLOW_NS INT64_C(3000000)
#define MAX_DEBT_NS INT64_C(20000000)
#define SLOW_IN_A_ROW 2
#define MIN_PAUSE ((int64_t)32 << 20) /* bytes to map without them */
#define MAX_PAUSE ((int64_t)4 << 30)

/* Updates of two threads may get lost, which delays a decision by a page. */
static atomic_int slow;
static _Atomic int64_t debt_ns;
static _Atomic int64_t paused; /* bytes still to map without them */
static _Atomic int64_t next_pause = MIN_PAUSE;

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
        const int64_t pause = atomic_load_explicit(&next_pause, memory_order_relaxed);
        const int64_t debt = MAX(atomic_load_explicit(&debt_ns, memory_order_relaxed) + cpu_ns - SMALL_NS, INT64_C(0));
        atomic_store_explicit(&debt_ns, debt > MAX_DEBT_NS ? MAX_DEBT_NS / 2 : debt, memory_order_relaxed);
        if (cpu_ns < SLOW_NS && debt <= MAX_DEBT_NS) {
                atomic_store_explicit(&slow, 0, memory_order_relaxed);
                atomic_store_explicit(&next_pause, MAX(pause / 2, MIN_PAUSE), memory_order_relaxed);
                return;
        }
        if (atomic_fetch_add_explicit(&slow, 1, memory_order_relaxed) + 1 < SLOW_IN_A_ROW && debt <= MAX_DEBT_NS)
                return;
        atomic_store_explicit(&slow, SLOW_IN_A_ROW - 1, memory_order_relaxed); /* after the pause one page decides */
        atomic_store_explicit(&next_pause, MIN(pause * 2, MAX_PAUSE), memory_order_relaxed);
        atomic_store_explicit(&paused, pause, memory_order_relaxed);
}

/* Returns the address in the block that is the first of its huge page to be written, or NULL. */
static unsigned char *huge_page_first_address(unsigned char *start, size_t size, bool fresh)
{
        if (fresh)
                return start;
        unsigned char *next = (unsigned char *)(((uintptr_t)start + HUGE_PAGE - 1) & -HUGE_PAGE);
        return next < start + size ? next : NULL;
}

void huge_pages_first_touch(unsigned char *start, size_t size, bool fresh, unsigned char *end)
{
        if (!huge_pages_wanted()) {
                small_pages_clear(start, size);
                return;
        }
        volatile unsigned char *first = huge_page_first_address(start, size, fresh);
        if (!first)
                return;
        int64_t before = thread_cpu_ns(), took;
        *first = 0;
        took = thread_cpu_ns() - before;
        if (took < CLEARED_NS)
                return;
        huge_pages_observe(took);
        unsigned char *rest = (unsigned char *)(((uintptr_t)first + HUGE_PAGE) & -HUGE_PAGE);
        if (!huge_pages_wanted() && rest < end)
                madvise(rest, (size_t)(end - rest), MADV_NOHUGEPAGE);
}
