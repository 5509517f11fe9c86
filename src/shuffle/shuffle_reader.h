/*
 * Reads a shuffle: the pages of one reduce partition from all map outputs, local and remote, in the order of the map
 * partitions.
 *
 * Map outputs of this process are read in place. Each other executor sends one stream, with the wanted outputs in order
 * (rpc/transfer/transfer.proto, FetchShuffle). Streams of several executors are open together, so that one fills the
 * network's buffers while another is read. Spark's limits mean:
 *
 *      spark.reducer.maxSizeInFlight              bytes in flight in all streams together: each stream's TCP window
 *      spark.reducer.maxReqsInFlight              open streams
 *      spark.reducer.maxBlocksInFlightPerAddress  map outputs in one stream
 *
 * If the last two are too low for all map outputs, the outputs are read in rounds, in order. Outputs outside of
 * executors are read through shuffle/remote_shuffle.h.
 *
 * Every page is verified on arrival. A damaged page is requested once more with all that follows it. A failed
 * connection is opened again up to spark.shuffle.io.maxRetries times and continues after the last page that arrived.
 * Progress resets the count. After that it is a fetch failure: the task_run names shuffle, map and executor, and the
 * scheduler runs the map stage again.
 */
#pragma once

#include "rdd/pipeline/pipeline.h"
#include "shuffle/shuffle_output.h"

struct remote_shuffle;
struct shuffle_store;
struct stage_outputs;
struct transfer_client;

/* An executor that has map outputs. */
struct shuffle_location {
        int32_t executor; /* the scheduler's index, for fetch failures */
        char *executor_id, *host;
        int port;     /* of its transfer server */
        bool service; /* port of the shuffle service on its host, which has its map outputs even after its end */
};

/* The location of one map output. */
struct shuffle_map {
        int64_t task_id;  /* id of the map task that wrote it */
        int32_t location; /* index into the locations; -1: none; SHUFFLE_REMOTE - w: outside of executors, by the writer
                             w (shuffle/remote_shuffle.h) */
        uint32_t place;   /* of a remote one (shuffle/remote_shuffle.h) */
};

#define SHUFFLE_REMOTE (-2)

static inline bool shuffle_map_is_remote(const struct shuffle_map *map)
{
        return map->location <= SHUFFLE_REMOTE;
}

/* The number of the executor that wrote a remote output. */
static inline int32_t shuffle_map_writer(const struct shuffle_map *map)
{
        return SHUFFLE_REMOTE - map->location;
}

/* All map outputs of a shuffle, by map partition. */
struct shuffle_inputs {
        int shuffle_id;
        int n;
        struct shuffle_map *maps;
        struct stage_outputs *here; /* those of this process; NULL: not looked up. For stage_outputs only */
        bool ended;                 /* the stage has ended; for stage_outputs only */
};

struct shuffle_fetch_limits {
        size_t bytes;    /* spark.reducer.maxSizeInFlight; 0: 48 MiB */
        int requests;    /* spark.reducer.maxReqsInFlight; 0: no limit */
        int per_address; /* spark.reducer.maxBlocksInFlightPerAddress; 0: no limit */
};

/* The inputs of a stage's tasks. Owns its arrays and strings. Does not change while tasks run, but for `here` of its
 * inputs. */
struct shuffle_reader_env {
        struct shuffle_inputs *inputs;
        int n_inputs;
        struct shuffle_location *locations;
        int n_locations;
        int here;                               /* index of this process's location; -1: none */
        struct shuffle_store *store;            /* outputs at `here` */
        const struct spill_space *space;        /* codecs of pages on disk and on the wire */
        struct transfer_client *client;         /* for other executors; NULL: there are none */
        struct transfer_client *service_client; /* for shuffle services; NULL: there are none */
        const char *app_id;                     /* sent to shuffle services; borrowed */
        struct remote_shuffle *remote;          /* for outputs outside of executors; NULL: there are none */
        struct shuffle_fetch_limits limits;
        /* True if an executor is known to be lost, so that it is not waited for. NULL: unknown. Any thread. */
        bool (*lost)(void *owner, int32_t executor);
        void *lost_owner;
};

/* The stage has ended, so that outputs of this process are kept only for tasks that still run. Any thread. */
void shuffle_reader_env_end(struct shuffle_reader_env *env);

/* Frees its arrays and strings. All zero is allowed. */
void shuffle_reader_env_deinit(struct shuffle_reader_env *env);

/* The source of pipelines that reads a struct shuffle_reader_env. An unreadable output is a fetch failure. */
extern const struct shuffle_source shuffle_reader_source;
