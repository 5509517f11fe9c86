/*
 * Combining values by key: an operator that holds a whole partition back, through disk when memory is short
 * (rdd/aggregate/aggregate.h).
 */
#pragma once

#include "rdd/pipeline/op.h"

#include <firesteel/function.h>

struct aggregate_values;

/* Pairs in, one pair for each key out, its values combined by @fn (one of reduce's forms). */
struct op *combine_op_new(struct task_run *run, fst_type type, const fst_fn *fn);

/* The same of rows whose values are taken into accumulators, as @values says; pairs of @type come out. */
struct op *combine_op_new_taking(struct task_run *run, fst_type type, const struct aggregate_values *values,
                                 const fst_fn *fn);

/* Whether @fn can combine values of @type (a value alone, of any kind): 0, or -EINVAL with the reason. */
int combine_check(fst_type value, const fst_fn *fn, struct fst_error *error);

/*
 * Where a user's combining function of BYTES emits its result: an operator without a downstream. combine_out_reset
 * empties it; both are what aggregate_options wants.
 */
struct op *combine_out_new(struct task_run *run, fst_type value);

/* The same if any of the functions emits; else NULL. */
struct op *combine_out_for(struct task_run *run, fst_type type, const struct aggregate_values *values,
                           const fst_fn *fn);
void combine_out_reset(fst_out *out);
