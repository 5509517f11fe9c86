/* Calls the functions of joins: a loop for each form of them (FST_JOINS in firesteel/detail/function.h). */
#pragma once

#include "rdd/pipeline/op.h"

#include <firesteel/function.h>

/*
 * Calls @fn for rows @from … @to of @right, with row @at of @left for the first of them, and row @at + @step,
 * @at + 2 * @step … for the others. The key is that of @left. NULL columns are missing values. Rows are emitted to the
 * output of @op. Returns 0, the status of downstream, or negative after task_run_fail.
 */
typedef int (*join_loop)(struct op *op, const fst_fn *fn, const fst_batch *left, uint32_t at, uint32_t step,
                         const fst_batch *right, uint32_t from, uint32_t to);

/* The loop for a function that cogroup_check accepted. */
join_loop join_loop_of(const fst_fn *fn);
