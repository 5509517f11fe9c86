/*
 * Serving map outputs to other executors: the stream that answers a FetchShuffle request.
 *
 * Pages in memory go out as they lie there, pages on disk as they lie in the file. An output is looked up when its turn
 * comes, and pinned only while its pages are with the socket, so a client that does not read holds one or a few outputs
 * in memory, not all that it asked for. What is not there (any more), or cannot be read, is a GONE record for that map.
 */
#pragma once

#include "rpc/transfer_server.h"

struct shuffle_store;
struct Firesteel__FetchShuffle;

/*
 * The stream for @request (copied, untrusted) over the outputs of @store, which outlives it. 0, or -EINVAL with @error
 * for a request that cannot be. Reads files on the thread that asks for the stream's bytes.
 */
int shuffle_server_open(struct shuffle_store *store, const struct Firesteel__FetchShuffle *request,
                        struct transfer_stream **stream, struct fst_error *error);
