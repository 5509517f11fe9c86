/* Which barrier stages a job may have: Spark's rules of SPARK-24820, SPARK-24821 and SPARK-24942. */
#pragma once

#include <stdbool.h>

struct fst_rdd;

/*
 * Check all stages of a job on @tasks partitions of @final. In a barrier stage every RDD must have as many partitions as
 * the stage has tasks, and none may depend on two barrier RDDs. With @dynamic_allocation no stage may be a barrier stage.
 * Returns NULL, or the message (static) that refuses the job. Partitions must be planned. Any thread.
 */
const char *barrier_chain_refusal(struct fst_rdd *final, int tasks, bool dynamic_allocation);
