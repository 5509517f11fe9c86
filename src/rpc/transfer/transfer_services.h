/* A transfer server's handler that decodes requests (rpc/transfer/transfer.proto) and passes each to the service for
 * its kind.
 */
#pragma once

#include "rpc/transfer/transfer_server.h"

struct Firesteel__FetchShuffle;
struct Firesteel__FetchBlock;
struct Firesteel__FetchFile;
struct Firesteel__PutBlock;
struct Firesteel__PutShuffle;

/* Each as `open` or `put` of struct transfer_handler, with the decoded request; NULL: not served. */
struct transfer_services {
        void *owner;
        int (*fetch_shuffle)(void *owner, const struct Firesteel__FetchShuffle *request,
                             struct transfer_stream **stream, struct fst_error *error);
        int (*fetch_block)(void *owner, const struct Firesteel__FetchBlock *request, struct transfer_stream **stream,
                           struct fst_error *error);
        int (*fetch_file)(void *owner, const struct Firesteel__FetchFile *request, struct transfer_stream **stream,
                          struct fst_error *error);
        int (*put_block)(void *owner, const struct Firesteel__PutBlock *request, struct transfer_sink **sink,
                         struct fst_error *error);
        int (*put_shuffle)(void *owner, const struct Firesteel__PutShuffle *request, struct transfer_sink **sink,
                           struct fst_error *error);
};

/* For transfer_server_new with a struct transfer_services as owner. */
extern const struct transfer_handler transfer_services_handler;
