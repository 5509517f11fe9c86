/*
 * A tee: passes rows on and writes them into a block of the block store as well (a persisted RDD being computed).
 * Whatever happens to the block, the rows go on.
 */
#pragma once

#include "rdd/pipeline/op.h"

struct block_writer;

struct op *tee_op_new(struct task_run *run, fst_type type);

/* A partition begins; @writer is stolen, NULL: only pass rows on. */
void tee_op_start(struct op *op, struct block_writer *writer);

/* It is over: the block is complete if @whole and all rows were wanted; otherwise it is forgotten. */
void tee_op_finish(struct op *op, bool whole);
