/* Checkpoints in lineage: a checkpointed RDD is read from its checkpoint and drops its dependencies.
 * driver/actions/checkpoint.c writes the checkpoint. */
#pragma once

#include "rdd/rdd.h"

/* A source that reads object files. @splits has one whole file for each partition. The source takes it over. */
fst_rdd *rdd_checkpoint_files(fst_rdd *rdd, struct input_splits *splits);

/* A source for cached partitions. Reading fails if the block store lacks the partition. */
fst_rdd *rdd_local_checkpoint(fst_rdd *rdd);

/* True if the RDD has, or is to get, a local checkpoint. Its storage level must then use disk. Takes the lock. */
bool rdd_wants_local_checkpoint(fst_rdd *rdd);

/* Makes @source, which has the same type and partitions, replace the dependencies of @rdd. Call it on the scheduler's
 * thread, which follows dependencies. Other threads may see either. Both give the same rows. */
void rdd_set_checkpoint(fst_rdd *rdd, fst_rdd *source);

static inline bool rdd_is_checkpointed(const fst_rdd *rdd)
{
        return __atomic_load_n(&rdd->checkpoint.source, __ATOMIC_ACQUIRE) != NULL;
}
