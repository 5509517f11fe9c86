/* An operator that combines values by key over a whole partition, using disk when memory is short
 * (rdd/aggregate/aggregate.h). */
#pragma once

#include "rdd/pipeline/op.h"

#include <firesteel/function.h>

struct aggregate_values;

/* Takes pairs and pushes one pair for each key, its values combined by @fn (one of reduce's forms). */
struct op *combine_op_new(struct task_run *run, fst_type type, const fst_fn *fn);

/* Takes rows whose values enter accumulators by @values, and pushes pairs of @type. */
struct op *combine_op_new_taking(struct task_run *run, fst_type type, const struct aggregate_values *values,
                                 const fst_fn *fn);

/* Checks that @fn can combine values of @type (a value alone, of any kind). Returns 0, or -EINVAL with the reason. */
int combine_check(fst_type value, const fst_fn *fn, struct fst_error *error);

/* Creates the target for an application function that emits its combined BYTES: an operator without a downstream.
 * combine_out_reset empties it. Both go into aggregate_options. */
struct op *combine_out_new(struct task_run *run, fst_type value);

/* The same if any of the functions emits, otherwise NULL. */
struct op *combine_out_for(struct task_run *run, fst_type type, const struct aggregate_values *values,
                           const fst_fn *fn);
void combine_out_reset(fst_out *out);
