/*
 * The files of lineages, in the folder of their world: written by a loop or by an action of the engine, and read by the
 * engine.
 */
#pragma once

#include "plan.h"

/* The RDD of node @i, which reads files: of rows that were drawn or, if it has a parent, of those of @saved. */
fst_rdd *files_read(fst_context *sc, struct plan *p, int i, fst_rdd *saved, const char *folder);

/* The rows of files to which the partitions of @in were saved, as node @n reads them. */
struct rows files_rows(struct plan *p, const struct node *n, const struct table *in);
