/*
 * How an executor finds, fetches and announces blocks of other processes: the driver knows the locations, transfer
 * servers hold the blocks. The executor process fills in the table when it is connected to the driver
 * (rpc/control.proto: BLOCK_LOCATIONS, BLOCK_UPDATES, peers). Tests fill in their own.
 */
#pragma once

#include "store/block_name.h"

#include <firesteel/rdd.h>

#include <stddef.h>

struct buf;
struct fst_error;
struct transfer_client;

#define BLOCK_HOST_SIZE 256

/*
 * The driver returns at most this many locations: a block has few replicas, and a few of a broadcast piece's many
 * holders are enough.
 */
#define MAX_BLOCK_LOCATIONS 8

/* A process whose transfer server holds a block. */
struct block_location {
        int executor; /* the scheduler's index; -1: the driver, or unknown */
        char host[BLOCK_HOST_SIZE];
        int port;
};

/* The state of a block at an executor; as struct block_status, but for any kind of block. */
struct block_info {
        enum fst_storage_level level; /* FST_STORAGE_NONE: it was removed */
        int64_t memory_bytes, disk_bytes, rows;
};

struct block_network {
        struct transfer_client *client;

        /*
         * Asks the driver for other holders of a block. Returns how many of @out (at most @max, nearest first) were
         * filled, or negative with @error if the driver cannot be asked. Blocks; on tasks' threads; ends when @stopped
         * is set.
         */
        int (*locations)(void *owner, struct block_name name, const int *stopped, struct block_location *out, int max,
                         struct fst_error *error);

        /*
         * Asks for executors that may take a replica. Returns as above. With @name (not NULL) only executors without
         * that block. NULL: there are no other executors.
         */
        int (*peers)(void *owner, const struct block_name *name, const int *stopped, struct block_location *out,
                     int max, struct fst_error *error);

        /*
         * A block was added, moved or removed: tells the driver in one of the next messages. Any thread; does not
         * block.
         */
        void (*changed)(void *owner, struct block_name name, const struct block_info *info);

        /* True if an executor is known to be lost, so that it is not tried again. NULL: unknown. Any thread. */
        bool (*lost)(void *owner, int32_t executor);
        void *lost_owner;

        void *owner;
        struct block_location driver; /* the driver's transfer server; port 0: it has none */
        int replication_failures;     /* spark.storage.maxReplicationFailures: limit of failures for one block */
};

/* For transfer_call.gone: true if this location is on a lost executor. The owner is a struct block_peer. */
struct block_peer {
        const struct block_network *network;
        const struct block_location *at;
};
bool block_peer_gone(void *peer);

/* Append the request for a block, of rpc/transfer/transfer.proto, to @out. */
void block_request_fetch(struct block_name name, struct buf *out);
void block_request_put(struct block_name name, enum fst_storage_level level, struct buf *out);
