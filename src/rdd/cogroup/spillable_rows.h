/*
 * An operator that collects a parent's rows, in memory or on disk, while another parent is computed. Afterwards the
 * rows can be read one or more times. zip, zip_partitions and cartesian use it.
 *
 *      spillable_rows_init(&a, run, type);                 once for a slot
 *      op_begin(&a.op); push into &a.op;               for each partition
 *      spillable_rows_read(&a), spillable_rows_next(&a, &batch)
 *      spillable_rows_reset(&a);
 *      spillable_rows_deinit(&a);
 */
#pragma once

#include "rdd/pipeline/op.h"
#include "rdd/pipeline/row_buffer.h"

struct spillable_rows {
        struct op op;
        struct row_buffer *buffer;
        bool started;
};

void spillable_rows_init(struct spillable_rows *a, struct task_run *run, fst_type type);
void spillable_rows_deinit(struct spillable_rows *a);

/* Starts reading at the first row. Returns 0, or negative after task_run_fail. */
int spillable_rows_read(struct spillable_rows *a);

/* Returns the next rows, valid until the next call. Batch->rows is 0 at the end. 0, or negative after task_run_fail. */
int spillable_rows_next(struct spillable_rows *a, fst_batch *batch);

/* Discards the rows and frees the memory. */
void spillable_rows_reset(struct spillable_rows *a);
