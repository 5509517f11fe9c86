/*
 * The memory manager: one pool for execution (aggregation, sorting, shuffle buffers) and storage (cached
 * partitions), as Spark's UnifiedMemoryManager shares it.
 *
 * The pool is spark.driver.memory (spark.executor.memory on an executor) × spark.memory.fraction. Storage may
 * use what execution leaves free; execution takes back what storage has beyond spark.memory.storageFraction of
 * the pool, by evicting blocks. Of N tasks that run, each gets at least 1/2N of the execution memory before it
 * must spill (it waits for others if need be) and never more than 1/N.
 *
 * Memory is reserved before it is allocated. Who is refused spills and asks again, or goes on with what it has;
 * nobody fails because others were first, except a task that alone needs more than its share for one record.
 *
 * Threads: managers are shared; a task and its consumers belong to the task's thread. Spill callbacks run on
 * that thread only, inside memory_acquire called by another consumer of the same task.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct memory_manager;
struct memory_task;
struct fst_error;

struct memory_consumer {
        const char *name; /* for messages: "hash aggregate" */
        struct memory_task *task;
        struct memory_consumer *next; /* of the same task */
        size_t held;                  /* bytes reserved now */
        /*
         * Write what can be written to disk and release at least @want bytes if possible; 0, or a negative status
         * which fails the task (memory_task_failure). NULL for a consumer that cannot spill. Never called for the
         * consumer that asks.
         */
        int (*spill)(struct memory_consumer *consumer, size_t want, struct fst_error *error);
        bool patient; /* cannot do without: memory_acquire waits as memory_acquire_wait does. Set after init */
        bool asked;   /* the manager's own: to spill, in the present acquisition */
};

/* Free @want bytes of storage: map outputs, cached blocks (or as much as there is); returns the bytes released. Called
 * without locks. */
typedef size_t (*memory_evict_fn)(void *owner, size_t want);

struct memory_manager *memory_manager_new(size_t pool_bytes, double storage_fraction);
void memory_manager_free(struct memory_manager *m);

/* Who is asked to evict. Set once, before the first task. */
void memory_manager_set_evict(struct memory_manager *m, memory_evict_fn evict, void *owner);

/*
 * For tests, before the first task: each @every-th acquisition of execution memory evicts blocks, and has all other
 * consumers of the task spill, as though there were no room: so little data is spilled as much would be. 0: none.
 */
void memory_manager_set_pressure(struct memory_manager *m, unsigned every);

size_t memory_manager_pool(const struct memory_manager *m);
size_t memory_manager_execution_used(const struct memory_manager *m);
size_t memory_manager_storage_used(const struct memory_manager *m);

/* Tasks that wait for memory now, or rest. */
size_t memory_manager_waiting(const struct memory_manager *m);

/* A running task, counted among the N from its first acquisition until memory_task_free. */
struct memory_task *memory_task_new(struct memory_manager *m);

/* What to look at while waiting: not 0 says that the task is to end. NULL: it waits as long as it takes. */
void memory_task_set_stopped(struct memory_task *task, const int *stopped);

/* Where other threads may read (atomically) what its consumers hold; 0 once the task is freed. */
void memory_task_set_gauge(struct memory_task *task, size_t *gauge);

/*
 * Storage in memory makes room for @size bytes that are not reserved: a row that is passed on. True if some was freed.
 * Called without locks.
 */
bool memory_task_evict(struct memory_task *task, size_t size);

/* Bytes that its consumers hold now. */
size_t memory_task_held(const struct memory_task *task);

/*
 * 0, or the status of the first spill that failed, with its sentence in *@why (borrowed; NULL if it gave none). Rows
 * may be incomplete then: the task must not succeed, even if whoever asked for memory could do without.
 */
int memory_task_failure(const struct memory_task *task, const char **why);

/* Releases whatever its consumers still hold and forgets them; their storage must still be there. */
void memory_task_free(struct memory_task *task);

/*
 * Bytes that this task may hold at most as things are. Who is refused a page because of what the task's other
 * consumers hold and cannot give, and has nothing to give itself, may use one page beyond, unreserved, if it is not
 * larger than this: without it there would be no way on.
 */
size_t memory_task_share(const struct memory_task *task);

/* Most bytes that this task held at one time: the task's "peak execution memory". */
size_t memory_task_peak(const struct memory_task *task);

void memory_consumer_init(struct memory_consumer *c, struct memory_task *task, const char *name,
                          int (*spill)(struct memory_consumer *, size_t, struct fst_error *));

/* Release all that @c holds and forget it. */
void memory_consumer_deinit(struct memory_consumer *c);

/*
 * Reserve @size bytes: 0; FST_MEMORY_E_DENIED (positive) when the caller must spill first or do without; or
 * negative when another consumer's spill failed (memory_task_failure says why), or -ECANCELED when the task was told to
 * stop while it waited. Storage is evicted and the task's other consumers are asked to
 * spill, the largest first, before it is denied.
 */
int memory_acquire(struct memory_consumer *c, size_t size);
void memory_release(struct memory_consumer *c, size_t size);

/*
 * The same for who cannot do without: where that would be denied, evict all storage that can go, and wait for other
 * tasks to end or to give something back, as if fewer ran at a time. Denied if more than the whole pool would be
 * needed, and soon after no other task goes on: all wait for memory, or rest.
 */
int memory_acquire_wait(struct memory_consumer *c, size_t size);

/* The task waits for other tasks, for something that is not memory, from now on; or it goes on. */
void memory_task_rest(struct memory_task *task, bool rests);
#define FST_MEMORY_E_DENIED 1

/* Storage: true if @size bytes are now reserved for a block (free memory, or blocks evicted for it). */
bool memory_acquire_storage(struct memory_manager *m, size_t size);

/*
 * The same for what may have to stay where it is while tasks read it: only within the part of the pool that execution
 * may not claim (spark.memory.storageFraction), and nothing is evicted for it. So execution always keeps its part.
 */
bool memory_acquire_fixed_storage(struct memory_manager *m, size_t size);
void memory_release_storage(struct memory_manager *m, size_t size);
