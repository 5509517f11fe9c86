/*
 * Rows encoded as values of pairs, or as one column. sort_by, group_by and key_by put the row behind a key. Distinct
 * and similar operators compare whole rows.
 *
 * A row that is not a pair does not change. A pair becomes bytes: its record (store/page.h), which is also an element
 * of a list (firesteel/list.h).
 */
#pragma once

#include "rdd/pipeline/op.h"

#include <firesteel/function.h>

/* The type of a row of type @row after encoding as a value. */
fst_type key_op_value(fst_type row);

/* Encodes the pairs of @in into @encoded, with their bytes in @heap. */
void key_op_encode(struct arena *heap, const fst_batch *in, fst_bytes *encoded);

/* Rows of type @in → (key, row). @keyed is fst_type_pair(key type, key_op_value(in)). */
struct op *key_op_new(struct task_run *run, fst_type in, fst_type keyed, const fst_fn *fn);

/* Pairs of type @keyed → rows of type @out. */
struct op *value_op_new(struct task_run *run, fst_type keyed, fst_type out);

/* Pairs → their keys. */
struct op *keys_op_new(struct task_run *run, fst_type pairs);

/* pack: pairs → BYTES. unpack: BYTES → pairs. */
struct op *pack_op_new(struct task_run *run);
struct op *unpack_op_new(struct task_run *run, fst_type pairs);
