/*
 * Decides which tasks of an executor run in processes of their own, and the resources of such a task process.
 *
 * exec_env.isolation points to this struct; NULL: every task runs on a thread. With `all` every slot uses task
 * processes (spark.firesteel.task.isolation=process). Without it only batches marked task_batch.crash_suspect run in a
 * task process, each alone.
 *
 * Memory (docs/configuration): the executor's limit, spark.executor.memory and its overhead, is divided in advance,
 * because processes cannot lend each other unused memory. Each of W task processes gets
 *
 *      pool  the execution part of the pool (spark.memory.fraction × (1 - spark.memory.storageFraction)) / W
 *      data  (spark.executor.memory + overhead) / W beyond its size at start, as RLIMIT_DATA: for the pool, for the
 *            functions' allocations, and for everything else. malloc returns NULL beyond it.
 *
 * The executor's own pool is the storage part: map outputs and cached blocks, which task processes hand over.
 */
#pragma once

#include "conf/conf.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;
struct fst_error;
struct stage_context;
struct zygote;

/* The parts of the memory as divided above. */
struct isolation_shares {
        size_t executor_pool; /* pool of the executor's own memory manager */
        size_t process_heap;  /* heap of each task process; its pool is the share spark.memory.fraction of it */
        size_t process_data;  /* RLIMIT_DATA beyond the size of a new task process */
};

struct isolation {
        struct zygote *zygote; /* owned */
        bool all;
        bool gone;   /* the zygote has ended, so no task can be isolated any more. Atomic */
        int workers; /* number of task processes */
        struct isolation_shares shares;
        const struct fst_conf *conf; /* for task processes; borrowed */
        const char *app_id;          /* borrowed */
        uint64_t seed;

        /*
         * Encodes a stage for a task process: stage_encode for a copy of this program. Called once for a stage_context
         * without `encoded`.
         */
        int (*encode)(const struct stage_context *work, struct buf *out, struct fst_error *error);
        pthread_mutex_t lock; /* protects the fields below and stage_context.encoded */
        char **modules;       /* paths, in the order in which task processes load them; only grows */
        size_t n_modules;
};

/* Divides @memory and @overhead bytes among @workers task processes (at least 1). Pure. */
struct isolation_shares isolation_divide(int64_t memory, int64_t overhead, double fraction, double storage_fraction,
                                         int workers);

/*
 * Sets *@all if spark.firesteel.task.isolation is "process" and clears it for "none". Returns -EINVAL with @error for
 * other values.
 */
int isolation_wanted(const struct fst_conf *conf, bool *all, struct fst_error *error);

/* Calls zygote_new for task processes that run stages of exec/task/stage_wire.h. */
int isolation_zygote_new(struct zygote **zygote, struct fst_error *error);

/*
 * Creates the isolation that @conf asks for, with @zygote (stolen, also on failure) and @workers task processes.
 * @memory: spark.executor.memory, or spark.driver.memory with a local master. @processes of the application share the
 * control group.
 */
int isolation_new(const struct fst_conf *conf, struct zygote *zygote, int workers, int64_t memory, int processes,
                  struct isolation **isolation, struct fst_error *error);

/* Ends the zygote. All slots must be freed before. NULL is allowed. */
void isolation_free(struct isolation *isolation);

/*
 * Returns true if the zygote has ended since the last call. From then on tasks that need no isolation run on threads.
 * One thread.
 */
bool isolation_lost_zygote(struct isolation *isolation);

static inline bool isolation_is_gone(const struct isolation *isolation)
{
        return __atomic_load_n(&isolation->gone, __ATOMIC_RELAXED);
}

/*
 * Makes task processes load the shared object at @path before their next task. @path is copied. A path that is listed
 * already has no effect.
 */
void isolation_add_module(struct isolation *isolation, const char *path);
