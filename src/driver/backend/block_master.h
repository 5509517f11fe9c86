/*
 * The driver's table of where blocks are: which executor has which partitions of persisted RDDs, and which pieces of
 * which broadcast variables. It does no I/O.
 *
 * How the cluster backend is to call it:
 *
 *      RegisterExecutor        block_master_add_executor, with the transfer server's host and port
 *      executor lost           block_master_remove_executor
 *      BlockUpdates            block_name_parse, then block_master_update, for each
 *      BLOCK_LOCATIONS (ask)   block_master_locations of the first name, for the asking executor
 *      peers (ask)             block_master_peers
 *      fst_unpersist           block_master_remove_rdd; Remove goes to the executors that it answers
 *      broadcast unpersisted   block_master_remove_broadcast; likewise
 *      lineage.cached          block_master_cached; preferred locations: block_master_executors
 *
 * Threads: all functions from any; observers are called without the lock, on the thread that made the change.
 */
#pragma once

#include "exec/blocks/block_network.h"

#include <firesteel/rdd.h>

struct block_master;

struct block_master_observer {
        /* For SparkListenerBlockUpdated. Pieces of broadcasts too. */
        void (*block_updated)(void *owner, const struct block_location *at, const char *executor_id,
                              struct block_name name, const struct block_info *info);
        void *owner;
};

struct block_master *block_master_new(void);
void block_master_free(struct block_master *m);

/* Who hears of updates; set before the first executor. NULL: nobody. */
void block_master_set_observer(struct block_master *m, const struct block_master_observer *observer);

/*
 * An executor that serves blocks; @executor is the scheduler's index, or -1 for the driver itself. One that is known
 * comes anew: what it had is forgotten.
 */
void block_master_add_executor(struct block_master *m, int executor, const char *id, const char *host, int port);

/* It is going to end: it is no peer for replicas any more. */
void block_master_decommission(struct block_master *m, int executor);

/* A partition of which there are fewer copies than its level asks for, and an executor that has one. */
struct block_copy {
        int executor, rdd, partition;
};

/*
 * All that it had is gone. Returns how many blocks are without any copy now. @short_of (NULL: not wanted): partitions
 * that have become short of copies, an array that the caller frees, and how many, those of one executor in a row.
 */
size_t block_master_remove_executor(struct block_master *m, int executor, struct block_copy **short_of, size_t *n);

/* False, and nothing is noted, if the executor is not known (it was lost; Spark lets it register again), or @info has
 * no level that there is. */
bool block_master_update(struct block_master *m, int executor, struct block_name name, const struct block_info *info);

/*
 * Who has the block: at most @max, those on @asker's host first, otherwise in an order drawn anew each time; @asker
 * itself is left out. *@info (NULL: not wanted) is of the first. Returns how many. For pieces of broadcasts the driver,
 * if it has them, is the last: executors are to ask each other first.
 */
int block_master_locations(struct block_master *m, struct block_name name, int asker, struct block_location *out,
                           int max, struct block_info *info);

/* Indexes of the executors that have a partition: at most @max; returns how many. */
int block_master_executors(struct block_master *m, int rdd, int partition, int *out, int max);
bool block_master_cached(struct block_master *m, int rdd, int partition);

/* Who may take a replica, of a block if @name is not NULL: all executors but @asker, the driver, those that have that
 * block and those that are going to end, at most @max, drawn anew each time. */
int block_master_peers(struct block_master *m, int asker, const struct block_name *name, struct block_location *out,
                       int max);

/* How many partitions of an RDD are somewhere, and their bytes, each counted once for each copy. */
struct block_totals {
        int partitions;
        int64_t memory_bytes, disk_bytes;
};
struct block_totals block_master_rdd(struct block_master *m, int rdd);

/*
 * Forget an RDD, or a broadcast's pieces (on executors; with @on_driver, the driver's too). The executors that had
 * something of it are in *@executors, which the caller frees; returns how many.
 */
int block_master_remove_rdd(struct block_master *m, int rdd, int **executors);
int block_master_remove_broadcast(struct block_master *m, int64_t id, bool on_driver, int **executors);
