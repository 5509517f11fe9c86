/*
 * Checkpointing: after an action's job, the RDDs nearest to it that are to be checkpointed are, each by a job of its
 * own if need be, and from then on read from there (rdd/rdd_checkpoint.h).
 */
#pragma once

#include "rdd/rdd.h"

/* After a job on @rdd that succeeded: 0, or negative with @error when a checkpoint could not be made. */
int checkpoint_after_job(fst_rdd *rdd, fst_site site, struct fst_error *error);
