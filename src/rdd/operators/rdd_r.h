/*
 * RDDs of SparkR: each partition goes through one R worker (r/r_worker.h).
 *
 * They are map_partitions with a function of the engine, whose captured bytes hold R's serialized function and what the
 * worker needs. Rows are BYTES: serialized R vectors, or lines of text. Pairs of rows go to a worker one after another.
 */
#pragma once

#include "r/r_stream.h"
#include "rdd/rdd.h"

#include <firesteel/shared.h>

/* SparkR describes a step by these. All is copied. */
struct r_function {
        fst_bytes function, packages; /* serialized by R */
        const fst_broadcast *broadcasts;
        size_t n_broadcasts;
        int buckets;         /* of a shuffle; -1: none */
        enum r_form in, out; /* of the parent's rows and of its own */
        bool with_daemon;    /* spark.sparkr.use.daemon */
        int timeout;         /* spark.r.backendConnectionTimeout, in seconds */
        const char *command; /* spark.r.command */
        const char *library; /* the driver's directory that contains SparkR; executors look there first; "": none */
        const char *files;   /* names of the application's files, each with a NUL behind it; ends with "" */
};

/* The rows that R makes of each partition: BYTES, or with buckets PAIR(I64, BYTES), of which the key is a bucket. */
fst_rdd *rdd_r_new(fst_rdd *parent, const struct r_function *f, fst_site site);

/* Sends the pairs of each bucket to the partition of that number, as Spark's HashPartitioner does. */
fst_rdd *rdd_r_partition_by(fst_rdd *pairs, int partitions, fst_site site);

/*
 * The directory that contains SparkR, for a process of this machine: @library (may be ""), else "sparkr" in the working
 * directory (YARN unpacks it there), else R/lib in SPARK_HOME, else where @command finds it. The caller owns the path.
 * NULL if there is none. May run R for a moment.
 */
char *rdd_r_find_library(const char *library, const char *command);
