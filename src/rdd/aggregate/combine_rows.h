/*
 * The inner loops of a combining table: for a group of rows whose keys were hashed, find or make their slots and call
 * what combines. There is a loop for each kind of accumulator and value and each function of the engine's, so that a
 * number costs no call but the application's own function.
 */
#pragma once

#include "rdd/aggregate/combine_table.h"

/*
 * Set the table's loops for what @options say. -EINVAL when the functions do not go with the types.
 */
int combine_rows_choose(struct combine_table *t, const struct aggregate_options *options, struct fst_error *error);

/*
 * Whether @combine combines accumulators of @accumulator (one column), which may be FST_KIND_NONE, and @values, unless
 * that is NULL, makes them of values: 0, or -EINVAL with what is wrong.
 */
int combine_rows_check(fst_type accumulator, const struct aggregate_values *values, const fst_fn *combine,
                       struct fst_error *error);
