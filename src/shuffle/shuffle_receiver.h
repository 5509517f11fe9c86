/*
 * Receives a map output from another executor (rpc/transfer/transfer.proto, PutShuffle). The stream has the format of
 * shuffle_server.h, with one map and all its partitions. The output is stored on disk after its pages are verified.
 */
#pragma once

#include "rpc/transfer/transfer_server.h"

struct memory_manager;
struct shuffle_store;
struct Firesteel__PutShuffle;

/*
 * Opens the sink for @request (untrusted). When the upload is complete, @store, which must outlive the sink, has the
 * output. Returns 0, or -EINVAL with @error for an invalid request.
 */
int shuffle_receiver_open(struct shuffle_store *store, struct memory_manager *manager,
                          const struct Firesteel__PutShuffle *request, struct transfer_sink **sink,
                          struct fst_error *error);
