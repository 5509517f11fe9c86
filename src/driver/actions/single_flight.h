/*
 * What a thread finds out or makes for an RDD, and others that want the same wait for. Who has a claim runs a job for
 * it, whose lineage needs nothing more by then: so nobody waits for a claim while having one, and there is no circle.
 */
#pragma once

#include "rdd/rdd.h"

/*
 * Wait until no other thread has a claim on @rdd: true, with a claim, if it is not @done then; false if it is. Between
 * @done and claim_release no other thread has one.
 */
bool claim_take(fst_rdd *rdd, bool (*done)(const fst_rdd *rdd));
void claim_release(fst_rdd *rdd);
