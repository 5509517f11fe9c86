/*
 * External sort: takes rows and returns them in the order of their keys, using disk if memory does not suffice.
 *
 *      struct sorter *s = sorter_new();                        once for a task slot
 *      sorter_start(s, &options, error);                       for each task
 *      for each batch: sorter_add_batch(s, batch, error)
 *      sorter_finish(s, error);
 *      while ((r = sorter_next(s, &batch, error)) == 0 && batch.rows) … use
 *      sorter_reset(s);
 *      sorter_free(s);
 *
 * Orders are those of fst_sort_by_key: I64 by value; F64 as Java's Double.compare (-0.0 before 0.0, NaN last); BYTES as
 * unsigned bytes, the shorter first where one begins the other; FIXED as unsigned bytes. Descending is the reverse of
 * that. Rows with equal keys keep the order in which they were added. NaN keys with a value of at most eight bytes
 * become the same NaN.
 *
 * A sorter belongs to one thread at a time. It keeps its index from task to task, like an aggregate's table
 * (rdd/aggregate/aggregate.h). Between sorter_reset and sorter_start the index is not reserved in any memory manager.
 */
#pragma once

#include "store/memory.h"
#include "store/page.h"

#include <firesteel/rdd.h>

struct sorter;
struct sort_index;
struct page_loan;
struct fst_error;
struct spill_space;

struct sorter_options {
        struct memory_task *memory;
        fst_type type;
        enum fst_order order;
        bool is_read_once;               /* sorter_seek and sorter_unsorted will not be called */
        const struct spill_space *spill; /* for runs; NULL: fails with -ENOMEM instead. Borrowed until sorter_reset */
};

struct sorter *sorter_new(void);

/* Frees everything and removes files. NULL is allowed. */
void sorter_free(struct sorter *s);

/* Prepares for a task; copies @options. Returns -ENOMEM if the task cannot have the minimal memory of a sort. */
int sorter_start(struct sorter *s, const struct sorter_options *options, struct fst_error *error);

/* Adds copies of the rows of @batch. Negative: -ENOMEM if memory cannot be freed, or the error of writing a run. */
int sorter_add_batch(struct sorter *s, const fst_batch *batch, struct fst_error *error);

/* Adds the rows of @page where they are, and takes over @loan, which the sorter ends when it needs the page no more.
 * Returns 0; FST_SORTER_E_NOT_BORROWED if the rows must be added as batches; or negative as sorter_add_batch. Unless it
 * is 0 the loan is still the caller's. */
#define FST_SORTER_E_NOT_BORROWED 1
int sorter_borrow_page(struct sorter *s, const struct page *page, struct page_loan *loan, struct fst_error *error);

/* Ends the input. The sorter can still spill. Negative as sorter_add_batch. sorter_finish does the same. */
int sorter_close(struct sorter *s, struct fst_error *error);

/* After sorter_close: the rows in the order in which they were added, for a caller that needs no order, or NULL if some
 * are on disk. From then on the sorter does not spill. sorter_finish may follow if the caller has not changed entries.
 */
struct sort_index *sorter_unsorted(struct sorter *s);

/* After sorter_close: the same without consequences, to look at, and the bytes that the sorter has reserved. */
const struct sort_index *sorter_rows(const struct sorter *s);
size_t sorter_reserved(const struct sorter *s);

/* Sorts; no more rows may be added. Negative: memory for merging is denied (-ENOMEM), or writing or reading runs
 * failed. */
int sorter_finish(struct sorter *s, struct fst_error *error);

/* Returns the next rows in order. Batch->rows is 0 at the end. Valid until the next call on @s. Negative: reading runs
 * failed. */
int sorter_next(struct sorter *s, fst_batch *batch, struct fst_error *error);

/* sorter_in_memory: true if, after sorter_finish, all rows are in memory. Then rows can be addressed by position:
 * sorter_tell returns the position of the next row, sorter_seek sets it. */
bool sorter_in_memory(const struct sorter *s);
size_t sorter_tell(const struct sorter *s);
void sorter_seek(struct sorter *s, size_t row);

/* Discards the rows, removes files and returns the reservations. Ready for sorter_start. */
void sorter_reset(struct sorter *s);

/* Counters for the task's metrics. */
struct sorter_stats {
        uint64_t rows;
        uint64_t spilled_bytes; /* written to disk */
        uint32_t spills;
};
struct sorter_stats sorter_stats(const struct sorter *s);
