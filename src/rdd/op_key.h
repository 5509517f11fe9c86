/*
 * The two halves of sort_by: putting a computed key before each row, and taking it off again.
 *
 * Between them the row is the value of a pair: as it is if it is one value, or, for pairs, as bytes: an optional
 * length of the key (u32, where that is BYTES), the key, the value.
 */
#pragma once

#include "rdd/op.h"

#include <firesteel/function.h>

/* The type of a row of type @row when it travels as a value. */
fst_type key_op_value(fst_type row);

/* The pairs of @in as such values into @encoded, with their bytes in @heap. */
void key_op_encode(struct arena *heap, const fst_batch *in, fst_bytes *encoded);

/* Rows of type @in → (key, row); @keyed is fst_type_pair(key type, key_op_value(in)). */
struct op *key_op_new(struct task_run *run, fst_type in, fst_type keyed, const fst_fn *fn);

/* And back: pairs of type @keyed → rows of type @out. */
struct op *value_op_new(struct task_run *run, fst_type keyed, fst_type out);
