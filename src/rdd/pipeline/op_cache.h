/* Passes rows on and also writes them into a block of the block store, for a persisted RDD that is being computed. A
 * failure to write the block does not stop the rows. */
#pragma once

#include "rdd/pipeline/op.h"

struct block_writer;

struct op *cache_op_new(struct task_run *run, fst_type type);

/* Starts a partition. Takes over @writer; NULL: only pass rows on. */
void cache_op_start(struct op *op, struct block_writer *writer);

/* Ends the partition. Keeps the block if @whole and downstream took all rows. Otherwise discards it. */
void cache_op_finish(struct op *op, bool whole);
