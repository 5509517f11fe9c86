/*
 * map_partitions with an iterator: the user's function pulls the rows of a partition. It runs in a coroutine that
 * waits while the next batch is computed; nothing is gathered.
 */
#pragma once

#include "rdd/op.h"

#include <firesteel/function.h>

struct op *iter_op_new(struct task_run *run, fst_type in, fst_type out, const fst_fn *fn);
