/*
 * Keeps allocations within the limits of the process (exec/guard/memory_limit.h).
 *
 * A timer is too slow for an allocation of half a gigabyte. So large allocations ask first (mem_has_room). In a control
 * group RLIMIT_DATA follows the group's free memory: beyond it malloc and mmap return NULL, also in the application's
 * functions, instead of the kernel killing the process.
 */
#pragma once

#include <stdint.h>

struct memory_limit;

/*
 * Starts the guard. @limit is borrowed until memory_guard_stop. In a control group it makes the allocator return free
 * memory early. @pool: bytes of the memory manager, whose tables map more than they use: half of that may be mapped and
 * untouched. One guard at a time. Further calls have no effect.
 */
void memory_guard_start(const struct memory_limit *limit, int64_t pool);
void memory_guard_stop(const struct memory_limit *limit);

/* Returns the bytes allocated since the start and not resident yet. Any thread. */
int64_t memory_guard_pending(void);

/* Updates RLIMIT_DATA to the free memory and returns it (INT64_MAX: no limit). Any thread. */
int64_t memory_guard_update(void);
