/* map_partitions with an iterator: the user's function pulls the rows of a partition. It runs in a coroutine that waits
 * while the next batch is computed, so no rows are collected. */
#pragma once

#include "rdd/pipeline/op.h"

#include <firesteel/function.h>

/* @fn has the form FST_FORM_ITER, ITER_AT (which also gets the number of the RDD's partition), or EACH_ITER (which
 * emits no rows). */
struct op *iter_op_new(struct task_run *run, fst_type in, fst_type out, const fst_fn *fn);
