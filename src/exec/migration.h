/*
 * Moving what a decommissioned executor has to others (Spark's BlockManagerDecommissioner): partitions of persisted
 * RDDs, and map outputs, of which the driver is then told that they are elsewhere.
 *
 * It has a thread of its own, which works in rounds: everything that is here goes to some other executor, one after
 * another in turn; what could not be moved is tried again in the next round, after
 * spark.storage.decommission.replicationReattemptInterval, until it has failed more often than
 * spark.storage.decommission.maxReplicationFailuresPerBlock allows, and is given up. When no other executor is there,
 * nothing can be moved, and all is given up.
 */
#pragma once

#include "exec/blocks/block_network.h"

struct block_manager;
struct driver_asks;
struct exec_env;
struct fst_conf;
struct migration;

struct migration_options {
        const struct fst_conf *conf;
        struct exec_env *env;
        struct block_manager *blocks;
        const struct block_network *network;
        struct driver_asks *asks;
        /* A round is over: see migration_done. On the migration's thread. */
        void (*round_over)(void *owner);
        void *owner;
};

/*
 * Start to move. All that @options points to is borrowed. 0 and NULL if spark.storage.decommission.* says that nothing
 * is to be moved; negative with @error for keys that are no numbers, or if there can be no thread.
 */
int migration_new(const struct migration_options *options, struct migration **migration, struct fst_error *error);

/*
 * Whether everything that was here at @since (CLOCK_MONOTONIC ns) has been moved or given up. If not, another round
 * begins after the one that is under way; round_over says when to ask again.
 */
bool migration_done(struct migration *m, int64_t since);

/* Stop in the middle, and end the thread. NULL is allowed. */
void migration_free(struct migration *m);
