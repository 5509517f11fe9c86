/*
 * The cleaner: removes cached partitions, map outputs and checkpoints of released RDDs (Spark: ContextCleaner).
 *
 * An RDD is needed until it and all RDDs computed from it are released. A running job may still recompute a cleaned RDD
 * after it lost a map output. The result is right, but late. To avoid that, cleaning starts only while no other thread
 * runs an action. Actions that begin meanwhile use RDDs that are not released.
 */
#pragma once

#include "driver/context.h"

/*
 * Release @rdd and its ancestors, back to the RDD with id @first, which an action made for its own use. The action's
 * context_leave cleans them.
 */
void cleaner_drop(fst_rdd *rdd, int first);

/*
 * Clean the RDDs that are not needed, if any were released and no other thread runs an action. Called inside of
 * context_enter.
 */
void cleaner_run(fst_context *sc);
