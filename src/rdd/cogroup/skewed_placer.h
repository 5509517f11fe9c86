/*
 * Places the rows of one side of a join whose heavy keys are spread over several partitions (rdd/cogroup/heavy_keys.h).
 *
 *      skewed_placer_begin(&s, p, partition);              for each map partition
 *      skewed_placer_place(&s, batch, out);                 for each batch
 *      while (skewed_placer_next_copies(&s, &copies, out))
 *              …
 *      skewed_placer_deinit(&s);
 *
 * The place of a row depends on its key, its value and the number of its map partition, but not on the order of rows.
 * So a map task that runs again places them alike, even if its input comes in another order.
 */
#pragma once

#include "rdd/partitioner.h"
#include "rdd/pipeline/columns.h"

struct skewed_placer {
        const struct partitioner *p;
        uint32_t partition;
        const fst_batch *batch; /* placed last */
        uint32_t n;             /* its rows of which further copies are needed */
        uint32_t rows[FST_BATCH_ROWS];
        const struct heavy_key *keys[FST_BATCH_ROWS];
        uint32_t at, part; /* the next copy is that of row `at` of these, for this part of its key */
        uint32_t gathered[FST_BATCH_ROWS];
        struct columns columns;
};

/* Starts with the rows of map partition @partition. @p is SKEWED and ready. The first time, *@s is zero. */
void skewed_placer_begin(struct skewed_placer *s, const struct partitioner *p, int partition);
void skewed_placer_deinit(struct skewed_placer *s);

/* Writes the partition of each row of @batch into @out[0 … rows). */
void skewed_placer_place(struct skewed_placer *s, const fst_batch *batch, uint32_t *out);

/*
 * Gets further copies of rows of that batch, which other partitions need, and their partitions. The batch must still
 * exist. *@copies is valid until the next call. Returns false at the end.
 */
bool skewed_placer_next_copies(struct skewed_placer *s, fst_batch *copies, uint32_t *out);
