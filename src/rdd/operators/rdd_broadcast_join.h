/* Joins of an RDD with a small one whose rows every executor has. */
#pragma once

#include "rdd/cogroup/op_cogroup.h"
#include "rdd/rdd.h"

/* Builds the join of @left with @right, one of which is @small. @mode must fit (rdd/cogroup/op_broadcast_join.h). */
fst_rdd *broadcast_join_rdd_new(enum cogroup_mode mode, fst_rdd *left, fst_rdd *right, enum join_side small,
                                const fst_fn *f, fst_type type, fst_site site);

/*
 * Whether a join of valid RDDs should broadcast a side, and which one: a side of at most
 * spark.firesteel.join.broadcastThreshold bytes by its lineage (rdd/known_size.h), if the other one may be larger and
 * would be shuffled.
 */
bool broadcast_join_pays(enum cogroup_mode mode, const fst_rdd *left, const fst_rdd *right, enum join_side *small);
