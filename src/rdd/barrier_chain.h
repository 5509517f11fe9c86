/* Which chains of RDDs a barrier stage may compute: Spark's rules of SPARK-24820 and SPARK-24821. */
#pragma once

#include <stdbool.h>

struct fst_rdd;

/*
 * Whether all stages of a job on @tasks partitions of @final can be: in a barrier stage every RDD has as many
 * partitions as the stage has tasks, and none depends on two barrier RDDs. Partitions are planned. Any thread.
 */
bool barrier_chain_possible(struct fst_rdd *final, int tasks);

extern const char barrier_chain_refusal[];
