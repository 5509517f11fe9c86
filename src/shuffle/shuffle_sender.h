/* Sends a map output to another executor, whose transfer server receives it (shuffle/shuffle_receiver.h). */
#pragma once

#include "rpc/transfer/transfer_client.h"
#include "shuffle/shuffle_store.h"

/*
 * Uploads the output @id of @store to the server at @host and @port. Returns 0 when it is stored there, -ENOENT if it
 * is not here any more, or negative with @error, as transfer_put. It also stays here. Blocks.
 */
int shuffle_send(struct shuffle_store *store, const struct shuffle_output_id *id, struct transfer_client *client,
                 const char *host, int port, const struct transfer_call *call, struct fst_error *error);
