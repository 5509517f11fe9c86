/*
 * Replaces replicas that were lost with other executors: the driver names the local blocks to copy to one more executor
 * (spark.storage.replication.proactive), and a thread copies them one by one. Failures are logged.
 */
#pragma once

#include "store/block_store.h"

struct block_manager;
struct replicator;

/* Borrows @blocks. Starts no thread yet. */
struct replicator *replicator_new(struct block_manager *blocks);

/* Cancels a running copy and ends the thread. NULL is allowed. */
void replicator_free(struct replicator *replicator);

/* Queues a block for one more copy. Does not block. Any thread. */
void replicator_add(struct replicator *replicator, struct block_id id);
