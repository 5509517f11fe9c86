/*
 * The rows of a parent set aside while another is computed: an operator that gathers what is pushed into it, in memory
 * or on disk, for reading them afterwards, once or several times. What zip, zip_partitions and cartesian are made of.
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

/* From the first row on: 0, or negative after task_run_fail. */
int rows_aside_read(struct rows_aside *a);

/* The next rows, valid until the next call; batch->rows is 0 at the end. 0, or negative after task_run_fail. */
int rows_aside_next(struct rows_aside *a, fst_batch *batch);

/* Forget the rows and give the memory back. */
void rows_aside_reset(struct rows_aside *a);
