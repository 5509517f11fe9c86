/* Writes runs of rows to disk, gathered into pages. A run is the range from its start to its end in the spill. All runs
 * of a kernel share one spill. */
#pragma once

#include "store/spill.h"
#include "store/spill_space.h"

struct spill_run {
        uint64_t start, end; /* offsets in the spill */
};

struct spill_run_writer {
        struct spill *spill; /* NULL until the first run; borrow it for reading */
        struct page *gather; /* not accounted: the owner of the writer reserves a page for it */
};

/* Begins a run of rows of @type. The first run creates the spill. Negative: no file could be created. */
int spill_run_writer_begin(struct spill_run_writer *w, const struct spill_space *space, fst_type type,
                           struct spill_run *run, struct fst_error *error);

/* Writes the rows of @batch. Negative: writing failed. */
int spill_run_writer_rows(struct spill_run_writer *w, const fst_batch *batch, struct fst_error *error);

/* Ends the run and sets *@run. Negative: writing failed. */
int spill_run_writer_end(struct spill_run_writer *w, struct spill_run *run, struct fst_error *error);

/* Ends all runs and frees the buffers. Negative: writing failed. */
int spill_run_writer_finish(struct spill_run_writer *w, struct fst_error *error);

/* Also removes the file. */
void spill_run_writer_deinit(struct spill_run_writer *w);
