/* Finds the service for a request. Requests are untrusted: protobuf-c parses them, and the server limits their size. */
#include "rpc/transfer/transfer_services.h"

#include "base/error.h"
#include "rpc/transfer/transfer.pb-c.h"

static int transfer_services_unpack(const unsigned char *data, size_t len, Firesteel__TransferRequest **request,
                                    struct fst_error *error)
{
        *request = firesteel__transfer_request__unpack(NULL, len, data);
        return *request ? 0 : error_set(error, -EBADMSG, "a malformed request");
}

static int not_served(struct fst_error *error)
{
        return error_set(error, -EOPNOTSUPP, "this process does not serve this request");
}

static int services_open(void *owner, const unsigned char *data, size_t len, struct transfer_stream **stream,
                         struct fst_error *error)
{
        const struct transfer_services *s = owner;
        Firesteel__TransferRequest *request;
        int r = transfer_services_unpack(data, len, &request, error);
        if (r)
                return r;
        if (request->what_case == FIRESTEEL__TRANSFER_REQUEST__WHAT_FETCH_SHUFFLE && s->fetch_shuffle)
                r = s->fetch_shuffle(s->owner, request->fetch_shuffle, stream, error);
        else if (request->what_case == FIRESTEEL__TRANSFER_REQUEST__WHAT_FETCH_BLOCK && s->fetch_block)
                r = s->fetch_block(s->owner, request->fetch_block, stream, error);
        else if (request->what_case == FIRESTEEL__TRANSFER_REQUEST__WHAT_FETCH_FILE && s->fetch_file)
                r = s->fetch_file(s->owner, request->fetch_file, stream, error);
        else
                r = not_served(error);
        firesteel__transfer_request__free_unpacked(request, NULL);
        return r;
}

static int services_put(void *owner, const unsigned char *data, size_t len, struct transfer_sink **sink,
                        struct fst_error *error)
{
        const struct transfer_services *s = owner;
        Firesteel__TransferRequest *request;
        int r = transfer_services_unpack(data, len, &request, error);
        if (r)
                return r;
        if (request->what_case == FIRESTEEL__TRANSFER_REQUEST__WHAT_PUT_BLOCK && s->put_block)
                r = s->put_block(s->owner, request->put_block, sink, error);
        else if (request->what_case == FIRESTEEL__TRANSFER_REQUEST__WHAT_PUT_SHUFFLE && s->put_shuffle)
                r = s->put_shuffle(s->owner, request->put_shuffle, sink, error);
        else
                r = not_served(error);
        firesteel__transfer_request__free_unpacked(request, NULL);
        return r;
}

const struct transfer_handler transfer_services_handler = {.open = services_open, .put = services_put};
