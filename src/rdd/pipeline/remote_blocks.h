/*
 * How a pipeline gets partitions of persisted RDDs that other executors keep, and has its own copied to them: set by
 * the room that knows other executors (exec/blocks/block_manager.h). All calls come from tasks' threads.
 */
#pragma once

#include "rdd/pipeline/task_run.h"
#include "store/block_store.h"

struct page;
struct remote_block;

struct remote_blocks {
        /*
         * Fetch the block whole, so that what fails on the way has pushed no row: 0 with *@block; 1 when nobody has it,
         * or nobody gives it: it is to be computed; negative after task_run_fail (the task was stopped).
         */
        int (*open)(void *owner, struct task_run *run, struct block_id id, fst_type type, struct remote_block **block);

        /* The next page, valid until the next call; NULL at the end. 0, or negative after task_run_fail. */
        int (*next)(struct remote_block *block, const struct page **page);
        void (*close)(struct remote_block *block);

        /*
         * The task has computed and kept the block: copy it to as many other executors as @level asks for. What fails
         * is logged only, as the block is there.
         */
        void (*replicate)(void *owner, struct task_run *run, struct block_id id, enum fst_storage_level level);
        bool takes_all; /* `replicate` is called for every block, because it does not stay in this process */
        void *owner;
};
