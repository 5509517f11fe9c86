/*
 * map_partitions with an iterator: the user's function pulls the rows of a partition. It runs in a coroutine that
 * waits while the next batch is computed; nothing is gathered.
 */
#pragma once

#include "rdd/pipeline/op.h"

#include <firesteel/function.h>

/* @fn is of FST_FORM_ITER; ITER_AT, which is given the number of the RDD's partition, too; or EACH_ITER, without rows.
 */
struct op *iter_op_new(struct task_run *run, fst_type in, fst_type out, const fst_fn *fn);
