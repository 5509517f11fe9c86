/*
 * The memory manager: one pool for execution (aggregation, sorting, shuffle buffers) and storage (cached partitions),
 * shared as in Spark's UnifiedMemoryManager.
 *
 * The pool is spark.driver.memory (spark.executor.memory on an executor) × spark.memory.fraction. Storage may use the
 * memory that execution leaves free. Execution takes back storage beyond spark.memory.storageFraction of the pool by
 * evicting blocks. Each of N running tasks gets at least 1/2N of the execution memory before it must spill (it waits
 * for others if needed), and at most 1/N.
 *
 * Memory is reserved before it is allocated. A consumer whose request is denied spills and asks again, or continues
 * with the memory it has. A task does not fail because others came first. It fails only if a single record needs more
 * than its share.
 *
 * Threads: managers are shared. A task and its consumers belong to the task's thread. Spill callbacks run only on that
 * thread, inside memory_acquire of another consumer of the same task.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct memory_manager;
struct memory_task;
struct fst_error;

struct memory_consumer {
        const char *name; /* for messages: "hash aggregate" */
        struct memory_task *task;
        struct memory_consumer *next; /* of the same task */
        size_t held;                  /* bytes reserved now */
        /*
         * Writes data to disk and releases at least @want bytes if possible. Returns 0, or a negative status, which
         * fails the task (memory_task_failure). NULL if the consumer cannot spill. Never called for the asking
         * consumer.
         */
        int (*spill)(struct memory_consumer *consumer, size_t want, struct fst_error *error);
        bool patient; /* memory_acquire waits as memory_acquire_wait does. Set after init */
        bool asked;   /* internal: was asked to spill in the present acquisition */
};

/*
 * Frees @want bytes of storage (map outputs, cached blocks), or as much as there is. Returns the bytes freed. Called
 * without locks.
 */
typedef size_t (*memory_evict_fn)(void *owner, size_t want);

struct memory_manager *memory_manager_new(size_t pool_bytes, double storage_fraction);
void memory_manager_free(struct memory_manager *m);

/* Sets the evictor. Call it once, before the first task. */
void memory_manager_set_evict(struct memory_manager *m, memory_evict_fn evict, void *owner);

/*
 * For tests, before the first task: each @every-th acquisition of execution memory evicts blocks and makes all other
 * consumers of the task spill, as if there were no room, so that small data is spilled like large data. 0: off.
 */
void memory_manager_set_pressure(struct memory_manager *m, unsigned every);

size_t memory_manager_pool(const struct memory_manager *m);

/* Changes the size of the pool. Before the first task. */
void memory_manager_set_pool(struct memory_manager *m, size_t bytes);

size_t memory_manager_execution_used(const struct memory_manager *m);
size_t memory_manager_storage_used(const struct memory_manager *m);

/* For tests: returns the number of tasks that wait for memory or rest. */
size_t memory_manager_waiting(const struct memory_manager *m);

/* Adds a running task, counted in N from its first acquisition until memory_task_free. */
struct memory_task *memory_task_new(struct memory_manager *m);

/* Sets the flag that ends a wait when it is not 0. NULL: waits cannot be ended. */
void memory_task_set_stopped(struct memory_task *task, const int *stopped);

/*
 * Limits waits for memory: after @ns in which no task released any, the task is denied what it asks for, now and later,
 * as if no other task ran. For tasks that others may wait for by means that the manager does not see. 0: no limit.
 */
void memory_task_set_longest_wait(struct memory_task *task, int64_t ns);

/*
 * Sets a variable that follows the memory held by its consumers, for other threads (read it atomically); 0 once the
 * task is freed.
 */
void memory_task_set_gauge(struct memory_task *task, size_t *gauge);

/*
 * Evicts storage for @size unreserved bytes: a row that is passed on. Returns true if memory was freed. Called without
 * locks.
 */
bool memory_task_evict(struct memory_task *task, size_t size);

/* Returns the bytes that its consumers hold. */
size_t memory_task_held(const struct memory_task *task);

/*
 * Returns 0, or the status of the first failed spill, with its message in *@why (borrowed; may be NULL). Rows may be
 * incomplete then: the task must not succeed, even if the asking consumer can continue.
 */
int memory_task_failure(const struct memory_task *task, const char **why);

/* Releases the memory of its consumers and forgets them. Their structs must still exist. */
void memory_task_free(struct memory_task *task);

/*
 * Returns the bytes that this task may hold now. If a page is denied because the task's other consumers hold memory
 * they cannot spill, and the asking consumer has nothing to spill, it may use one unreserved page of at most this size:
 * otherwise it could not continue.
 */
size_t memory_task_share(const struct memory_task *task);

/* Returns the maximum held so far: the task's "peak execution memory". */
size_t memory_task_peak(const struct memory_task *task);

void memory_consumer_init(struct memory_consumer *c, struct memory_task *task, const char *name,
                          int (*spill)(struct memory_consumer *, size_t, struct fst_error *));

/* Releases all memory of @c and removes it from its task. */
void memory_consumer_deinit(struct memory_consumer *c);

/*
 * Reserves @size bytes. Evicts storage and makes the task's other consumers spill, the largest first, before it denies.
 * Returns 0; FST_MEMORY_E_DENIED (positive) if the caller must spill first or do without; negative if another
 * consumer's spill failed (memory_task_failure has the reason), or -ECANCELED if the task was killed during a wait.
 */
int memory_acquire(struct memory_consumer *c, size_t size);
void memory_release(struct memory_consumer *c, size_t size);

/*
 * Does the same for a caller that cannot do without: instead of denying, evicts all evictable storage and waits for
 * other tasks to end or release memory, as if fewer tasks ran. Denies if more than the whole pool is needed, and soon
 * after no other task runs (all wait for memory, or rest).
 */
int memory_acquire_wait(struct memory_consumer *c, size_t size);

/* With @rests the task waits for other tasks, not for memory. Without, it runs again. */
void memory_task_rest(struct memory_task *task, bool rests);
#define FST_MEMORY_E_DENIED 1

/* Reserves @size bytes of storage for a block and evicts other blocks if needed. Returns true on success. */
bool memory_acquire_storage(struct memory_manager *m, size_t size);

/*
 * Does the same for storage that may have to stay in memory while tasks read it: only within the part of the pool that
 * execution may not claim (spark.memory.storageFraction), and without eviction. So execution always keeps its part.
 */
bool memory_acquire_fixed_storage(struct memory_manager *m, size_t size);

/* Returns whether all storage is within that part, so that any of it may be kept in memory until a task ends. */
bool memory_may_fix_storage(const struct memory_manager *m);
void memory_release_storage(struct memory_manager *m, size_t size);
