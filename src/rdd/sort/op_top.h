/*
 * The first rows in an order: an operator that holds back as many rows as are wanted and no more, and gives them in
 * that order at the end. Rows that are equal come in the order in which they came.
 */
#pragma once

#include "rdd/pipeline/op.h"

#include <firesteel/rdd.h>

/* @most rows of @type. @by_key: pairs are in the order of their keys alone; else also of their values. */
struct op *top_op_new(struct task_run *run, fst_type type, size_t most, enum fst_order order, bool by_key);
