/*
 * What the system may still give this process, kept within its limits (exec/guard/memory_limit.h).
 *
 * Looking at a timer is too late for an allocation of half a gigabyte. So large allocations ask first (mem_has_room),
 * and where a control group limits the process, RLIMIT_DATA follows what the group has left: beyond it malloc and mmap
 * answer NULL, also to functions of the application, where the kernel would kill the process.
 */
#pragma once

#include <stdint.h>

struct memory_limit;

/*
 * Begin: @limit is borrowed until memory_guard_stop. The allocator is told to give free memory back early if there is
 * a control group. @pool: bytes of the memory manager, whose tables map more than they use: half of that may be
 * allocated without being written to. One guard at a time; others do nothing.
 */
void memory_guard_start(const struct memory_limit *limit, int64_t pool);
void memory_guard_stop(const struct memory_limit *limit);

/* Bytes that were allocated since the start and are not resident yet. Any thread. */
int64_t memory_guard_pending(void);

/* Follow what is left now; returns it (INT64_MAX: no limit). Any thread. */
int64_t memory_guard_update(void);
