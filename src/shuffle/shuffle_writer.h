/*
 * The sink of a map task: appends rows to the pages of their key's partition, combined by key if requested. Pages that
 * do not fit into memory go to the output's file.
 */
#pragma once

#include "rdd/pipeline/op.h"
#include "rdd/rdd.h"
#include "shuffle/shuffle_output.h"

struct remote_shuffle;
struct shuffle_store;

/*
 * Creates a sink for partitions of the map side of @shuffled (an RDD_SHUFFLED node). @store receives the outputs and
 * provides the directories. After each successful pipeline_run, shuffle_writer_take returns the output.
 */
struct op *shuffle_writer_new(struct task_run *run, const fst_rdd *shuffled, struct shuffle_store *store);

/*
 * Stores the outputs at @place outside of executors while they are written, if @remote (borrowed; NULL is allowed) can
 * do so: a page when it is full. Memory is then freed by waiting for stored pages, and nothing goes to disk.
 */
void shuffle_writer_stream_to(struct op *writer, struct remote_shuffle *remote, uint32_t place);

/*
 * Says that only tasks of this process read the outputs: rows whose combining saves little then bypass it. Before the
 * first partition.
 */
void shuffle_writer_stay_local(struct op *writer);

/* Returns the finished output, owned by the caller; NULL if the last partition was abandoned. */
struct shuffle_output *shuffle_writer_take(struct op *writer);
