/* flat_map_values: any number of values for each value, with its key before each of them. */
#pragma once

#include "rdd/pipeline/op.h"

#include <firesteel/function.h>

/* Whether @fn takes the values of pairs of @in and emits those of @out: 0, or -EINVAL with what is wrong. */
int flat_map_values_check(fst_type in, fst_type out, const fst_fn *fn, struct fst_error *error);

/* The captured struct and the name in @fn must outlive it. */
struct op *flat_map_values_op_new(struct task_run *run, fst_type in, fst_type out, const fst_fn *fn);
