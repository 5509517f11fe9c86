/* An operator that sorts a whole partition, on disk when memory is short (rdd/sort/sorter.h). */
#pragma once

#include "rdd/pipeline/op.h"

#include <firesteel/rdd.h>

/* Takes rows and pushes them in the order of their keys. */
struct op *sort_op_new(struct task_run *run, fst_type type, enum fst_order order);
