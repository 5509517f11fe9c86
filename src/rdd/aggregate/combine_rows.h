/*
 * The inner loops of a combining table. For a group of rows with hashed keys, a loop finds or creates the slots and
 * combines the values. There is a loop for each kind of accumulator and value and for each built-in function, so that a
 * number costs no call except that of the application's function.
 */
#pragma once

#include "rdd/aggregate/combine_table.h"

/* Sets the table's loops for @options. Returns -EINVAL if the functions do not fit the types. */
int combine_rows_choose(struct combine_table *t, const struct aggregate_options *options, struct fst_error *error);

/* Checks that @combine combines accumulators of @accumulator (one column, may be FST_KIND_NONE) and that @values,
 * unless NULL, creates them from values. Returns 0, or -EINVAL with the reason. */
int combine_rows_check(fst_type accumulator, const struct aggregate_values *values, const fst_fn *combine,
                       struct fst_error *error);
