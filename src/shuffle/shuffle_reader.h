/*
 * Reading a shuffle: the pages of one reduce partition from all map outputs, in the order of the map partitions,
 * wherever they are.
 *
 * Map outputs of this process are read where they lie. Those of other executors come as one stream from each, which
 * lists all that is wanted from there in order (rpc/transfer/transfer.proto, FetchShuffle); the streams of several executors are
 * open at a time, so that one fills the network's buffers while another one is read. What Spark's limits say here:
 *
 *      spark.reducer.maxSizeInFlight              bytes under way in all streams together: each stream's TCP window
 *      spark.reducer.maxReqsInFlight              streams that are open at a time
 *      spark.reducer.maxBlocksInFlightPerAddress  map outputs that one stream lists
 *
 * Where the last two do not reach for all map outputs, these are read in rounds: as many of them, in order, as fit.
 *
 * Every page is verified when it arrives. A damaged one is asked for once more, together with what follows it; a
 * connection that fails is made again spark.shuffle.io.maxRetries times, and goes on with the page after the last one
 * that arrived; progress gives the tries back. What cannot be had after that is a fetch failure: the task_run says
 * which shuffle, map and executor, and the scheduler has the map stage run again.
 */
#pragma once

#include "rdd/pipeline/pipeline.h"
#include "shuffle/shuffle_output.h"

struct shuffle_store;
struct transfer_client;

/* An executor that has map outputs. */
struct shuffle_location {
        int32_t executor; /* the scheduler's index: what a fetch failure names */
        char *executor_id, *host;
        int port;     /* of its transfer server */
        bool service; /* or of the shuffle service on its host, which has its map outputs whether it lives or not */
};

/* Where one map output is. */
struct shuffle_map {
        int64_t task_id;  /* of the map task that wrote it; the driver's handle less one */
        int32_t location; /* index into the locations; -1: nowhere */
};

/* The map outputs that a shuffle's readers see, by map partition. */
struct shuffle_inputs {
        int shuffle_id;
        int n;
        struct shuffle_map *maps;
};

struct shuffle_fetch_limits {
        size_t bytes;    /* spark.reducer.maxSizeInFlight; 0: 48 MiB */
        int requests;    /* spark.reducer.maxReqsInFlight; 0: no limit */
        int per_address; /* spark.reducer.maxBlocksInFlightPerAddress; 0: no limit */
};

/* What a stage's tasks read. The arrays and their strings are its own; it does not change while tasks run. */
struct shuffle_reader_env {
        struct shuffle_inputs *inputs;
        int n_inputs;
        struct shuffle_location *locations;
        int n_locations;
        int here;                               /* index of the location that is this process; -1: none is */
        struct shuffle_store *store;            /* whose outputs are read for `here` */
        const struct spill_space *space;        /* codecs of pages on disk, here and there */
        struct transfer_client *client;         /* for all others; NULL: there are none */
        struct transfer_client *service_client; /* for shuffle services; NULL: there are none */
        const char *app_id;                     /* which they are told; borrowed */
        struct shuffle_fetch_limits limits;
        /* Whether an executor is known to be lost, so that it is not waited for; NULL: nobody knows. Any thread. */
        bool (*lost)(void *owner, int32_t executor);
        void *lost_owner;
};

/* Free what it owns. All zero is allowed. */
void shuffle_reader_env_deinit(struct shuffle_reader_env *env);

/* A pipeline's source over a struct shuffle_reader_env. An output that cannot be read is a fetch failure. */
extern const struct shuffle_source shuffle_reader_source;
