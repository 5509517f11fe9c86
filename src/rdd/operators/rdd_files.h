/* Helpers of RDDs that read files (text_file, binary_records, object_file: rdd->text). Before planning they have paths,
 * afterwards the splits of each partition, one except for text_file with spark.firesteel.files.combine. */
#pragma once

#include "rdd/rdd_build.h"
#include "rdd/splits_wire.h"

#include "io/input_files.h"

/* Creates a node that reads @path (copied). Without a path the RDD is invalid. @min_partitions 0: Spark's default. */
fst_rdd *rdd_files_new(fst_context *sc, enum rdd_op op, fst_type type, const char *path, int min_partitions,
                       fst_site site);

/* Fills in rdd->text.splits. Returns 0, or negative with @error. */
typedef int (*rdd_files_plan_fn)(fst_rdd *rdd, const struct input_options *options, struct fst_error *error);

/* A `plan` of a class: each split of @plan becomes a partition, unless it has put them together. */
int rdd_files_plan(fst_rdd *rdd, rdd_files_plan_fn plan);

/*
 * Decides whether the task of @node skips the rest of @file, which could not be opened or read with @status: a missing
 * file with spark.files.ignoreMissingFiles, any other failure except lack of memory with
 * spark.files.ignoreCorruptFiles. If so, logs a warning and clears @error. As in Spark's HadoopRDD and NewHadoopRDD.
 */
bool rdd_files_skip(const struct pipeline_node *node, const struct input_split *file, int status,
                    struct fst_error *error);

/* As in struct rdd_class. */
void rdd_files_free(fst_rdd *rdd);
const char *rdd_files_hosts(const fst_rdd *rdd, int partition);
int rdd_files_encode(struct rdd_wire_writer *w, const fst_rdd *rdd, Firesteel__Rdd *m, struct fst_error *error);
int rdd_files_decode(struct rdd_wire_reader *reader, const Firesteel__Rdd *m, fst_rdd *rdd, struct fst_error *error);
