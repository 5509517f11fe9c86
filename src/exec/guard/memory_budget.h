/*
 * How much memory a process has for the unified memory manager: what is configured, or less where its control group
 * allows less.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct fst_conf;
struct fst_error;

/*
 * What remains of a process's part of a group's limit beside its overhead: code, threads, buffers, and what functions
 * allocate. The overhead is an eighth, 64 MiB to 384 MiB, and half at most. All in bytes.
 */
int64_t memory_budget_of_group(int64_t limit, int processes);

/* Of @overhead beside @heap, what the part of this process in the control group's limit has room for. */
int64_t memory_budget_overhead(int64_t heap, int64_t overhead, int processes);

/*
 * The value of @key (spark.driver.memory, spark.executor.memory), or what the control group of this process leaves of
 * it: then that is logged, as a warning if the key is set. @processes of the application share the group.
 */
int memory_budget_heap(const struct fst_conf *conf, const char *key, int processes, int64_t *heap,
                       struct fst_error *error);
