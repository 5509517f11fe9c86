/* An operator that finds the values of one key. */
#pragma once

#include "rdd/aggregate/op_reduce.h"

#include <firesteel/map.h>

/* Takes pairs of type @pairs and pushes the values of those whose key is @key (borrowed). */
struct op *lookup_op_new(struct task_run *run, fst_type pairs, const struct reduce_value *key);

/* Makes @key a value to compare with: borrowed, or of a struct with fields in @space. Returns 0, or -EINVAL with @error
 * if @pairs has another key type. */
int lookup_key(fst_type pairs, fst_key key, struct arena *space, struct reduce_value *value, struct fst_error *error);

/* True if row @row has the key @key. All NaNs are one key, and so are both zeros. */
bool lookup_is_key(const fst_batch *batch, uint32_t row, const struct reduce_value *key);
