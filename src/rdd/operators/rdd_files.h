/*
 * What RDDs that read files (text_file, binary_records, object_file: rdd->text) have in common: paths until they are
 * planned, then a split for each partition.
 */
#pragma once

#include "rdd/rdd_build.h"
#include "rdd/splits_wire.h"

#include "io/input_files.h"

/* A node that reads @path, which is copied; without one it fails. @min_partitions 0: Spark's. */
fst_rdd *rdd_files_new(fst_context *sc, enum rdd_op op, fst_type type, const char *path, int min_partitions,
                       fst_site site);

/* Fill rdd->text.splits. 0, or negative with @error. */
typedef int (*rdd_files_plan_fn)(fst_rdd *rdd, const struct input_options *options, struct fst_error *error);

/* A plan of the class: the splits of @plan are the partitions. */
int rdd_files_plan(fst_rdd *rdd, rdd_files_plan_fn plan);

/*
 * Whether the task of @node goes on without the rest of @file, which could not be opened or read with @status:
 * a file that is gone with spark.files.ignoreMissingFiles, any other failure but that of memory with
 * spark.files.ignoreCorruptFiles. Warns then, and clears @error. As Spark's HadoopRDD and NewHadoopRDD.
 */
bool rdd_files_skip(const struct node *node, const struct input_split *file, int status, struct fst_error *error);

/* As in struct rdd_class. */
void rdd_files_free(fst_rdd *rdd);
const char *rdd_files_hosts(const fst_rdd *rdd, int partition);
int rdd_files_encode(struct rdd_wire_writer *w, const fst_rdd *rdd, Firesteel__Rdd *m, struct fst_error *error);
int rdd_files_decode(struct rdd_wire_reader *reader, const Firesteel__Rdd *m, fst_rdd *rdd, struct fst_error *error);
