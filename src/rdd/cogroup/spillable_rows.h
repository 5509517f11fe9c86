/*
 * An operator that collects a parent's rows, in memory or on disk, while another parent is computed. Afterwards the
 * rows can be read one or more times. zip, zip_partitions and cartesian use it.
 *
 *      rows_aside_init(&a, run, type);                 once for a slot
 *      op_begin(&a.op); push into &a.op;               for each partition
 *      rows_aside_read(&a), rows_aside_next(&a, &batch)
 *      rows_aside_reset(&a);
 *      rows_aside_deinit(&a);
 */
#pragma once

#include "rdd/pipeline/op.h"
#include "rdd/pipeline/row_buffer.h"

struct rows_aside {
        struct op op;
        struct row_buffer *buffer;
        bool started;
};

void rows_aside_init(struct rows_aside *a, struct task_run *run, fst_type type);
void rows_aside_deinit(struct rows_aside *a);

/* Starts reading at the first row. Returns 0, or negative after task_run_fail. */
int rows_aside_read(struct rows_aside *a);

/* Returns the next rows, valid until the next call; batch->rows is 0 at the end. 0, or negative after task_run_fail. */
int rows_aside_next(struct rows_aside *a, fst_batch *batch);

/* Discards the rows and frees the memory. */
void rows_aside_reset(struct rows_aside *a);
