/*
 * Keeps an executor, or the driver of a local master, within its memory: spark.executor.memory and its overhead, or
 * less if a control group allows less.
 *
 * The memory manager counts the memory of rows. This measures the whole process, because functions allocate freely.
 * Repeated checks (a timer) return, in this order: nothing; MEMORY_LIMIT_EVICT above the limit: free caches;
 * MEMORY_LIMIT_FAIL if that did not help: fail the largest task, with a message, before the kernel kills the process.
 *
 * Control groups: version 2 (memory.max of the group and its ancestors, memory.current) and version 1
 * (memory.limit_in_bytes, hierarchical_memory_limit of memory.stat, memory.usage_in_bytes). The lowest limit counts.
 * Memory that the kernel can reclaim does not count as used: page cache, reclaimable slabs.
 *
 * MEMORY_LIMIT_END: the group is nearly full of memory that cannot be reclaimed. The process must exit with a message
 * before the kernel kills it.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct fst_conf;
struct fst_error;
struct memory_limit;

struct memory_limit_options {
        int64_t configured; /* bytes; 0: only the control group's limit */
        int processes;      /* processes of this application in the control group, including this one; 0: 1 */
        /* Files of the system, for tests; NULL: the real ones. */
        const char
                *cgroup_root;   /* "/sys/fs/cgroup", or FIRESTEEL_CGROUP_ROOT of the environment with its file "self" */
        const char *membership; /* "/proc/self/cgroup" */
        const char *statm;      /* "/proc/self/statm" */
};

/*
 * Returns spark.executor.memory and its overhead in bytes: spark.executor.memoryOverhead, or the larger of memory ×
 * spark.executor.memoryOverheadFactor and spark.executor.minMemoryOverhead (384 MiB).
 */
int memory_limit_configured(const struct fst_conf *conf, int64_t *memory, int64_t *overhead, struct fst_error *error);

/*
 * Returns the additional off-heap memory: spark.memory.offHeap.size, or 0 without spark.memory.offHeap.enabled. Returns
 * -EINVAL, with Spark's message, if it is enabled and has no size.
 */
int memory_limit_off_heap(const struct fst_conf *conf, int64_t *bytes, struct fst_error *error);

/* Never fails: an unreadable limit does not apply. */
struct memory_limit *memory_limit_new(const struct memory_limit_options *options);
void memory_limit_free(struct memory_limit *limit);

/* Returns the limit in force in bytes (INT64_MAX: none) and its source: "spark.executor.memory", "cgroup /x". */
int64_t memory_limit_bytes(const struct memory_limit *limit);
const char *memory_limit_origin(const struct memory_limit *limit);

/* Returns the limit of the control group in bytes (INT64_MAX: none) and its name: "control group /x". */
int64_t memory_limit_group(const struct memory_limit *limit);
const char *memory_limit_group_name(const struct memory_limit *limit);

/*
 * Returns the bytes that the process may still allocate: the lower of the configured limit's rest and its share of the
 * group's rest plus @extra bytes of the group's reserve. 0 beyond them; INT64_MAX without a limit. Any thread.
 */
int64_t memory_limit_room(const struct memory_limit *limit, int64_t extra);

/* Returns the number of processes that share the group. */
int memory_limit_processes(const struct memory_limit *limit);

/*
 * Returns the part of a group's limit that stays unused, because the kernel kills at the limit: 24 MiB to 64 MiB, 0
 * without a group.
 */
int64_t memory_limit_reserve(const struct memory_limit *limit);

/* For tests: returns the resident bytes of the process. If the limit is a group's, those of the group. Takes about 3
 * µs. */
int64_t memory_limit_used(struct memory_limit *limit);

enum memory_verdict {
        MEMORY_LIMIT_OK,
        MEMORY_LIMIT_EVICT, /* free @excess bytes */
        MEMORY_LIMIT_FAIL,  /* eviction did not help: fail the largest task */
        MEMORY_LIMIT_END,   /* the group is full: exit */
};

/*
 * Measures, and returns the action to take. After MEMORY_LIMIT_EVICT, the next call above the limit returns
 * MEMORY_LIMIT_FAIL. The failed task then has @timeout calls to end. One thread.
 */
enum memory_verdict memory_limit_check(struct memory_limit *limit, int timeout, int64_t *used, int64_t *excess);

/* Returns the resident bytes of this process, including shared ones; 0 if the kernel does not report them. */
int64_t process_resident_bytes(void);
