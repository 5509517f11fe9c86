/* See shuffle_sender.h. The upload is the stream that a reader of all partitions would get. */
#include "shuffle/shuffle_sender.h"

#include "base/buf.h"
#include "base/error.h"
#include "base/mem.h"
#include "rpc/transfer/transfer.pb-c.h"
#include "rpc/transfer/transfer_server.h"
#include "shuffle/shuffle_server.h"

static void shuffle_sender_describe(const struct shuffle_output_id *id, const struct shuffle_output *output,
                                    struct buf *request)
{
        Firesteel__PutShuffle put = FIRESTEEL__PUT_SHUFFLE__INIT;
        Firesteel__TransferRequest r = FIRESTEEL__TRANSFER_REQUEST__INIT;
        put.shuffle = id->shuffle_id;
        put.map_partition = id->map_partition;
        put.task_id = id->task_id;
        put.partitions = output->partitions;
        put.kinds = (uint32_t)output->type.key | (uint32_t)output->type.value << 8;
        put.key_size = output->type.key_size;
        put.value_size = output->type.value_size;
        r.what_case = FIRESTEEL__TRANSFER_REQUEST__WHAT_PUT_SHUFFLE;
        r.put_shuffle = &put;
        buf_reserve(request, protobuf_c_message_get_packed_size(&r.base));
        request->len = protobuf_c_message_pack(&r.base, (uint8_t *)request->data);
}

static int shuffle_sender_open_stream(struct shuffle_store *store, const struct shuffle_output_id *id, int partitions,
                                      struct transfer_stream **stream, struct fst_error *error)
{
        Firesteel__FetchShuffle fetch = FIRESTEEL__FETCH_SHUFFLE__INIT;
        fetch.shuffle = id->shuffle_id;
        fetch.end_partition = partitions;
        fetch.n_map_partitions = fetch.n_map_task_ids = 1;
        fetch.map_partitions = &(int32_t){id->map_partition};
        fetch.map_task_ids = &(int64_t){id->task_id};
        return shuffle_server_open(store, &fetch, stream, error);
}

int shuffle_send(struct shuffle_store *store, const struct shuffle_output_id *id, struct transfer_client *client,
                 const char *host, int port, const struct transfer_call *call, struct fst_error *error)
{
        _cleanup_(buf_deinit) struct buf request = BUF_INIT;
        struct shuffle_output *output = shuffle_store_get(store, id->shuffle_id, id->map_partition, id->task_id);
        struct transfer_stream *stream;
        if (!output)
                return error_set(error, -ENOENT, "the map output is not here (any more)");
        shuffle_sender_describe(id, output, &request);
        int r = shuffle_sender_open_stream(store, id, output->partitions, &stream, error);
        if (r == 0) {
                r = transfer_put_stream(client, host, port, request.data, request.len, stream, call, error);
                stream->class->close(stream);
        }
        shuffle_output_unref(output);
        return r;
}
