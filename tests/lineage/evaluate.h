/*
 * What a lineage means: loops over arrays, in one thread, that ask the engine nothing but where a hash puts a key (one
 * key at a time) and which rows a sample takes, which are tested by themselves (rdd/aggregate/hash.h, rdd/aggregate/sampler.h).
 *
 * Where include/firesteel/ says in which order rows are, the order is computed; where it says nothing, tables are not
 * `ordered` and hold each partition's rows in some order.
 */
#pragma once

#include "plan.h"

/*
 * Compute the table of node @i, whose parents have theirs. @cut says how many rows each partition has, where that is
 * found out by a sample or from the sizes of files (node_is_cut); NULL elsewhere. NULL, or what is wrong: rows that
 * cannot be cut so; or "" if there would be too many rows.
 */
const char *evaluate_node(struct plan *p, int i, const int64_t *cut);

/* Whether its partitions have to be looked at; as many as there are. */
bool node_is_cut(const struct node *n);
int node_cut_partitions(const struct plan *p, int i);

/* What the following nodes may be told by: whether the rows of one key are in a known order. */
bool table_is_keyed(const struct table *t);

/* How @parents, by their numbers, are placed together for @n partitions or, if it is 0, by default. */
struct placement evaluate_placement(const struct plan *p, const int *parents, int n_parents, int n);
