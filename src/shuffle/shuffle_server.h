/*
 * Serving map outputs to other executors: the stream that answers a FetchShuffle request.
 *
 * Pages in memory go out as they lie there, pages on disk as they lie in the file. An output is looked up when its turn
 * comes, and pinned only while its pages are with the socket, so a client that does not read holds one or a few outputs
 * in memory, not all that it asked for. What is not there (any more), or cannot be read, is a GONE record for that map.
 */
#pragma once

#include "rpc/transfer/transfer_server.h"

struct shuffle_output;
struct shuffle_store;
struct Firesteel__FetchShuffle;

/* Where a stream's outputs come from. */
struct shuffle_outputs {
        /* A reference to an output, or NULL. On the thread that asks for the stream's bytes. */
        struct shuffle_output *(*get)(void *owner, int shuffle, int map_partition, int64_t task_id);
        void (*close)(void *owner); /* the stream is done with it; NULL: nothing to do */
        void *owner;
};

/*
 * The stream for @request (copied, untrusted) over @outputs, which is copied, and closed when it fails as well. 0, or
 * -EINVAL with @error for a request that cannot be. Reads files on the thread that asks for the stream's bytes.
 */
int shuffle_server_open_from(const struct shuffle_outputs *outputs, const struct Firesteel__FetchShuffle *request,
                             struct transfer_stream **stream, struct fst_error *error);

/* The same over the outputs of @store, which outlives it. */
int shuffle_server_open(struct shuffle_store *store, const struct Firesteel__FetchShuffle *request,
                        struct transfer_stream **stream, struct fst_error *error);
