/*
 * External sort: rows in, rows out in the order of their keys, through disk if memory does not suffice.
 *
 *      struct sorter *s = sorter_new();                        once for a task slot
 *      sorter_start(s, &options, error);                       for each task
 *      for each batch: sorter_add_batch(s, batch, error)
 *      sorter_finish(s, error);
 *      while ((r = sorter_next(s, &batch, error)) == 0 && batch.rows) … use
 *      sorter_reset(s);
 *      sorter_free(s);
 *
 * Orders are those of fst_sort_by_key: I64 by value; F64 as Java's Double.compare (-0.0 before 0.0, NaN last);
 * BYTES as unsigned bytes, the shorter first where one begins the other; FIXED as unsigned bytes. Descending is
 * the reverse of that. Rows with equal keys stay in the order in which they were added. NaNs that are keys
 * beside a value of at most eight bytes come out as one NaN.
 *
 * A sorter belongs to one thread at a time. Its index is kept from task to task as an aggregate's table is (see
 * rdd/aggregate/aggregate.h): between sorter_reset and sorter_start it is not reserved from anyone.
 */
#pragma once

#include "store/memory.h"
#include "store/page.h"

#include <firesteel/rdd.h>

struct sorter;
struct fst_error;
struct spill_space;

struct sorter_options {
        struct memory_task *memory;
        fst_type type;
        enum fst_order order;
        const struct spill_space
                *spill; /* where runs are written; NULL: -ENOMEM instead. Borrowed until sorter_reset */
};

struct sorter *sorter_new(void);

/* Releases everything, files too. NULL is allowed. */
void sorter_free(struct sorter *s);

/* Make ready for a task; @options is copied. -ENOMEM when the task may not have the least that a sort needs. */
int sorter_start(struct sorter *s, const struct sorter_options *options, struct fst_error *error);

/* Add copies of the rows of @batch. Negative: -ENOMEM when nothing helps, or the status of writing a run. */
int sorter_add_batch(struct sorter *s, const fst_batch *batch, struct fst_error *error);

/* No more rows: sort. Negative: memory for merging is refused (-ENOMEM), or writing or reading runs failed. */
int sorter_finish(struct sorter *s, struct fst_error *error);

/*
 * The next rows in order: 0, and batch->rows == 0 at the end. Valid until the next call on @s. Negative: reading
 * runs failed.
 */
int sorter_next(struct sorter *s, fst_batch *batch, struct fst_error *error);

/*
 * Once it is finished: whether all rows are in memory. Then the rows can be sought by how many come before them: tell
 * says how many sorter_next has given or passed by, and seek goes anywhere among them.
 */
bool sorter_in_memory(const struct sorter *s);
size_t sorter_tell(const struct sorter *s);
void sorter_seek(struct sorter *s, size_t row);

/* Forget the rows, remove files, give the reservations back; ready for sorter_start. */
void sorter_reset(struct sorter *s);

/* Figures for the task's metrics. */
struct sorter_stats {
        uint64_t rows;
        uint64_t spilled_bytes; /* written to disk */
        uint32_t spills;
};
struct sorter_stats sorter_stats(const struct sorter *s);
