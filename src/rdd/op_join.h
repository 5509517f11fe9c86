/* Joins as they were: until the pipeline knows cogroups. */
#pragma once

#include "rdd/op_cogroup.h"

static inline int join_check(fst_type left, fst_type right, const fst_fn *fn, struct fst_error *error)
{
        return cogroup_check(COGROUP_JOIN, "join", (fst_type[]){left, right}, 2, FST_I64, fn, error);
}

static inline struct op *join_op_new(struct task_run *run, fst_type left, fst_type right, fst_type out, const fst_fn *fn)
{
        return cogroup_op_new(run, COGROUP_JOIN, (fst_type[]){left, right}, 2, out, fn);
}

static inline struct op *join_op_side(struct op *join, enum join_side side)
{
        return cogroup_op_side(join, (int)side);
}
