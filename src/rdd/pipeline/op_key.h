/*
 * Rows as values of pairs, and as one column: what sort_by, group_by and key_by put behind a key, and what distinct and
 * its like compare as a whole.
 *
 * A row that is no pair stays as it is. A pair becomes bytes: its record (store/page.h), which is also an element of a
 * list (firesteel/list.h).
 */
#pragma once

#include "rdd/pipeline/op.h"

#include <firesteel/function.h>

/* The type of a row of type @row when it travels as a value. */
fst_type key_op_value(fst_type row);

/* The pairs of @in as such values into @encoded, with their bytes in @heap. */
void key_op_encode(struct arena *heap, const fst_batch *in, fst_bytes *encoded);

/* Rows of type @in → (key, row); @keyed is fst_type_pair(key type, key_op_value(in)). */
struct op *key_op_new(struct task_run *run, fst_type in, fst_type keyed, const fst_fn *fn);

/* And back: pairs of type @keyed → rows of type @out. */
struct op *value_op_new(struct task_run *run, fst_type keyed, fst_type out);

/* Pairs → their keys alone. */
struct op *keys_op_new(struct task_run *run, fst_type pairs);

/* Pairs → BYTES, and back. */
struct op *pack_op_new(struct task_run *run);
struct op *unpack_op_new(struct task_run *run, fst_type pairs);
