/*
 * Chooses the partitioner of operators that bring equal keys together, and inserts the shuffle.
 *
 * Follows Spark's Partitioner.defaultPartitioner. Differs for F64 keys, where only a hash partitioner is reused: others
 * may separate -0.0 from 0.0, which are one key in Firesteel.
 */
#pragma once

#include "rdd/rdd_build.h"

/*
 * Chooses a partitioner for @n valid RDDs. If @wanted is not 0: *@hash with @wanted partitions. Otherwise a suitable
 * partitioner that one of them has, or *@hash with spark.default.parallelism partitions, or with as many as the largest
 * has. Returns NULL if planning one of them failed. That RDD then carries the status.
 */
struct partitioner *rdd_choose_partitioner(fst_rdd *const *rdds, int n, int wanted, struct partitioner *hash);

/* @rdd partitioned by @p, with a shuffle if it is not already. */
fst_rdd *rdd_placed(fst_rdd *rdd, struct partitioner *p, fst_site site);

/* The same choice for @rdd alone: its own partitioner, or *@hash with as many partitions. */
struct partitioner *rdd_own_partitioner(fst_rdd *rdd, int wanted, struct partitioner *hash);
