/*
 * Which tasks of an executor run in processes of their own, and what such a worker process gets.
 *
 * exec_env.isolation points to one of these; NULL there: every task runs on a thread. With `all` every slot is of the
 * process kind (spark.firesteel.task.isolation=process); without it only runs that are marked as suspects of a crash
 * (task_batch.crash_suspect) go to a worker, each alone.
 *
 * Memory (docs/configuration): the executor's limit, spark.executor.memory and its overhead, is divided beforehand,
 * because processes cannot lend each other what they do not use. With W workers each gets
 *
 *      pool  the execution part of the pool (spark.memory.fraction × (1 - spark.memory.storageFraction)) / W
 *      data  (spark.executor.memory + overhead) / W, beyond what a worker takes when it starts: its RLIMIT_DATA, for
 * the pool, for what functions allocate, and for everything else. A malloc beyond it answers NULL.
 *
 * and the executor's own pool is the storage part: map outputs and cached blocks, which workers hand over.
 */
#pragma once

#include "conf/conf.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;
struct disk_dirs;
struct exec_env;
struct fst_error;
struct stage_work;
struct zygote;

/* A size divided as above. */
struct isolation_shares {
        size_t executor_pool; /* of the executor's own memory manager */
        size_t worker_heap;   /* of which spark.memory.fraction is each worker's pool */
        size_t worker_data;   /* RLIMIT_DATA beyond what a new worker has */
};

struct isolation {
        struct zygote *zygote; /* owned */
        bool all;
        bool gone;   /* the zygote has ended: nothing can be isolated any more. Atomic */
        int workers; /* that the memory is divided among */
        struct isolation_shares shares;
        const struct fst_conf *conf; /* what workers read; borrowed */
        const char *app_id;          /* borrowed */
        uint64_t seed;

        /*
         * The form in which a stage goes to a worker: stage_encode, for a worker that is a copy of this program. Called
         * once for a stage_work without `encoded`.
         */
        int (*encode)(const struct stage_work *work, struct buf *out, struct fst_error *error);
        pthread_mutex_t lock; /* of what follows, and of stage_work.encoded */
        char **modules;       /* paths, in the order in which workers load them; only grows */
        size_t n_modules;
};

/* Divide @memory and @overhead bytes among @workers (at least 1). Pure. */
struct isolation_shares isolation_divide(int64_t memory, int64_t overhead, double fraction, double storage_fraction,
                                         int workers);

/*
 * Whether @conf asks for isolation of all tasks: spark.firesteel.task.isolation is "none" or "process". -EINVAL with
 * @error for anything else.
 */
int isolation_wanted(const struct fst_conf *conf, bool *all, struct fst_error *error);

/* zygote_new, for workers that run stages as exec/task/stage_wire.h writes them. */
int isolation_zygote_new(struct zygote **zygote, struct fst_error *error);

/*
 * What @conf asks for, with @zygote (stolen also on failure) and W = @workers. @memory: spark.executor.memory, or
 * spark.driver.memory with a local master. @processes of the application share the control group.
 */
int isolation_new(const struct fst_conf *conf, struct zygote *zygote, int workers, int64_t memory, int processes,
                  struct isolation **isolation, struct fst_error *error);

/* Slots must be gone. Ends the zygote. NULL is allowed. */
void isolation_free(struct isolation *isolation);

/*
 * Whether the zygote has ended since the last call, so that workers cannot be had any more: tasks that need not be
 * isolated run on threads from now on. One thread.
 */
bool isolation_lost_zygote(struct isolation *isolation);

static inline bool isolation_is_gone(const struct isolation *isolation)
{
        return __atomic_load_n(&isolation->gone, __ATOMIC_RELAXED);
}

/* Workers load the shared object at @path before the next task; copied. One that is there already is nothing new. */
void isolation_add_module(struct isolation *isolation, const char *path);
