/*
 * The cleaner: removes cached partitions, map outputs and checkpoints of released RDDs (Spark: ContextCleaner).
 *
 * An RDD is needed until it and all RDDs computed from it are released. A running job must not lose them: it would
 * compute lost map outputs again, and fail without a broadcast variable, a checkpoint, or a shuffle in Celeborn that
 * its map stage writes. So cleaning starts only while no other thread runs an action, and what runs jobs without such a
 * thread pins its RDD. Actions that begin meanwhile use RDDs that are not released.
 */
#pragma once

#include "driver/context.h"

/*
 * Release @rdd and its ancestors, back to the RDD with id @first, which an action made for its own use. The action's
 * context_leave cleans them.
 */
void cleaner_drop(fst_rdd *rdd, int first);

/*
 * The RDD is needed until cleaner_unpin, although it may be released before: jobs use it while no thread waits inside
 * of context_enter. The next context_leave after the last cleaner_unpin cleans it. Any thread.
 */
void cleaner_pin(fst_rdd *rdd);
void cleaner_unpin(fst_rdd *rdd);

/*
 * Clean the RDDs that are not needed, if any were released and no other thread runs an action. Called inside of
 * context_enter.
 */
void cleaner_run(fst_context *sc);
