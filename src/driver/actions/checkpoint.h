/*
 * Checkpoints RDDs: after an action's job, writes the nearest marked RDDs, each by a job of its own if needed. Later
 * jobs read the checkpoint instead (rdd/rdd_checkpoint.h).
 */
#pragma once

#include "rdd/rdd.h"

/* Called after a successful job on @rdd. Returns 0, or a negative status with @error if a checkpoint failed. */
int checkpoint_after_job(fst_rdd *rdd, fst_site site, struct fst_error *error);
