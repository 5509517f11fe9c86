/*
 * Where rows of a key belong: the choice of a partitioner by operators that bring equal keys together, and the shuffle
 * that it takes.
 *
 * The choice is that of Spark's Partitioner.defaultPartitioner, but that only hashes are taken for F64 keys: others
 * may part -0.0 from 0.0, which are one key here.
 */
#pragma once

#include "rdd/rdd_build.h"

/*
 * What @n RDDs, of which none has a status, are to be placed by: *@hash with @wanted partitions if that is not 0, the
 * partitioner that one of them has, or *@hash with as many partitions as spark.default.parallelism says or the largest
 * has. NULL: one of them cannot be planned, and has its status now.
 */
struct partitioner *rdd_choose_partitioner(fst_rdd *const *rdds, int n, int wanted, struct partitioner *hash);

/* @rdd placed by @p, by a shuffle unless it is already. */
fst_rdd *rdd_placed(fst_rdd *rdd, struct partitioner *p, fst_site site);

/* The same for what is placed as @rdd is, whatever else there is: its partitioner, or *@hash with as many partitions.
 */
struct partitioner *rdd_own_partitioner(fst_rdd *rdd, int wanted, struct partitioner *hash);
