/*
 * The memory of a process for the unified memory manager: the configured value, or less if the control group allows
 * less.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fst_conf;
struct fst_error;
struct memory_manager;

/*
 * Returns a process's share of a group's @limit without its overhead: code, threads, buffers, and allocations of
 * functions. The overhead is an eighth, at least 64 MiB and at most 384 MiB, but never more than half. In bytes.
 */
int64_t memory_budget_of_group(int64_t limit, int processes);

/* Returns the part of @overhead that fits beside @heap into this process's share of the control group's limit. */
int64_t memory_budget_overhead(int64_t heap, int64_t overhead, int processes);

/*
 * Raises a pool that has less than a page for each of @tasks running tasks to four pages for each, with a warning. With
 * one page each, a stage whose map outputs stay in the pool can run out of memory. @key is the key of the heap. Before
 * the first task.
 */
void memory_budget_raise_pool(struct memory_manager *memory, int tasks, const char *key);

struct memory_budget {
        int64_t heap;  /* bytes */
        bool in_group; /* a control group limits the memory of this process */
};

/*
 * Reads @key (spark.driver.memory, spark.executor.memory) into @budget, reduced to the share of this process in its
 * control group. A reduction is logged, as a warning if the key is set. @processes of the application share the group.
 */
int memory_budget_read(const struct fst_conf *conf, const char *key, int processes, struct memory_budget *budget,
                       struct fst_error *error);
