/*
 * The output of one map task: for each reduce partition a list of pages, in memory, on disk, or both.
 *
 * One task fills it (shuffle_writer). Then it is only read, and shared by reference. In memory it is storage as defined
 * by store/memory.h, and may be evicted to disk unless a reader pins it.
 */
#pragma once

#include "store/page.h"
#include "store/spill_space.h"

#include <firesteel/types.h>

#include <pthread.h>
#include <stdint.h>

struct remote_stream;
struct spill;
struct shuffle_store;
struct fst_error;

/* A page on disk. */
struct shuffle_extent {
        uint64_t offset;
        uint32_t length;
        uint32_t next; /* index + 1 of the next extent of the same partition; 0 ends */
};

/* The pages of one reduce partition. Small, because there are as many as map tasks times partitions. */
struct shuffle_partition {
        struct page *last;             /* last page in memory; its `next` is the first (a ring). NULL: none */
        uint32_t extents, last_extent; /* on disk: index + 1 into `extents`; 0: none */
};

struct shuffle_output {
        int refs; /* atomic */
        /* All partitions, or only those that have pages (shuffle_output_pack). */
        struct shuffle_partition *at;
        uint64_t *present; /* a bit for each partition that has pages; NULL: `at` has all partitions */
        uint32_t *rank;    /* by word of `present`: the partitions with pages in the words before it */
        int n_at;
        int partitions;
        uint32_t bucket_bits; /* not 0: all pages in memory have segments of so many bits' buckets (shuffle/buckets/) */
        fst_type type;
        uint64_t rows, bytes;
        size_t pages;  /* pages in memory */
        size_t memory; /* reserved as storage for the pages */
        struct memory_manager *manager;
        struct shuffle_extent *extents;
        uint32_t n_extents, extents_cap;
        struct spill *file;   /* NULL until the first write */
        pthread_mutex_t lock; /* protects pins and the moving of pages to disk */
        int pins;
        struct remote_stream *stream;         /* stores the pages outside of executors; owned. NULL: none */
        bool dropped;                         /* it has stored pages that are not here any more */
        bool stuck;                           /* its pages could not be moved to disk */
        struct shuffle_store *store;          /* the store that may evict it; NULL: none */
        struct shuffle_output *older, *newer; /* in the store; under its lock */
        /* A copy of an output that is outside of executors: it is dropped when memory is needed. Set by
         * shuffle_store_put_copy, with its shuffle, map partition and task. */
        bool is_copy;
        int32_t copy_shuffle, copy_map;
        int64_t copy_task;
};

/* Creates an empty output with one reference. Never NULL. */
struct shuffle_output *shuffle_output_new(int partitions, fst_type type, struct memory_manager *manager);
struct shuffle_output *shuffle_output_ref(struct shuffle_output *output);

/* Drops a reference. The last one frees pages and file. NULL is allowed. */
void shuffle_output_unref(struct shuffle_output *output);

/* Appends @page to the pages of @partition; steals it. Writer only. */
void shuffle_output_add(struct shuffle_output *output, uint32_t partition, struct page *page);

/* Appends a page of @partition that lies in this range of the output's file. Writer only. */
void shuffle_output_add_extent(struct shuffle_output *output, uint32_t partition, uint64_t offset, uint32_t length);

/*
 * Moves all pages to the output's file, which is created if needed. Adds the bytes of memory freed to *@freed, also on
 * failure. For the writer, or with the output unpinned and locked.
 */
int shuffle_output_to_disk(struct shuffle_output *output, const struct spill_space *space, size_t *freed,
                           struct fst_error *error);

/*
 * Waits until the output's stream has stored all pages, and frees them. Adds their bytes to *@freed. *@stopped ends the
 * wait. Returns 0, or negative with @error and the pages unchanged. Writer only.
 */
int shuffle_output_drain(struct shuffle_output *output, const int *stopped, size_t *freed, struct fst_error *error);

/* Ends the output's stream, if there is one. */
void shuffle_output_end_stream(struct shuffle_output *output);

/*
 * Keeps only the partitions that have pages if most of them have none: 10,000 map tasks with 10,000 partitions each
 * would need 1.6 GB. Writer only, after the last page and before the output is shared.
 */
void shuffle_output_pack(struct shuffle_output *output);

/* Returns a partition's pages, NULL if a packed output has none. Of a shared output that is not pinned, only whether it
 * is NULL may be used. */
static inline struct shuffle_partition *shuffle_output_at(const struct shuffle_output *output, int partition)
{
        if (!output->present)
                return &output->at[partition];
        uint64_t word = output->present[partition / 64], bit = UINT64_C(1) << partition % 64;
        if (!(word & bit))
                return NULL;
        return &output->at[output->rank[partition / 64] + (uint32_t)__builtin_popcountll(word & (bit - 1))];
}

/* True if a partition has no pages, which it then never has. Any thread, also without a pin. */
bool shuffle_output_is_empty(const struct shuffle_output *output, int partition);

/* The first partition from @partition on that has pages, or the number of partitions. Of pinned outputs. */
int shuffle_output_next(const struct shuffle_output *output, int partition);

/* Completes the output and its file, if there is one. Writer only. */
int shuffle_output_finish(struct shuffle_output *output, struct fst_error *error);

/* Pin keeps the pages in memory. Unpin allows moving them to disk again. Pins nest. Any thread. */
void shuffle_output_pin(struct shuffle_output *output);
void shuffle_output_unpin(struct shuffle_output *output);
