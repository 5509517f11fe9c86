/*
 * See memory_guard.h. Any allocation may use a quarter of the group's reserve. Small allocations, whose failure aborts
 * the process, may use another half. One lock: the functions are called on any thread, and the limit is freed with its
 * slots.
 */
#include "exec/guard/memory_guard.h"

#include "base/mem.h"
#include "exec/guard/memory_limit.h"
#include "process/data_limit.h"

#include <malloc.h>
#include <pthread.h>

#define MIN_UNTOUCHED ((int64_t)32 << 20) /* stacks of threads, ends of arenas */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static const struct memory_limit *current; /* under lock */
static int64_t allowed, at_start;          /* under lock: allocated and not resident */

/*
 * Returns the bytes that may be allocated. @vital: for small allocations, whose failure aborts the process. Lock held.
 */
static int64_t guard_room(bool vital)
{
        int64_t reserve = memory_limit_reserve(current);
        int64_t room = memory_limit_room(current, vital ? reserve / 4 * 3 : reserve / 4);
        if (memory_limit_group(current) == INT64_MAX)
                return room;
        int64_t pending = data_limit_untouched() - at_start - allowed;
        if (pending > 0 && !vital)
                room = MAX(room - pending, INT64_C(0));
        data_limit_set(room);
        return room;
}

static bool guard_has_room(size_t size)
{
        pthread_mutex_lock(&lock);
        bool has = !current || (uint64_t)guard_room(size < MEM_LARGE) >= size;
        pthread_mutex_unlock(&lock);
        return has;
}

int64_t memory_guard_pending(void)
{
        return data_limit_untouched() - at_start;
}

int64_t memory_guard_update(void)
{
        pthread_mutex_lock(&lock);
        int64_t room = current ? guard_room(false) : INT64_MAX;
        pthread_mutex_unlock(&lock);
        return room;
}

/*
 * Makes the allocator return freed memory to the system early. Otherwise each thread's arena keeps as much as its
 * largest freed block.
 */
static void guard_tune_allocator(void)
{
        mallopt(M_ARENA_MAX, 4);
        mallopt(M_MMAP_THRESHOLD, 1 << 20);
        mallopt(M_TRIM_THRESHOLD, 2 << 20);
}

void memory_guard_start(const struct memory_limit *limit, int64_t pool)
{
        pthread_mutex_lock(&lock);
        bool first = !current;
        if (first) {
                current = limit;
                allowed = MAX((pool / 2 + MIN_UNTOUCHED) / memory_limit_processes(limit), MIN_UNTOUCHED / 2);
                at_start = data_limit_untouched();
        }
        pthread_mutex_unlock(&lock);
        if (!first)
                return;
        if (memory_limit_group(limit) != INT64_MAX)
                guard_tune_allocator();
        mem_set_guard(guard_has_room);
        memory_guard_update();
}

void memory_guard_stop(const struct memory_limit *limit)
{
        pthread_mutex_lock(&lock);
        bool stops = limit && current == limit;
        if (stops) {
                mem_set_guard(NULL);
                current = NULL;
                data_limit_reset();
        }
        pthread_mutex_unlock(&lock);
}
