/* Builds nodes of lineage: helpers of the operators (rdd_*.c). A builder always returns an RDD. An invalid one carries
 * a status (see rdd.c). */
#pragma once

#include "rdd/rdd.h"

/* Creates a node and adds it to its context's list. The node takes the first status among its @n parents. Without one,
 * its type is checked. */
fst_rdd *rdd_new_of(fst_context *sc, enum rdd_op op, fst_type type, fst_rdd *const *parents, int n, fst_site site);

/* rdd_new_of with one parent, or with none if @parent is NULL. */
fst_rdd *rdd_new(fst_context *sc, enum rdd_op op, fst_type type, fst_rdd *parent, fst_site site);

/* Changes the operator of a new node. */
void rdd_set_op(fst_rdd *rdd, enum rdd_op op);

/* Marks the RDD invalid with @status, unless it already is. Both return @rdd. The second also empties @error. */
fst_rdd *rdd_fail(fst_rdd *rdd, int status, const char *message);
fst_rdd *rdd_fail_with(fst_rdd *rdd, int status, struct fst_error *error);

/* Marks the RDD invalid with the status of @parent and returns it. */
int rdd_fail_as(fst_rdd *rdd, const fst_rdd *parent);

/* Marks the RDD invalid unless @type is one column: a second column would be lost silently. @what: "the keys". */
void rdd_check_one_column(fst_rdd *rdd, fst_type type, const char *what);

/*
 * Marks the RDD invalid unless all parents belong to its context. The second also requires one column of each parent.
 */
void rdd_check_context(fst_rdd *rdd);
void rdd_check_columns(fst_rdd *rdd);

/* Plans as many partitions as each parent has. Like Spark's zip, fails if the parents differ. */
int rdd_plan_alike(fst_rdd *rdd);

/* Sets the storage level and replaces an earlier one. */
fst_rdd *rdd_set_level(fst_rdd *rdd, enum fst_storage_level level);

/* Copies @fn and its name for messages. Marks the RDD invalid if the function cannot be sent to executors. */
void rdd_set_fn(fst_rdd *rdd, const fst_fn *fn);

/* Copies a further function of the RDD into *@to. rdd_drop_fn frees the copy. */
void rdd_copy_fn(fst_rdd *rdd, fst_fn *to, const fst_fn *fn);
void rdd_drop_fn(fst_fn *fn);

/* Depends narrowly on each parent. Takes over the first parent's partitioner if @keep_partitioner. */
void rdd_depend_narrowly(fst_rdd *rdd, bool keep_partitioner);

/* Depends on its parent by a shuffle with the partitioner in rdd->shuffle, which becomes the RDD's partitioner. */
void rdd_depend_on_shuffle(fst_rdd *rdd);

/* spark.default.parallelism, or 0 if it is not set. */
int rdd_parallelism_set(fst_context *sc);

/* The partitions of a source: @wanted, or spark.default.parallelism for 0. A negative number makes the RDD invalid. */
int rdd_source_partitions(fst_rdd *rdd, int wanted);

/*
 * Releases the intermediate RDDs that one public function built below @rdd: those with an id of @first or more
 * (rdd_registry_next_id when the function began). The application has no handle to them, so the cleaner
 * (driver/cleaner.c) frees them together with @rdd. Returns @rdd.
 */
fst_rdd *rdd_release_intermediates(fst_rdd *rdd, int first);

/* rdd_key_by: pairs (key of @key, row), with the row encoded as in rdd/pipeline/op_key.h. rdd_rows_of: the rows of such
 * pairs. */
fst_rdd *rdd_key_by(fst_rdd *parent, const fst_fn *key, fst_type key_type, fst_site site);
fst_rdd *rdd_rows_of(fst_rdd *keyed, fst_type type, fst_site site);

/* (key, 1) for each pair, (row, 1) for each other row. */
fst_rdd *rdd_with_one(fst_rdd *parent, fst_site site);

/*
 * Folds the rows of each partition of @parent (already planned) into one value of type @value by @take. Starts from
 * @zero (copied) if it is not NULL. Then combines the values by @combine in a tree of @depth (> 0) stages. Returns the
 * RDD of the few remaining values.
 */
fst_rdd *rdd_fold_tree(fst_rdd *parent, const fst_fn *take, const fst_fn *combine, fst_type value,
                       const struct reduce_value *zero, int depth, fst_site site);

/* A preliminary pass of an exact sample_by_key: pairs (key, value) as described in rdd_sample_by_key.c. */
fst_rdd *rdd_sample_step(fst_rdd *sampled, enum sample_step step);

/* rdd_packed: the rows in one column, pairs encoded as bytes (rdd/pipeline/op_key.h). rdd_unpacked: the reverse. */
fst_rdd *rdd_packed(fst_rdd *rdd, fst_site site);
fst_rdd *rdd_unpacked(fst_rdd *rdd, fst_type type, fst_site site);
