/*
 * Making nodes of lineage: what the builders of operators (rdd_*.c) share. See rdd.c for the rule: an RDD is always
 * answered, with a status if it cannot be.
 */
#pragma once

#include "rdd/rdd.h"

/* A node in its context's list. It takes the first status among its @n parents; else its type is checked. */
fst_rdd *rdd_new_of(fst_context *sc, enum rdd_op op, fst_type type, fst_rdd *const *parents, int n, fst_site site);

/* The same of one parent, or of none: NULL. */
fst_rdd *rdd_new(fst_context *sc, enum rdd_op op, fst_type type, fst_rdd *parent, fst_site site);

/* It is another operator than it was made as. */
void rdd_set_op(fst_rdd *rdd, enum rdd_op op);

/* It cannot be, for this reason, unless there is an earlier one. Both return @rdd; the second empties @error. */
fst_rdd *rdd_fail(fst_rdd *rdd, int status, const char *message);
fst_rdd *rdd_fail_with(fst_rdd *rdd, int status, struct fst_error *error);

/* It cannot be because @parent cannot: its status. */
int rdd_fail_as(fst_rdd *rdd, const fst_rdd *parent);

/* Fail it unless @type is one column: what is made of it would otherwise silently be cut. @what: "the keys". */
void rdd_check_one_column(fst_rdd *rdd, fst_type type, const char *what);

/* Fail it unless all parents are of its context; and unless, moreover, each parent's rows are one column. */
void rdd_check_context(fst_rdd *rdd);
void rdd_check_columns(fst_rdd *rdd);

/* A plan: as many partitions as each parent has; fails it, as Spark's zip, if they differ. */
int rdd_plan_alike(fst_rdd *rdd);

/* Keep it at @level from now on, whatever it had before. */
fst_rdd *rdd_set_level(fst_rdd *rdd, enum fst_storage_level level);

/* Take a copy of @fn, under the name by which messages call it; a function that cannot travel fails the RDD. */
void rdd_set_fn(fst_rdd *rdd, const fst_fn *fn);

/* The same into *@to, for an RDD that has several; rdd_drop_fn frees the copy. */
void rdd_copy_fn(fst_rdd *rdd, fst_fn *to, const fst_fn *fn);
void rdd_drop_fn(fst_fn *fn);

/* A narrow dependency on each parent; the partitioner of the one if @keep_partitioner. */
void rdd_depend_narrowly(fst_rdd *rdd, bool keep_partitioner);

/* A shuffle of the one parent, by the partitioner that was set; which is then the RDD's. */
void rdd_depend_on_shuffle(fst_rdd *rdd);

/* spark.default.parallelism if it is set; else 0. */
int rdd_parallelism_set(fst_context *sc);

/* Partitions of a source: @wanted, or spark.default.parallelism for 0; fails it for less. */
int rdd_source_partitions(fst_rdd *rdd, int wanted);

/*
 * What @rdd is computed from and has an id of @first or more (rdd_registry_next_id, when the public function began) was
 * made on the way to it: the application has no handle, and so it goes when @rdd does (driver/cleaner.c). Returns @rdd.
 */
fst_rdd *rdd_made_since(fst_rdd *rdd, int first);

/* (key of @key, row), the row as rdd/pipeline/op_key.h has it; and the rows of @type that such pairs carry. */
fst_rdd *rdd_key_by(fst_rdd *parent, const fst_fn *key, fst_type key_type, fst_site site);
fst_rdd *rdd_rows_of(fst_rdd *keyed, fst_type type, fst_site site);

/* (key, 1) of pairs, (row, 1) of other rows. */
fst_rdd *rdd_counted(fst_rdd *parent, fst_site site);

/*
 * The rows of @parent, which is planned, taken by @take into values of type @value, a partition at a time and from
 * @zero, if there is one (it is copied); these by @combine, in as many stages as make a tree of @depth (> 0): an RDD of
 * the few values that are left.
 */
fst_rdd *rdd_fold_tree(fst_rdd *parent, const fst_fn *take, const fst_fn *combine, fst_type value,
                       const struct reduce_value *zero, int depth, fst_site site);

/* The step of an exact sample_by_key before it takes: pairs (key, value) as rdd_sample_by_key.c has them. */
fst_rdd *rdd_sample_step(fst_rdd *sampled, enum sample_step step);

/* The rows of @rdd in one column: pairs as bytes (rdd/pipeline/op_key.h), others as they are; and back. */
fst_rdd *rdd_packed(fst_rdd *rdd, fst_site site);
fst_rdd *rdd_unpacked(fst_rdd *rdd, fst_type type, fst_site site);
