/*
 * Serves map outputs to other executors: the stream that answers a FetchShuffle request.
 *
 * Pages are sent unchanged from memory or file. An output is looked up when its turn comes and pinned only while its
 * pages are being sent, so a client that does not read keeps few outputs in memory. A missing or unreadable output is a
 * GONE record for its map.
 */
#pragma once

#include "rpc/transfer/transfer_server.h"

struct shuffle_output;
struct shuffle_store;
struct Firesteel__FetchShuffle;

/* The source of a stream's outputs. */
struct shuffle_outputs {
        /* Returns a new reference to an output, or NULL. On the thread that reads the stream. */
        struct shuffle_output *(*get)(void *owner, int shuffle, int map_partition, int64_t task_id);
        void (*close)(void *owner); /* called at the end of the stream; may be NULL */
        void *owner;
};

/*
 * Opens the stream for @request (copied, untrusted) over @outputs, which is copied; `close` is also called on failure.
 * Returns 0, or -EINVAL with @error for an invalid request. Reads files on the thread that reads the stream.
 */
int shuffle_server_open_from(const struct shuffle_outputs *outputs, const struct Firesteel__FetchShuffle *request,
                             struct transfer_stream **stream, struct fst_error *error);

/* Does the same for the outputs of @store, which must outlive the stream. */
int shuffle_server_open(struct shuffle_store *store, const struct Firesteel__FetchShuffle *request,
                        struct transfer_stream **stream, struct fst_error *error);
