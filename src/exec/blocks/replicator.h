/*
 * Copies of partitions that were lost with other executors: the driver says which of those that are here shall be
 * copied to one more executor (spark.storage.replication.proactive), and a thread does, one after the other. What
 * cannot be copied is logged.
 */
#pragma once

#include "store/block_store.h"

struct block_manager;
struct replicator;

/* @blocks is borrowed. No thread yet. */
struct replicator *replicator_new(struct block_manager *blocks);

/* Its thread ends, after a copy that is under way was given up. NULL is allowed. */
void replicator_free(struct replicator *replicator);

/* Copy this block to one more executor; does not wait. Any thread. */
void replicator_add(struct replicator *replicator, struct block_id id);
