/* Reads partitions of persisted RDDs from other executors and replicates this executor's. The room that knows other
 * executors (exec/blocks/block_manager.h) provides it. All calls come from tasks' threads. */
#pragma once

#include "rdd/pipeline/task_run.h"
#include "store/block_store.h"

struct page;
struct remote_block;

struct remote_blocks {
        /*
         * Fetches the whole block before any row is pushed, so that a failure needs no rollback. Returns 0 with
         * *@block; 1 if no executor has the block or sends it, so that the caller computes it; negative after
         * task_run_fail (the task was stopped).
         */
        int (*open)(void *owner, struct task_run *run, struct block_id id, fst_type type, struct remote_block **block);

        /* Returns the next page, valid until the next call; NULL at the end. 0, or negative after task_run_fail. */
        int (*next)(struct remote_block *block, const struct page **page);
        void (*close)(struct remote_block *block);

        /* Copies a block that the task has just stored to as many other executors as @level requires. Failures are only
         * logged, because the local block exists. */
        void (*replicate)(void *owner, struct task_run *run, struct block_id id, enum fst_storage_level level);
        bool takes_all; /* `replicate` is called for every block, because this process does not keep blocks */
        void *owner;
};
