/*
 * Combining values by key: an operator that holds a whole partition back, through disk when memory is short
 * (rdd/aggregate.h).
 */
#pragma once

#include "rdd/op.h"

#include <firesteel/function.h>

/* Pairs in, one pair for each key out, its values combined by @fn (one of reduce's forms). */
struct op *combine_op_new(struct task_run *run, fst_type type, const fst_fn *fn);

/* Whether @fn can combine values of @type (a value alone): 0, or -EINVAL with the reason. */
int combine_check(fst_type value, const fst_fn *fn, struct fst_error *error);

/*
 * Where a user's combining function of BYTES emits its result: an operator without a downstream. combine_out_reset
 * empties it; both are what aggregate_options wants.
 */
struct op *combine_out_new(struct task_run *run, fst_type value);
void combine_out_reset(fst_out *out);
