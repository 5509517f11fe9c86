/*
 * One connection of a transfer server: what it has read, what it still has to write. It never waits; the server's
 * loop calls it when the socket is ready, and closes it when it says so or when its deadline has passed.
 */
#pragma once

#include "rpc/transfer/transfer_server.h"
#include "rpc/transfer/transfer_wire.h"

struct channel;

/* What connections of one server share. */
struct transfer_rules {
        const struct transfer_handler *handler;
        void *owner;
        const char *app_id; /* NULL: any */
        size_t max_request;
        int64_t handshake_ns, idle_ns;
};

enum transfer_phase {
        PHASE_GREETING, /* its first bytes */
        PHASE_APP_ID,
        PHASE_HEADER,    /* between exchanges, or a frame's header has begun */
        PHASE_REQUEST,   /* a request's bytes */
        PHASE_SENDING,   /* an answer */
        PHASE_UPLOAD,    /* a header of an upload's frame */
        PHASE_UPLOADING, /* its bytes */
};

enum { TRANSFER_IOV = 64 };

struct transfer_connection {
        struct transfer_connection *next, *previous; /* the server's */
        struct channel *channel;
        const struct transfer_rules *rules;
        enum transfer_phase phase;
        enum transfer_kind kind; /* of the request */
        unsigned char *in;       /* what has arrived of the present unit */
        size_t in_len, in_cap;
        size_t need;   /* the unit's size */
        size_t left;   /* PHASE_UPLOADING: of the frame */
        int64_t since; /* when the unit or, between exchanges, the pause began */
        int64_t moved; /* when bytes moved last */
        struct transfer_stream *stream;
        struct transfer_sink *sink;
        bool refused; /* an upload: what comes is thrown away */
        bool ending;  /* nothing follows what is in out */
        struct iovec out[TRANSFER_IOV + 1];
        int out_at, out_n;
        unsigned char header[TRANSFER_HEADER];
        char *sentence; /* of a FAILED frame: what out points to */
        uint64_t exchanges, sent, received;
        int events; /* the server's: what it waits for */
};

/* @channel becomes the connection's. */
struct transfer_connection *transfer_connection_new(struct channel *channel, const struct transfer_rules *rules,
                                                    int64_t now);

/* Ends stream or sink, closes the channel. NULL is allowed. */
void transfer_connection_free(struct transfer_connection *c);

/*
 * Do what can be done without waiting; @scratch has TRANSFER_SCRATCH bytes. 0: *@events (POLLIN, POLLOUT) is what to
 * wait for; FST_TRANSFER_E_AGAIN: there is more to do at once, others first; -ESHUTDOWN: the peer is done and gone in
 * good order; other negatives with @error: close it.
 */
int transfer_connection_run(struct transfer_connection *c, int64_t now, unsigned char *scratch, int *events,
                            struct fst_error *error);
#define FST_TRANSFER_E_AGAIN 2
#define TRANSFER_SCRATCH ((size_t)256 << 10)

/* When it is to be closed if nothing happens, and what to say then. */
int64_t transfer_connection_deadline(const struct transfer_connection *c, const char **why);
