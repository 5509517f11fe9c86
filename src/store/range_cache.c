/*
 * See range_cache.h. A range is cleared when it is taken again, not when it is given back: a shed range was then not
 * cleared in vain. Small ranges cost few page faults and are not kept.
 *
 * Invariant: `spare` is the sum of the sizes in `ranges`; both change under the lock.
 */
#include "store/range_cache.h"

#include "base/mem.h"
#include "store/huge_pages.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>

#define MIN_CACHED ((size_t)128 << 10)
#define MAX_RANGES 32

struct kept_range {
        void *start;
        size_t size;
};

static struct {
        pthread_mutex_t lock;
        struct kept_range ranges[MAX_RANGES];
        unsigned n;
        _Atomic size_t spare;
} cache = {.lock = PTHREAD_MUTEX_INITIALIZER};

static struct kept_range cache_remove(unsigned i)
{
        struct kept_range range = cache.ranges[i];
        cache.ranges[i] = cache.ranges[--cache.n];
        cache.spare -= range.size;
        return range;
}

/* Takes the range of @size that was used last; its memory may still be in the processor's caches. */
static struct kept_range cache_take(size_t size)
{
        struct kept_range range = {0};
        pthread_mutex_lock(&cache.lock);
        for (unsigned i = cache.n; i-- > 0 && !range.start;)
                if (cache.ranges[i].size == size)
                        range = cache_remove(i);
        pthread_mutex_unlock(&cache.lock);
        return range;
}

static void *map_aligned(size_t size)
{
        size_t slack = size >= HUGE_PAGE ? HUGE_PAGE : 0;
        char *memory = mmap(NULL, size + slack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (memory == MAP_FAILED)
                return NULL;
        if (slack) {
                size_t before = -(uintptr_t)memory & (HUGE_PAGE - 1);
                if (before)
                        munmap(memory, before);
                if (slack - before)
                        munmap(memory + before + size, slack - before);
                memory += before;
                huge_pages_advise_table(memory, size);
        }
        return memory;
}

void *range_map(size_t size)
{
        struct kept_range range = size >= MIN_CACHED ? cache_take(size) : (struct kept_range){0};
        if (!range.start)
                return map_aligned(size);
        return memset(range.start, 0, size);
}

void range_unmap(void *start, size_t size)
{
        if (!start)
                return;
        bool kept = false;
        if (size >= MIN_CACHED) {
                pthread_mutex_lock(&cache.lock);
                kept = cache.n < MAX_RANGES;
                if (kept) {
                        cache.ranges[cache.n++] = (struct kept_range){start, size};
                        cache.spare += size;
                }
                pthread_mutex_unlock(&cache.lock);
        }
        if (!kept)
                munmap(start, size);
}

void range_cache_shed(size_t keep)
{
        while (atomic_load_explicit(&cache.spare, memory_order_relaxed) > keep) {
                struct kept_range range = {0};
                pthread_mutex_lock(&cache.lock);
                unsigned largest = 0;
                for (unsigned i = 1; i < cache.n; i++)
                        if (cache.ranges[i].size > cache.ranges[largest].size)
                                largest = i;
                if (cache.n)
                        range = cache_remove(largest);
                pthread_mutex_unlock(&cache.lock);
                if (!range.start)
                        return;
                munmap(range.start, range.size);
        }
}

size_t range_cache_spare(void)
{
        return atomic_load_explicit(&cache.spare, memory_order_relaxed);
}
