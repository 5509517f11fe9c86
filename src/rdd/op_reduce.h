/* The sink of reduce: all rows of a partition combined into one value. */
#pragma once

#include "rdd/op.h"

#include <firesteel/function.h>

/* One value, or none: I64 and F64 (its bits) in `number`, BYTES and FIXED in `data`, owned by the holder. */
struct reduce_value {
        bool present;
        int64_t number;
        char *data;
        size_t size;
};

/* @fn has one of reduce's forms for @type, which is no pair (combine_check). */
struct op *reduce_op_new(struct task_run *run, fst_type type, const fst_fn *fn);

/* Combine one more value: 0, or negative after task_run_fail. */
int reduce_op_add(struct op *op, const struct reduce_value *value);

/* The value so far, moved into *@value. */
void reduce_op_take(struct op *op, struct reduce_value *value);
