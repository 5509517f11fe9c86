/*
 * The cleaner: what nobody needs any more of RDDs that the application has released goes: cached partitions, map
 * outputs, checkpoints. What Spark's ContextCleaner does when the garbage collector has found an RDD.
 *
 * An RDD is needed while it, or one that is computed from it, is not released. One that is computed anew afterwards (a
 * task's map output was lost, of a job that runs) computes its map outputs anew: nothing is wrong but late. So that
 * this does not happen, nothing begins to be cleaned while other threads' actions run; those that begin meanwhile are
 * of RDDs that are not released.
 */
#pragma once

#include "driver/context.h"

/*
 * Release @rdd and what it is computed from, from the RDD of id @first on: an action that has made them for itself is
 * done with them. Its context_leave cleans.
 */
void cleaner_drop(fst_rdd *rdd, int first);

/* Clean what is not needed, if RDDs were released and no other thread has an action. Inside of context_enter. */
void cleaner_run(fst_context *sc);
