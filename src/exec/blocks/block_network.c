/* See block_network.h. */
#include "exec/blocks/block_network.h"

#include "base/buf.h"
#include "rpc/transfer/transfer.pb-c.h"

static void block_network_pack(const Firesteel__TransferRequest *request, struct buf *out)
{
        size_t size = firesteel__transfer_request__get_packed_size(request);
        buf_reserve(out, size);
        firesteel__transfer_request__pack(request, (uint8_t *)out->data + out->len);
        out->len += size;
        out->data[out->len] = '\0';
}

bool block_peer_gone(void *peer)
{
        const struct block_peer *p = peer;
        return p->network->lost && p->at->executor >= 0 && p->network->lost(p->network->lost_owner, p->at->executor);
}

void block_request_fetch(struct block_name name, struct buf *out)
{
        char text[BLOCK_NAME_SIZE];
        Firesteel__FetchBlock fetch = FIRESTEEL__FETCH_BLOCK__INIT;
        Firesteel__TransferRequest request = FIRESTEEL__TRANSFER_REQUEST__INIT;
        block_name_format(name, text);
        fetch.name = text;
        request.what_case = FIRESTEEL__TRANSFER_REQUEST__WHAT_FETCH_BLOCK;
        request.fetch_block = &fetch;
        block_network_pack(&request, out);
}

void block_request_put(struct block_name name, enum fst_storage_level level, struct buf *out)
{
        char text[BLOCK_NAME_SIZE];
        Firesteel__PutBlock put = FIRESTEEL__PUT_BLOCK__INIT;
        Firesteel__TransferRequest request = FIRESTEEL__TRANSFER_REQUEST__INIT;
        block_name_format(name, text);
        put.name = text;
        put.storage_level = (int32_t)level;
        request.what_case = FIRESTEEL__TRANSFER_REQUEST__WHAT_PUT_BLOCK;
        request.put_block = &put;
        block_network_pack(&request, out);
}
