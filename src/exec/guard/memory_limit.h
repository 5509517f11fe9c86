/*
 * Holding an executor, or the driver of a local master, to its memory: spark.executor.memory and its overhead, or less
 * where a control group allows less.
 *
 * The memory manager counts what rows take; this looks at what the process really has, because functions allocate
 * as they like. Who asks often (a timer) gets, in this order: nothing; MEMORY_LIMIT_EVICT beyond the limit: give back
 * what can be given; MEMORY_LIMIT_FAIL when that was asked for and did not help: end the largest task, by name, before
 * the kernel ends the process without one.
 *
 * Control groups: version 2 (memory.max of the group and of all above it, memory.current) and version 1
 * (memory.limit_in_bytes, hierarchical_memory_limit of memory.stat, memory.usage_in_bytes); the limit in force is the
 * least. What the kernel can drop is not counted as used: files in the page cache, reclaimable slabs.
 *
 * Beyond that MEMORY_LIMIT_END: the group is nearly full of what cannot be dropped. The process must end by itself,
 * with a message, before the kernel kills it.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct fst_conf;
struct fst_error;
struct memory_limit;

struct memory_limit_options {
        int64_t configured; /* bytes; 0: only what control groups say */
        int processes;      /* of this application that share the control group, and this one; 0 is 1 */
        /* NULL for each: the system's own. Tests give trees of files. */
        const char
                *cgroup_root;   /* "/sys/fs/cgroup", or the environment's FIRESTEEL_CGROUP_ROOT, with its file "self" */
        const char *membership; /* "/proc/self/cgroup" */
        const char *statm;      /* "/proc/self/statm" */
};

/*
 * spark.executor.memory and its overhead in bytes: spark.executor.memoryOverhead, or the larger of
 * spark.executor.memoryOverheadFactor of the memory and spark.executor.minMemoryOverhead (384 MiB).
 */
int memory_limit_configured(const struct fst_conf *conf, int64_t *memory, int64_t *overhead, struct fst_error *error);

/*
 * What is beside them: spark.memory.offHeap.size, or 0 without spark.memory.offHeap.enabled. -EINVAL, in Spark's words,
 * when it is enabled and has no size.
 */
int memory_limit_off_heap(const struct fst_conf *conf, int64_t *bytes, struct fst_error *error);

/* Never fails: what cannot be read does not limit. */
struct memory_limit *memory_limit_new(const struct memory_limit_options *options);
void memory_limit_free(struct memory_limit *limit);

/* The limit in force in bytes (INT64_MAX: none), and where it comes from: "spark.executor.memory", "cgroup /x". */
int64_t memory_limit_bytes(const struct memory_limit *limit);
const char *memory_limit_origin(const struct memory_limit *limit);

/* The limit of the control group alone, in bytes (INT64_MAX: none), and its name: "control group /x". */
int64_t memory_limit_group(const struct memory_limit *limit);
const char *memory_limit_group_name(const struct memory_limit *limit);

/*
 * Bytes that the process may still take: the least of what the configured limit and the group leave, of the latter its
 * share. @extra bytes of the group's reserve may be taken, too. 0 beyond them; INT64_MAX without any limit. Any thread.
 */
int64_t memory_limit_room(const struct memory_limit *limit, int64_t extra);

/* How many processes share the group. */
int memory_limit_processes(const struct memory_limit *limit);

/* What of a group's limit is kept, because at the limit itself the kernel acts: 24 MiB to 64 MiB, 0 without a group. */
int64_t memory_limit_reserve(const struct memory_limit *limit);

/* What the process has resident now; where the limit is a group's, what the group has. About 3 µs. */
int64_t memory_limit_used(struct memory_limit *limit);

enum memory_verdict {
        MEMORY_LIMIT_OK,
        MEMORY_LIMIT_EVICT, /* give back @excess bytes */
        MEMORY_LIMIT_FAIL,  /* that was tried: end the largest task */
        MEMORY_LIMIT_END,   /* the group is full: end the process */
};

/*
 * Look, and say what is to be done. After MEMORY_LIMIT_EVICT the next call that finds too much answers
 * MEMORY_LIMIT_FAIL; after that the task that was told to end has as long as @timeout calls. One thread.
 */
enum memory_verdict memory_limit_check(struct memory_limit *limit, int timeout, int64_t *used, int64_t *excess);

/* Bytes of this process that are in memory, shared ones included; 0 if the kernel does not say. */
int64_t process_resident_bytes(void);
