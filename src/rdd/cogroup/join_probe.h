/*
 * Joins rows that arrive, batch by batch, with those of a table: arriving rows are not held.
 *
 *      join_probe_start(&p, left, right, built, lists_missing);        for each task
 *      join_probe_batch(&p, &table, batch, rows, owner);               for each batch
 *      join_probe_deinit(&p);
 */
#pragma once

#include "rdd/cogroup/hash_join.h"

struct join_probe {
        enum join_side built; /* the side of the table */
        bool lists_missing;   /* arriving rows without a match are passed on */
        fst_type built_type;
        struct sort_entry arriving[FST_BATCH_ROWS];
        struct join_search search;
        struct columns columns[2];
};

/* Prepares for sides of these types. Keeps its memory from task to task. */
void join_probe_start(struct join_probe *p, fst_type left, fst_type right, enum join_side built, bool lists_missing);
void join_probe_deinit(struct join_probe *p);

/* Joins the rows of @batch with those of @table and passes the result to @rows. Returns 0, or the status of @rows. */
int join_probe_batch(struct join_probe *p, const struct join_table *table, const fst_batch *batch,
                     hash_join_rows_fn rows, void *owner);
