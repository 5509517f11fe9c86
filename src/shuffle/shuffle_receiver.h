/*
 * Taking in a map output that another executor gives away (rpc/transfer/transfer.proto, PutShuffle): its stream is the one that
 * shuffle_server.h serves, of one map and all of its partitions. The output is kept on disk, pages verified.
 */
#pragma once

#include "rpc/transfer/transfer_server.h"

struct memory_manager;
struct shuffle_store;
struct Firesteel__PutShuffle;

/*
 * The sink for @request (untrusted): when it has ended, @store, which outlives it, has the output. 0, or -EINVAL with
 * @error for what cannot be.
 */
int shuffle_receiver_open(struct shuffle_store *store, struct memory_manager *manager,
                          const struct Firesteel__PutShuffle *request, struct transfer_sink **sink,
                          struct fst_error *error);
