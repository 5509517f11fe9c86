/*
 * Sorting: an operator that holds a whole partition back, through disk when memory is short (rdd/sort/sorter.h).
 */
#pragma once

#include "rdd/pipeline/op.h"

#include <firesteel/rdd.h>

/* Rows in, the same rows out in the order of their keys. */
struct op *sort_op_new(struct task_run *run, fst_type type, enum fst_order order);
