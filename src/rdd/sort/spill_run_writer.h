/*
 * Runs: rows that a kernel writes to disk one after another, gathered into pages, and finds again by where they
 * begin and end. All runs of a kernel lie in one spill.
 */
#pragma once

#include "store/spill.h"
#include "store/spill_space.h"

struct run {
        uint64_t start, end; /* in the spill */
};

struct run_writer {
        struct spill *spill; /* NULL until the first run; borrow it for reading */
        struct page *gather; /* not accounted: whoever has a writer sets a page aside for it */
};

/* Begin a run of rows of @type; makes the spill when it is the first. Negative: no file could be made. */
int run_writer_begin(struct run_writer *w, const struct spill_space *space, fst_type type, struct run *run,
                     struct fst_error *error);

/* Write the rows of @batch. Negative: writing failed. */
int run_writer_rows(struct run_writer *w, const fst_batch *batch, struct fst_error *error);

/* The run is complete: *@run says where it is. Negative: writing failed. */
int run_writer_end(struct run_writer *w, struct run *run, struct fst_error *error);

/* No further runs: give the buffers back. Negative: writing failed. */
int run_writer_finish(struct run_writer *w, struct fst_error *error);

/* Remove the file too. */
void run_writer_deinit(struct run_writer *w);
