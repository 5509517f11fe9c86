/*
 * The reference evaluator of lineages: loops over arrays on one thread. It uses the engine only for the partition of a
 * hashed key (one key at a time) and the rows of a sample, which have tests of their own (rdd/aggregate/hash.h,
 * rdd/aggregate/sampler.h).
 *
 * Where include/firesteel/ defines the order of rows, the evaluator computes it. Otherwise tables are not `ordered`, and
 * the rows of a partition are in any order.
 */
#pragma once

#include "plan.h"

/*
 * Computes the table of node @i, whose parents are evaluated. @cut has the number of rows of each partition if a sample
 * or the sizes of files determine it (node_is_cut), else it is NULL. Returns NULL, or an error if the rows cannot be
 * divided so, or "" for too many rows.
 */
const char *evaluate_node(struct plan *p, int i, const int64_t *cut);

/* True if the rows of each partition must be counted; node_cut_partitions returns the number of partitions. */
bool node_is_cut(const struct node *n);
int node_cut_partitions(const struct plan *p, int i);

/* Returns true if the rows of one key are in a known order, on which later nodes may depend. */
bool table_is_keyed(const struct table *t);

/* Returns the common placement of @parents (numbers of nodes) in @n partitions, or 0 for the default number. */
struct placement evaluate_placement(const struct plan *p, const int *parents, int n_parents, int n);
