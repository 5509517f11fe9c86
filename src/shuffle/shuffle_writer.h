/*
 * The sink of a map task: rows go into the pages of the partition that their key belongs to, combined by key
 * first where that is asked. What does not fit into memory goes to the output's file.
 */
#pragma once

#include "rdd/pipeline/op.h"
#include "rdd/rdd.h"
#include "shuffle/shuffle_output.h"

struct shuffle_store;

/*
 * A sink for partitions of the map side of @shuffled (an RDD_SHUFFLED node). @store takes the outputs and says where
 * files may be made. After each pipeline_run that succeeded shuffle_writer_take gives the output.
 */
struct op *shuffle_writer_new(struct task_run *run, const fst_rdd *shuffled, struct shuffle_store *store);

/* The finished output, owned by the caller; NULL if the last partition was abandoned. */
struct shuffle_output *shuffle_writer_take(struct op *writer);
