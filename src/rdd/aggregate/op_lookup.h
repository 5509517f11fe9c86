/* The values of one key. */
#pragma once

#include "rdd/aggregate/op_reduce.h"

#include <firesteel/map.h>

/* Of pairs of @pairs, the values of those whose key is @key, which is borrowed. */
struct op *lookup_op_new(struct task_run *run, fst_type pairs, const struct reduce_value *key);

/* @key as a value to compare with (it borrows): 0, or -EINVAL with @error if it is not what @pairs have as keys. */
int lookup_key(fst_type pairs, fst_key key, struct reduce_value *value, struct fst_error *error);

/* Whether @key is that of row @row. All NaNs are one key, and so are both zeros. */
bool lookup_is_key(const fst_batch *batch, uint32_t row, const struct reduce_value *key);
