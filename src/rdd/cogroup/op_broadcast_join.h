/*
 * Joins the rows that arrive with those of a small side, which every executor has as a broadcast variable. The rows
 * that arrive need no shuffle and are not held. In an outer join, arriving rows without a match take part.
 */
#pragma once

#include "rdd/cogroup/broadcast_side.h"
#include "rdd/cogroup/op_cogroup.h"

/* True if such a join can be computed: each row of the small side may meet rows in any partition of the other, so that
 * only the other one's rows can be known to be without a match. */
bool broadcast_join_fits(enum cogroup_mode mode, enum join_side small);

/* Creates the operator for rows of @type that arrive. @small and the names and captured struct in @fn must outlive it.
 */
struct op *broadcast_join_op_new(struct task_run *run, enum cogroup_mode mode, fst_type type,
                                 const struct broadcast_side *small, fst_type out, const fst_fn *fn);
