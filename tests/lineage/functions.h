/*
 * The functions of an application, as random lineages give them to operators: for all kinds of rows, each captures a
 * struct deed and does what that says. Functions of a task that is to fail fail here.
 */
#pragma once

#include "deed.h"

/* int f(task, ROW, out): d->into for each row, of d->from. For map, flat_map, key_by, map_values, … */
fst_fn fn_rows(const struct deed *d);
/* The same to one number, I64 or F64 as d->into is: for map. */
fst_fn fn_number(const struct deed *d);
fst_fn fn_keeps(const struct deed *d);
fst_fn fn_each(const struct deed *d); /* d->seen gets their hashes */

/* Of whole partitions: by iterator, with the partition's number, by batch, of two or more RDDs (d->sides). */
fst_fn fn_partition(const struct deed *d);
fst_fn fn_partition_at(const struct deed *d);
fst_fn fn_batch(const struct deed *d);
fst_fn fn_zipped(const struct deed *d);
fst_fn fn_each_partition(const struct deed *d); /* as fn_each */
/* Of a barrier stage: tasks tell each other what their partitions are. */
fst_fn fn_gathered(const struct deed *d);
/* How many rows a partition has, as I64. */
fst_fn fn_rows_count(void);

/* Of keys, d->from, with the values of as many sides as there are. */
fst_fn fn_groups(const struct deed *d);
/* @outer: bit 0: the left value may be missing, bit 1: the right one. */
fst_fn fn_joined(const struct deed *d, int outer);
fst_fn fn_place(const struct deed *d);

/* Two of d->from (one column) into one: their sum, the greater (of deed_greater), or composed (I64). */
fst_fn fn_add(const struct deed *d);
fst_fn fn_greater(const struct deed *d);
fst_fn fn_compose(const struct deed *d);
/* A value, d->from's value, added to an accumulator, d->from's key, as the number that its hash is. */
fst_fn fn_take(const struct deed *d);
/* A value, d->from's value, as an accumulator that has only it. */
fst_fn fn_create(const struct deed *d);
/* Rows of d->from into a struct deed_chain, and two of those into one. */
fst_fn fn_chain_take(const struct deed *d);
fst_fn fn_chain_join(const struct deed *d);

/* The next row of @type that @rows has. The cells' bytes are the iterator's. */
bool read_row(fst_iter *rows, fst_type type, struct row *row);
