/*
 * A buffer of rows that are read several times in insertion order: in memory while there is room, otherwise on disk.
 *
 *      struct row_buffer *b = row_buffer_new();                once for a task slot
 *      row_buffer_start(b, memory, spill, type, error);        for each task
 *      row_buffer_add(b, batch, error);
 *      for (each time) {
 *              row_buffer_read(b, error);
 *              while ((r = row_buffer_next(b, &batch, error)) == 0 && batch.rows) … use
 *      }
 *      row_buffer_clear(b);                                    and add other rows
 *      row_buffer_reset(b);
 *      row_buffer_free(b);
 *
 * A buffer belongs to one thread at a time.
 */
#pragma once

#include "store/memory.h"
#include "store/page.h"

struct row_buffer;
struct spill_space;

struct row_buffer *row_buffer_new(void);

/* Releases everything, the file too. NULL is allowed. */
void row_buffer_free(struct row_buffer *b);

/* Prepares for rows of @type and reserves the memory to write and read a file. @spill is borrowed until
 * row_buffer_reset; NULL: there is no disk. Returns -ENOMEM if the task cannot reserve that much. */
int row_buffer_start(struct row_buffer *b, struct memory_task *memory, const struct spill_space *spill, fst_type type,
                     struct fst_error *error);

/* Adds copies of the rows of @batch. Negative: -ENOMEM without a disk, or a failed write. */
int row_buffer_add(struct row_buffer *b, const fst_batch *batch, struct fst_error *error);

/* Starts reading at the first row. No rows may be added until row_buffer_clear. Negative: writing or opening failed. */
int row_buffer_read(struct row_buffer *b, struct fst_error *error);

/* Returns the next rows. Batch->rows is 0 at the end. Valid until the next call on @b. Negative: reading failed. */
int row_buffer_next(struct row_buffer *b, fst_batch *batch, struct fst_error *error);

/* Discards the rows and keeps the reservation. Ready for other rows. */
void row_buffer_clear(struct row_buffer *b);

/* Discards the rows and returns the reservation. Ready for row_buffer_start. */
void row_buffer_reset(struct row_buffer *b);

/* Bytes written to disk since row_buffer_start. */
uint64_t row_buffer_spilled(const struct row_buffer *b);
