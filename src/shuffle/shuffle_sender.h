/* Giving a map output to another executor, whose transfer server takes it in (shuffle/shuffle_receiver.h). */
#pragma once

#include "rpc/transfer/transfer_client.h"
#include "shuffle/shuffle_store.h"

/*
 * Upload the output @id of @store to the server at @host and @port: 0 when it is kept there; -ENOENT when it is not
 * here (any more); or negative with @error, as transfer_put. It stays here as well. Blocks.
 */
int shuffle_send(struct shuffle_store *store, const struct shuffle_output_id *id, struct transfer_client *client,
                 const char *host, int port, const struct transfer_call *call, struct fst_error *error);
