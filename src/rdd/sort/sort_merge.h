/*
 * Merges sorted runs: ranges of a spill and, optionally last, a sorted index in memory.
 *
 * The smallest row comes first. Of equal keys the row of the earlier run comes first, so the caller passes runs in the
 * order in which their rows were added. Each run of the spill has one page in memory, which the caller has reserved.
 */
#pragma once

#include "rdd/sort/spill_run_writer.h"
#include "rdd/sort/sort_index.h"

struct merge_source {
        uint64_t prefix; /* prefix of the current row */
        struct record_view row;
        uint64_t key;            /* key of a whole row in the index, viewed by `row` */
        const unsigned char *at; /* the next record of the page */
        struct page *page;       /* NULL for the index */
        uint32_t left;           /* unread rows of the page, including the current one */
        bool ended;
        struct spill_reader reader;
        bool reading; /* the spill reader is open */
};

struct sort_merge {
        struct record_order order;
        struct merge_source *sources;
        size_t n;
        size_t *losers;                 /* losers[0] is the winner; losers[1 … n) are the losers of the inner nodes */
        const struct sort_index *index; /* the last source, or NULL */
        size_t index_at;                /* position of its current row */
        size_t empty;                   /* the source whose page is consumed, or n */
        struct codec codec;             /* shared by all readers */
};

/* Opens @n runs of @spill and reads the first page of each. Negative: opening or reading failed, and @m is empty. */
int sort_merge_init(struct sort_merge *m, struct record_order order, struct spill *spill, enum codec_kind codec,
                    int level, const struct spill_run *runs, size_t n, const struct sort_index *index,
                    struct fst_error *error);
void sort_merge_deinit(struct sort_merge *m);

/* Returns up to @room further rows in the columns of @batch. Batch->rows is 0 at the end. Views are valid until the
 * next call. Negative: reading failed. */
int sort_merge_next(struct sort_merge *m, uint32_t room, fst_batch *batch, struct fst_error *error);
