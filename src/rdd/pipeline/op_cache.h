/* Passes rows on and also writes them into a block of the block store, for a persisted RDD that is being computed. A
 * failure to write the block does not stop the rows. The block gets all rows even if downstream has enough. */
#pragma once

#include "rdd/pipeline/op.h"

struct block_writer;

struct op *cache_op_new(struct task_run *run, fst_type type);

/* Starts a partition. Takes over @writer; NULL: only pass rows on. */
void cache_op_start(struct op *op, struct block_writer *writer);

/* Ends the partition, which was fed with @result. Keeps the block if that is 0. Returns @result, or OP_ENOUGH if
 * downstream has enough. */
int cache_op_finish(struct op *op, int result);
