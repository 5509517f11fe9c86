/*
 * The application's functions in random lineages, for all kinds of rows. Each captures a struct deed with its
 * parameters. Failures of tasks happen here.
 */
#pragma once

#include "deed.h"

/* int f(task, ROW, out) for map, flat_map, key_by, map_values and similar: from rows of d->from to rows of d->into. */
fst_fn fn_rows(const struct deed *d);
/* The same for a map to one number, I64 or F64 as in d->into. */
fst_fn fn_number(const struct deed *d);
fst_fn fn_keeps(const struct deed *d);
fst_fn fn_each(const struct deed *d); /* adds their hashes to d->seen */

/* Functions of whole partitions: by iterator, with the partition's number, by batch, of several RDDs (d->sides). */
fst_fn fn_partition(const struct deed *d);
fst_fn fn_partition_at(const struct deed *d);
fst_fn fn_batch(const struct deed *d);
fst_fn fn_zipped(const struct deed *d);
fst_fn fn_each_partition(const struct deed *d); /* as fn_each */
/* For a barrier stage, whose tasks exchange hashes of their partitions. */
fst_fn fn_gathered(const struct deed *d);
/* The number of rows of a partition, as I64. */
fst_fn fn_rows_count(void);

/* Functions of keys (d->from) with the values of each side. */
fst_fn fn_groups(const struct deed *d);
/* @outer: bit 0: the left value may be missing; bit 1: the right one. */
fst_fn fn_joined(const struct deed *d, int outer);
fst_fn fn_place(const struct deed *d);

/* Combine two values of d->from (one column): their sum, the greater (deed_greater), their composition (I64). */
fst_fn fn_add(const struct deed *d);
fst_fn fn_greater(const struct deed *d);
fst_fn fn_compose(const struct deed *d);
/* Adds the hash of a value (type: the value of d->from) to an accumulator (type: the key of d->from). */
fst_fn fn_take(const struct deed *d);
/* Makes an accumulator of one value (type: the value of d->from). */
fst_fn fn_create(const struct deed *d);
/* Add a row of d->from to a struct deed_chain; combine two chains. */
fst_fn fn_chain_take(const struct deed *d);
fst_fn fn_chain_join(const struct deed *d);

/* Reads the next row of @type. Its bytes belong to the iterator. */
bool read_row(fst_iter *rows, fst_type type, struct row *row);
