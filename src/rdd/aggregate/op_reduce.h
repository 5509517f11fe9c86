/* The sink of reduce, fold and aggregate: combines all rows of a partition into one value. The driver uses it to
 * combine the values of all partitions. */
#pragma once

#include "rdd/pipeline/op.h"

#include <firesteel/function.h>

/* An optional value: I64 and F64 (as bits) in `number`, BYTES and FIXED in `data`, which the holder owns. */
struct reduce_value {
        bool present;
        int64_t number;
        char *data;
        size_t size;
};

/* Row @row of @column, which has the type of @type's key. Borrows data from the column. */
struct reduce_value reduce_value_at(fst_type type, fst_column column, uint32_t row);

void reduce_value_deinit(struct reduce_value *value);

/* Copies @from into *@to, which holds no value. */
void reduce_value_copy(struct reduce_value *to, const struct reduce_value *from);

/*
 * Combines rows of @in into a value of @made by @fn. A partition starts from @zero (borrowed) or, if that is NULL, from
 * its first row. Rows and result then have the same type. @fn has one of aggregate's forms for @in and @made
 * (reduce_check).
 */
struct op *reduce_op_new(struct task_run *run, fst_type in, fst_type made, const fst_fn *fn,
                         const struct reduce_value *zero);

/* Checks that @fn can combine rows of @in into a value of @made, which is not a pair. Returns 0, or -EINVAL with the
 * reason. */
int reduce_check(fst_type in, fst_type made, const fst_fn *fn, struct fst_error *error);

/* Combines one more value of the rows' type. Returns 0, or negative after task_run_fail. */
int reduce_op_add(struct op *op, const struct reduce_value *value);

/* Moves the value so far into *@value. */
void reduce_op_take(struct op *op, struct reduce_value *value);
