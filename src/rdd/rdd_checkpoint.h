/*
 * Checkpoints as lineage knows them: an RDD whose rows lie somewhere is read from there, and what it was computed from
 * is forgotten. Who writes them is driver/actions/checkpoint.c.
 */
#pragma once

#include "rdd/rdd.h"

/* A source that reads the object files of which @splits, which it takes, has one whole for each partition. */
fst_rdd *rdd_checkpoint_files(fst_rdd *rdd, struct input_splits *splits);

/* A source that stands for partitions that are in the block store, or nowhere: reading one fails. */
fst_rdd *rdd_local_checkpoint(fst_rdd *rdd);

/*
 * Whether its checkpoint is, or is to be, what the block store keeps: then its level is one that uses disk. Locks.
 */
bool rdd_wants_local_checkpoint(fst_rdd *rdd);

/*
 * From now on @rdd is read from @source, which has its type and partitions, one from one. On the thread of the
 * scheduler, which follows dependencies; other threads see either way, and each way gives the same rows.
 */
void rdd_set_checkpoint(fst_rdd *rdd, fst_rdd *source);

static inline bool rdd_is_checkpointed(const fst_rdd *rdd)
{
        return __atomic_load_n(&rdd->checkpoint.source, __ATOMIC_ACQUIRE) != NULL;
}
