/*
 * The files of lineages, in the directory of their world. A loop or an action of the engine writes them, and the engine
 * reads them.
 */
#pragma once

#include "plan.h"

/* Returns the RDD of node @i, which reads files of generated rows or, if it has a parent, of the rows of @saved. */
fst_rdd *files_read(fst_context *sc, struct plan *p, int i, fst_rdd *saved, const char *folder);

/* Returns the rows that node @n reads from the files of the partitions of @in. */
struct rows files_rows(struct plan *p, const struct node *n, const struct table *in);
