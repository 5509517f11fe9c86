/*
 * What an executor knows of other processes' blocks, and how it fetches and announces them: the driver answers where
 * blocks are, transfer servers have them. The executor process fills in the table once its connection to the driver is
 * there (rpc/control.proto: BLOCK_LOCATIONS, BLOCK_UPDATES, peers); tests fill in their own.
 */
#pragma once

#include "store/block_name.h"

#include <firesteel/rdd.h>

#include <stddef.h>

struct buf;
struct fst_error;
struct transfer_client;

#define BLOCK_HOST_SIZE 256

/* At most so many are told: a block has few replicas, and of the many that have a broadcast's piece a few will do. */
#define MAX_BLOCK_LOCATIONS 8

/* A process whose transfer server has something. */
struct block_location {
        int executor; /* the scheduler's index; -1: the driver, or not known */
        char host[BLOCK_HOST_SIZE];
        int port;
};

/* What an executor says of a block: as struct block_status, but of any kind of block. */
struct block_info {
        enum fst_storage_level level; /* FST_STORAGE_NONE: it is gone */
        int64_t memory_bytes, disk_bytes, rows;
};

struct block_network {
        struct transfer_client *client;

        /*
         * Ask the driver who else has a block: how many of @out (at most @max, nearest first) were filled, 0 for none;
         * or negative with @error when the driver cannot be asked. Blocks; on tasks' threads; looks at @stopped.
         */
        int (*locations)(void *owner, struct block_name name, const int *stopped, struct block_location *out, int max,
                         struct fst_error *error);

        /*
         * Ask for executors that may take a replica: as above. With @name (not NULL) only such as do not have that
         * block. NULL: there are no others.
         */
        int (*peers)(void *owner, const struct block_name *name, const int *stopped, struct block_location *out,
                     int max, struct fst_error *error);

        /* A block came, moved or went: tell the driver, in one of the next messages. Any thread; does not wait. */
        void (*changed)(void *owner, struct block_name name, const struct block_info *info);

        /* Whether an executor is known to be gone, so that it is not tried again; NULL: nobody knows. Any thread. */
        bool (*lost)(void *owner, int32_t executor);
        void *lost_owner;

        void *owner;
        struct block_location driver; /* its transfer server; port 0: it has none */
        int replication_failures;     /* spark.storage.maxReplicationFailures: of one block, before it is left */
};

/* For transfer_call.gone: whether this location is that of a lost executor. The owner is a struct block_peer. */
struct block_peer {
        const struct block_network *network;
        const struct block_location *at;
};
bool block_peer_gone(void *peer);

/* The requests of rpc/transfer/transfer.proto for a block, appended to @out. */
void block_request_fetch(struct block_name name, struct buf *out);
void block_request_put(struct block_name name, enum fst_storage_level level, struct buf *out);
