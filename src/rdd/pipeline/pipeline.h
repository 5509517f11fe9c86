/*
 * A pipeline: the operators of one stage in one slot, from the sources through narrow dependencies into a sink. It is
 * reused for one partition after another. Creating it allocates. Running it for a further partition does not, which
 * makes small tasks cheap.
 */
#pragma once

#include "rdd/pipeline/op.h"
#include "rdd/rdd.h"

struct block_store;
struct page;
struct remote_blocks;

/* Reads a shuffle. The room above (shuffle/), which knows where map outputs are, provides it. All calls come from the
 * task's thread. Failures are recorded in @run. */
struct page_loan;
struct shuffle_input;
struct shuffle_source {
        /* Starts reading partition @partition of a shuffle's outputs, which are rows of @type. */
        int (*open)(void *owner, struct task_run *run, int shuffle_id, int partition, fst_type type,
                    struct shuffle_input **input);
        /* Returns the next page, valid until the next call; NULL at the end. */
        int (*next)(struct shuffle_input *input, const struct page **page);
        /* Keeps @page, which `next` returned last, until the loan ends, also after `close`. The loan may end on any
         * thread. Returns NULL if the page cannot be kept, memory is scarce, or a copy costs less. NULL: none can. */
        struct page_loan *(*lend)(struct shuffle_input *input, const struct page *page);
        /*
         * Before `next`: the number of buckets into which keys divide the partition if all of its rows are pairs of
         * numbers in memory by bucket, else 0. Afterwards `next_of` is called in the place of `next`, for one bucket
         * after another, until *@rows, valid until the next call, has no rows. NULL: they never are.
         */
        uint32_t (*buckets)(struct shuffle_input *input);
        void (*next_of)(struct shuffle_input *input, uint32_t bucket, fst_batch *rows);
        void (*close)(struct shuffle_input *input);
};

/* Fetches rows of parallelize that did not come with the stage. The room that knows the driver provides it. */
struct buf;
struct slice_source {
        /*
         * Appends the slice of partition @partition of RDD @rdd (made by slice_encode, rdd/slice.h) to @slice, which is
         * empty. Returns 0, or negative after task_run_fail. Blocks until the slice arrives or the task is stopped.
         * Task's thread.
         */
        int (*fetch)(void *owner, struct task_run *run, int rdd, int partition, struct buf *slice);
};

struct pipeline_env {
        struct task_run *run;
        const struct shuffle_source *shuffle;
        void *shuffle_owner;
        const struct slice_source *slices; /* NULL: all rows are in the lineage */
        void *slice_owner;
        struct block_store *blocks;         /* for persisted RDDs; NULL: they are not cached */
        const struct remote_blocks *remote; /* blocks of other executors (rdd/pipeline/remote_blocks.h), or NULL */
        bool ignore_corrupt_files;          /* spark.files.ignoreCorruptFiles */
        bool ignore_missing_files;          /* spark.files.ignoreMissingFiles */
        /* not 0: text files and binary records yield samples of this many bytes (text_reader_sample) */
        size_t sample_budget;
};

struct pipeline;

/* Creates the pipeline that computes partitions of @final and pushes them into @sink, which it takes over. Copies @env.
 * Borrows lineage, functions and captured structs. Never NULL. */
struct pipeline *pipeline_new(const struct pipeline_env *env, const fst_rdd *final, struct op *sink);

/* Computes one partition of @final. Returns 0, or negative after task_run_fail. */
int pipeline_run(struct pipeline *pipeline, int partition);

/* NULL is allowed. */
void pipeline_free(struct pipeline *pipeline);

struct op *pipeline_sink(struct pipeline *pipeline);
