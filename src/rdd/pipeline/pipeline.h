/*
 * A pipeline: the operators of one stage in one slot, from the sources through the narrow dependencies into a
 * sink, usable for one partition after another. Making it costs allocations, running it for a further partition does
 * not; that is what makes small tasks cheap.
 */
#pragma once

#include "rdd/pipeline/op.h"
#include "rdd/rdd.h"

struct block_store;
struct page;
struct remote_blocks;

/*
 * How a pipeline reads a shuffle: set by the room above (shuffle/), which knows where map outputs are. All calls
 * come from the task's thread; failures are recorded in @run.
 */
struct shuffle_input;
struct shuffle_source {
        /* Begin to read partition @partition of a shuffle's outputs, which are rows of @type. */
        int (*open)(void *owner, struct task_run *run, int shuffle_id, int partition, fst_type type,
                    struct shuffle_input **input);
        /* The next page, valid until the next call; NULL at the end. */
        int (*next)(struct shuffle_input *input, const struct page **page);
        void (*close)(struct shuffle_input *input);
};

/*
 * How a pipeline gets rows of parallelize that did not come with the stage: set by the room that knows the driver.
 */
struct buf;
struct slice_source {
        /*
         * Append the slice of partition @partition of RDD @rdd (made by slice_encode, rdd/slice.h) to @slice, which is
         * empty. 0, or negative after task_run_fail. Blocks, until the task is stopped; on the task's thread.
         */
        int (*fetch)(void *owner, struct task_run *run, int rdd, int partition, struct buf *slice);
};

struct pipeline_env {
        struct task_run *run;
        const struct shuffle_source *shuffle;
        void *shuffle_owner;
        const struct slice_source *slices; /* NULL: all rows are in the lineage */
        void *slice_owner;
        struct block_store *blocks; /* for persisted RDDs; NULL: none are kept */
        const struct remote_blocks
                *remote;           /* those of other executors (rdd/pipeline/remote_blocks.h); NULL: there are none */
        bool ignore_corrupt_files; /* spark.files.ignoreCorruptFiles */
        bool ignore_missing_files; /* spark.files.ignoreMissingFiles */
        size_t sample_budget;      /* not 0: text files and binary records give samples of this many bytes
                                      (text_reader_sample) */
};

struct pipeline;

/*
 * The pipeline that computes partitions of @final and pushes them into @sink, which it steals. @env is copied;
 * lineage, its functions and captured structs are borrowed. Never NULL.
 */
struct pipeline *pipeline_new(const struct pipeline_env *env, const fst_rdd *final, struct op *sink);

/* Compute one partition of @final: 0, or negative after task_run_fail. */
int pipeline_run(struct pipeline *pipeline, int partition);

/* NULL is allowed. */
void pipeline_free(struct pipeline *pipeline);

struct op *pipeline_sink(struct pipeline *pipeline);
