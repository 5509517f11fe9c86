/*
 * The sink of reduce, fold and aggregate: all rows of a partition taken into one value. And of the driver, which
 * combines the values of all partitions with it.
 */
#pragma once

#include "rdd/pipeline/op.h"

#include <firesteel/function.h>

/* One value, or none: I64 and F64 (its bits) in `number`, BYTES and FIXED in `data`, owned by the holder. */
struct reduce_value {
        bool present;
        int64_t number;
        char *data;
        size_t size;
};

/* Row @row of @column, which is of @type's key: data is borrowed from the column. */
struct reduce_value reduce_value_at(fst_type type, fst_column column, uint32_t row);

void reduce_value_deinit(struct reduce_value *value);

/* Make *@to, which holds nothing, a copy of @from. */
void reduce_value_copy(struct reduce_value *to, const struct reduce_value *from);

/*
 * What @fn makes of rows of @in, a value of @made. @zero is what a partition begins with (borrowed); NULL: its first
 * row, and then rows and result are of one type. @fn has one of aggregate's forms for @in and @made (reduce_check).
 */
struct op *reduce_op_new(struct task_run *run, fst_type in, fst_type made, const fst_fn *fn,
                         const struct reduce_value *zero);

/* Whether @fn takes rows of @in into a value of @made, which is no pair: 0, or -EINVAL with the reason. */
int reduce_check(fst_type in, fst_type made, const fst_fn *fn, struct fst_error *error);

/* Take one more value, of the type of its rows: 0, or negative after task_run_fail. */
int reduce_op_add(struct op *op, const struct reduce_value *value);

/* The value so far, moved into *@value. */
void reduce_op_take(struct op *op, struct reduce_value *value);
