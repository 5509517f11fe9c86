/*
 * Moves the data of a decommissioned executor to other executors (Spark's BlockManagerDecommissioner): partitions of
 * persisted RDDs, and map outputs, whose new locations are announced to the driver.
 *
 * A thread works in rounds. A round moves each item to another executor, in turn. Failed items are tried again in the
 * next round, after spark.storage.decommission.replicationReattemptInterval, and given up after
 * spark.storage.decommission.maxReplicationFailuresPerBlock failures. If there is no other executor, all items are
 * given up, except map outputs if there is spark.storage.decommission.fallbackStorage.path: they are stored there. So
 * is one that another executor did not take.
 */
#pragma once

#include "exec/blocks/block_network.h"

struct block_manager;
struct driver_client;
struct exec_env;
struct fst_conf;
struct migration;
struct remote_shuffle;

struct migration_options {
        const struct fst_conf *conf;
        struct exec_env *env;
        struct block_manager *blocks;
        const struct block_network *network;
        struct driver_client *asks;
        struct remote_shuffle *fallback; /* for map outputs that no executor takes; NULL: they are given up */
        /* Called at the end of a round (see migration_done), on the migration's thread. */
        void (*round_over)(void *owner);
        void *owner;
};

/*
 * Starts the migration. Everything in @options is borrowed. Returns 0 with *@migration NULL if
 * spark.storage.decommission.* moves nothing; negative with @error for invalid keys or if no thread can be started.
 */
int migration_new(const struct migration_options *options, struct migration **migration, struct fst_error *error);

/*
 * Returns true if everything present at @since (CLOCK_MONOTONIC ns) was moved or given up. If not, another round
 * follows the current one. Call again after round_over.
 */
bool migration_done(struct migration *m, int64_t since);

/* Cancels the migration and ends the thread. NULL is allowed. */
void migration_free(struct migration *m);
