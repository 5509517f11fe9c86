/*
 * Join: rows of two sides with equal keys, each pair of them given to a function that makes rows of it.
 *
 * It takes rows from two inputs, one after the other: op_begin(join); then for each side op_begin(side), its rows into
 * side's `consume`; at last op_end(join), which makes and pushes all rows. There is nothing to do for the end of a
 * side.
 *
 * Rows come in the order of keys (as fst_sort_by_key has it), for one key in the order in which the left rows came, and
 * for each of these in that of the right ones: the same for the same input, however little memory there was.
 */
#pragma once

#include "rdd/op.h"

#include <firesteel/function.h>

enum join_side { JOIN_LEFT, JOIN_RIGHT };

/* Whether @fn joins pairs of types @left and @right: 0, or -EINVAL with what is wrong with them. */
int join_check(fst_type left, fst_type right, const fst_fn *fn, struct fst_error *error);

/* A join of checked types into rows of type @out. The captured struct and the name in @fn must outlive it. */
struct op *join_op_new(struct task_run *run, fst_type left, fst_type right, fst_type out, const fst_fn *fn);

/* The operator that takes the rows of @side. It is the join's own: not to be ended or freed. */
struct op *join_op_side(struct op *join, enum join_side side);
