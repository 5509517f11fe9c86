/* An operator that keeps the first rows of an order, at most the requested number, and pushes them in that order at the
 * end. Equal rows keep their input order. */
#pragma once

#include "rdd/pipeline/op.h"

#include <firesteel/rdd.h>

/* Keeps @most rows of @type. @by_key: compare pairs by key only; otherwise also by value. */
struct op *top_op_new(struct task_run *run, fst_type type, size_t most, enum fst_order order, bool by_key);
