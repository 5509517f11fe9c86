/*
 * The driver's table of block locations: which executors have which partitions of persisted RDDs and which pieces of
 * broadcast variables. Does no I/O.
 *
 * A cluster backend calls:
 *
 *      RegisterExecutor        block_master_add_executor, with the transfer server's host and port
 *      executor lost           block_master_remove_executor
 *      BlockUpdates            block_name_parse, then block_master_update, for each
 *      BLOCK_LOCATIONS (ask)   block_master_locations of the first name, for the asking executor
 *      peers (ask)             block_master_peers
 *      fst_unpersist           block_master_remove_rdd, then sends Remove to the executors it returns
 *      broadcast unpersisted   block_master_remove_broadcast; likewise
 *      lineage.cached          block_master_cached; preferred locations: block_master_executors
 *
 * Threads: any. Observers run without the lock, on the thread that made the change.
 */
#pragma once

#include "exec/blocks/block_network.h"

#include <firesteel/rdd.h>

struct block_master;

struct block_master_observer {
        /* For SparkListenerBlockUpdated, also for pieces of broadcasts. */
        void (*block_updated)(void *owner, const struct block_location *at, const char *executor_id,
                              struct block_name name, const struct block_info *info);
        void *owner;
};

struct block_master *block_master_new(void);
void block_master_free(struct block_master *m);

/* Set the observer of updates, before the first executor. NULL: none. */
void block_master_set_observer(struct block_master *m, const struct block_master_observer *observer);

/*
 * Add an executor that serves blocks. @executor is the scheduler's index, or -1 for the driver itself. Adding a known
 * executor again drops its blocks.
 */
void block_master_add_executor(struct block_master *m, int executor, const char *id, const char *host, int port);

/* The executor will stop: it receives no more replicas. */
void block_master_decommission(struct block_master *m, int executor);

/* A partition with fewer copies than its level asks for, and an executor that has one. */
struct block_copy {
        int executor, rdd, partition;
};

/*
 * Drop an executor and its blocks. Returns the number of blocks that have lost their last copy. *@short_of (NULL: not
 * wanted) receives the @n partitions that now lack copies, grouped by executor. The caller frees the array.
 */
size_t block_master_remove_executor(struct block_master *m, int executor, struct block_copy **short_of, size_t *n);

/*
 * Returns false without a change if the executor is unknown (it was lost; Spark lets it register again), or if the
 * level in @info is invalid.
 */
bool block_master_update(struct block_master *m, int executor, struct block_name name, const struct block_info *info);

/*
 * Find at most @max holders of a block, without @asker: first those on @asker's host, then the others in a random
 * order. For pieces of broadcasts the driver comes last, so that executors ask each other first. Of more than
 * MAX_BLOCK_LOCATIONS holders it looks at as many, beginning with a random one. *@info (NULL: not wanted) is that of the
 * first. Returns their number.
 */
int block_master_locations(struct block_master *m, struct block_name name, int asker, struct block_location *out,
                           int max, struct block_info *info);

/* Find the indexes of at most @max executors that have a partition. Returns their number. */
int block_master_executors(struct block_master *m, int rdd, int partition, int *out, int max);
bool block_master_cached(struct block_master *m, int rdd, int partition);

/*
 * Find at most @max executors for a replica, in a random order. Leaves out @asker, the driver, executors that will stop
 * and, if @name is not NULL, those that have that block. Returns their number.
 */
int block_master_peers(struct block_master *m, int asker, const struct block_name *name, struct block_location *out,
                       int max);

/* The partitions of an RDD that are stored somewhere, and the bytes of all their copies. */
struct block_totals {
        int partitions;
        int64_t memory_bytes, disk_bytes;
};
struct block_totals block_master_rdd(struct block_master *m, int rdd);

/*
 * Forget an RDD, or a broadcast's pieces on executors (with @on_driver, the driver's too). *@executors receives the
 * executors that had a part of it. The caller frees it. Returns their number.
 */
int block_master_remove_rdd(struct block_master *m, int rdd, int **executors);
int block_master_remove_broadcast(struct block_master *m, int64_t id, bool on_driver, int **executors);
