/*
 * Lets one thread compute something for an RDD while others that need it wait. A thread holds an RDD only for a job
 * whose lineage is ready, so it never waits while holding one, and there is no deadlock.
 */
#pragma once

#include "rdd/rdd.h"

/*
 * Wait until no other thread holds @rdd. Returns true, holding @rdd, if it is not @done then, or false. No other thread
 * holds it between @done and single_flight_end.
 */
bool single_flight_begin(fst_rdd *rdd, bool (*done)(const fst_rdd *rdd));
void single_flight_end(fst_rdd *rdd);
