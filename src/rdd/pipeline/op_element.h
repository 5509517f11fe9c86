/*
 * Operators that call a user's function for each row: map, flat_map, filter, map_values, foreach; and for each batch:
 * the batch form of map_partitions.
 *
 * The function's shape must fit the input type. element_check verifies this when the lineage is built, with a message
 * for the user. The captured struct and the name in @fn must outlive the operator.
 */
#pragma once

#include "rdd/pipeline/op.h"

#include <firesteel/function.h>

enum element_kind {
        ELEMENT_MAP,
        ELEMENT_FLAT_MAP,
        ELEMENT_FILTER,
        ELEMENT_MAP_VALUES,
        ELEMENT_FOREACH,
        ELEMENT_BATCHES
};

/* Checks that @fn can be the function of a @kind operator from @in to @out. Returns 0, or -EINVAL naming both types.
 * For ELEMENT_MAP_VALUES, @out is the resulting pair. */
int element_check(enum element_kind kind, fst_type in, fst_type out, const fst_fn *fn, struct fst_error *error);

struct op *element_op_new(enum element_kind kind, struct task_run *run, fst_type in, fst_type out, const fst_fn *fn);
