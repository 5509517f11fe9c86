/* The values of one key. */
#pragma once

#include "rdd/op_reduce.h"

/* Of pairs of @pairs, the values of those whose key is @key, which is borrowed. */
struct op *lookup_op_new(struct task_run *run, fst_type pairs, const struct reduce_value *key);

/* Whether @key is that of row @row. All NaNs are one key, and so are both zeros. */
bool lookup_is_key(const fst_batch *batch, uint32_t row, const struct reduce_value *key);
