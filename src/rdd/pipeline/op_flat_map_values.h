/* flat_map_values: any number of values for each value, each with the key of its input row. */
#pragma once

#include "rdd/pipeline/op.h"

#include <firesteel/function.h>

/* Checks that @fn takes the values of pairs of @in and emits values of @out. Returns 0, or -EINVAL with the reason. */
int flat_map_values_check(fst_type in, fst_type out, const fst_fn *fn, struct fst_error *error);

/* The captured struct and the name in @fn must outlive the operator. */
struct op *flat_map_values_op_new(struct task_run *run, fst_type in, fst_type out, const fst_fn *fn);
