/*
 * Merging sorted runs: ranges of a spill, and last, if there is one, a sorted index in memory.
 *
 * The least row of all comes first; of equal keys that of the earlier run, so runs are given in the order in which
 * their rows were added. Each run of the spill has one page in memory, which the caller has reserved.
 */
#pragma once

#include "rdd/sort/spill_run_writer.h"
#include "rdd/sort/sort_index.h"

struct merge_source {
        uint64_t prefix; /* of the present row */
        struct record_view row;
        uint64_t key;            /* of a row that is whole in the index: what `row` views */
        const unsigned char *at; /* the next record of the page */
        struct page *page;       /* NULL for the index */
        uint32_t left;           /* rows of the page not yet taken, the present one included */
        bool ended;
        struct spill_reader reader;
        bool reading; /* the reader is open */
};

struct sort_merge {
        struct record_order order;
        struct merge_source *sources;
        size_t n;
        size_t *losers; /* losers[0] is the winner; losers[1 … n) the losers of the matches above it */
        const struct sort_index *index; /* the last source, or NULL */
        size_t index_at;                /* of its present row */
        size_t empty;                   /* the source whose page was used up; n if none was */
        struct codec codec;             /* of all readers */
};

/* Open @n runs of @spill and read the first page of each. Negative: opening or reading failed; @m is empty then. */
int sort_merge_init(struct sort_merge *m, struct record_order order, struct spill *spill, enum codec_kind codec,
                    int level, const struct run *runs, size_t n, const struct sort_index *index,
                    struct fst_error *error);
void sort_merge_deinit(struct sort_merge *m);

/*
 * Up to @room further rows into the columns of @batch: 0, and batch->rows == 0 at the end. Views are valid until
 * the next call. Negative: reading failed.
 */
int sort_merge_next(struct sort_merge *m, uint32_t room, fst_batch *batch, struct fst_error *error);
