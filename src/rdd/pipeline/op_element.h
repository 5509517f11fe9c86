/*
 * Operators that call a user's function for each row: map, flat_map, filter, map_values, foreach; and for each
 * batch: map_partitions in its batch form.
 *
 * Each of these is made with a function whose shape fits the input type; element_check says so when the lineage
 * is built, with the words for the user. The captured struct and the name in @fn must outlive the operator.
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

/*
 * Whether @fn can be the function of a @kind operator from @in to @out: 0, or -EINVAL with both types named.
 * For ELEMENT_MAP_VALUES @out is the type of the pair that results.
 */
int element_check(enum element_kind kind, fst_type in, fst_type out, const fst_fn *fn, struct fst_error *error);

struct op *element_op_new(enum element_kind kind, struct task_run *run, fst_type in, fst_type out, const fst_fn *fn);
