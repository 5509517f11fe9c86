/* Spark's rules for barrier stages: SPARK-24820, SPARK-24821 and SPARK-24942. */
#pragma once

#include <stdbool.h>

struct fst_rdd;

/*
 * Checks all stages of a job on @tasks partitions of @final. In a barrier stage every RDD must have as many partitions
 * as the stage has tasks, and no RDD may depend on two barrier RDDs. @dynamic_allocation forbids barrier stages.
 * Partitions must be planned. Returns NULL, or the static message that rejects the job. Any thread.
 */
const char *barrier_chain_refusal(struct fst_rdd *final, int tasks, bool dynamic_allocation);
