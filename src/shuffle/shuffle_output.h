/*
 * The output of one map task: for each reduce partition a list of pages, in memory, on disk, or both.
 *
 * It is filled by one task (shuffle_writer) and then only read; it is shared by reference. While it is in memory it
 * is storage in the sense of store/memory.h and may be evicted to disk, unless a reader holds it pinned.
 */
#pragma once

#include "store/page.h"
#include "store/spill_space.h"

#include <firesteel/types.h>

#include <pthread.h>
#include <stdint.h>

struct spill;
struct shuffle_store;
struct fst_error;

/* A page on disk. */
struct shuffle_extent {
        uint64_t offset;
        uint32_t length;
        uint32_t next; /* index + 1 of the next extent of the same partition; 0 ends */
};

/* Kept small, as there are as many as map tasks times partitions, most of them empty where that is large. */
struct shuffle_partition {
        struct page *last;             /* in memory; its `next` is the first, in a ring. NULL: none */
        uint32_t extents, last_extent; /* on disk: index + 1 into `extents`; 0: none */
};

struct shuffle_output {
        int refs; /* atomic */
        int partitions;
        fst_type type;
        uint64_t rows, bytes;
        size_t pages;  /* in memory */
        size_t memory; /* reserved as storage for the pages */
        struct memory_manager *manager;
        struct shuffle_extent *extents;
        uint32_t n_extents, extents_cap;
        struct spill *file;   /* NULL until something was written */
        pthread_mutex_t lock; /* of pins and of moving pages to disk */
        int pins;
        bool stuck;                           /* its pages could not be moved to disk */
        struct shuffle_store *store;          /* that may evict it; NULL: none */
        struct shuffle_output *older, *newer; /* in the store, under its lock */
        struct shuffle_partition at[];
};

/* An output with one reference and nothing in it. Never NULL. */
struct shuffle_output *shuffle_output_new(int partitions, fst_type type, struct memory_manager *manager);
struct shuffle_output *shuffle_output_ref(struct shuffle_output *output);

/* Drops a reference; the last one frees pages and file. NULL is allowed. */
void shuffle_output_unref(struct shuffle_output *output);

/* Put @page behind the pages of @partition; steals it. For the writer only. */
void shuffle_output_add(struct shuffle_output *output, uint32_t partition, struct page *page);

/* The next page of @partition is in the output's file, in that range. For who fills it alone. */
void shuffle_output_add_extent(struct shuffle_output *output, uint32_t partition, uint64_t offset, uint32_t length);

/*
 * Move all pages to the output's file, which is made if there is none. *@freed grows by the bytes of memory that
 * are free now, also on failure. For the writer, or with the output unpinned and locked.
 */
int shuffle_output_to_disk(struct shuffle_output *output, const struct spill_space *space, size_t *freed,
                           struct fst_error *error);

/* The writer is done: the file, if there is one, is complete. */
int shuffle_output_finish(struct shuffle_output *output, struct fst_error *error);

/* Keep its pages where they are, or allow them to be moved to disk again. Pins nest. Any thread. */
void shuffle_output_pin(struct shuffle_output *output);
void shuffle_output_unpin(struct shuffle_output *output);
