/* One connection of a transfer server: its input and pending output. It never blocks. The server's loop calls it when
 * the socket is ready, and closes it when it asks for that or its deadline has passed.
 */
#pragma once

#include "rpc/transfer/transfer_server.h"
#include "rpc/transfer/transfer_wire.h"

struct channel;

/* Shared by the connections of one server. */
struct transfer_rules {
        const struct transfer_handler *handler;
        void *owner;
        const char *app_id; /* NULL: any */
        size_t max_request;
        int64_t handshake_ns, idle_ns;
};

enum transfer_phase {
        PHASE_GREETING, /* the greeting */
        PHASE_APP_ID,
        PHASE_HEADER,    /* between exchanges, or within a frame's header */
        PHASE_REQUEST,   /* a request's bytes */
        PHASE_SENDING,   /* an answer */
        PHASE_UPLOAD,    /* a header of an upload's frame */
        PHASE_UPLOADING, /* data of an upload's frame */
};

enum { TRANSFER_IOV = 64 };

struct transfer_connection {
        struct transfer_connection *prev, *next; /* in the server's list */
        struct channel *channel;
        const struct transfer_rules *rules;
        enum transfer_phase phase;
        enum transfer_kind kind; /* of the request */
        unsigned char *in;       /* received bytes of the current unit */
        size_t in_len, in_cap;
        size_t need;   /* the unit's size */
        size_t left;   /* PHASE_UPLOADING: of the frame */
        int64_t since; /* start of the unit or, between exchanges, of the pause */
        int64_t moved; /* time of the last progress */
        struct transfer_stream *stream;
        struct transfer_sink *sink;
        bool refused; /* a refused upload: further data is discarded */
        bool ending;  /* close after sending out */
        struct iovec out[TRANSFER_IOV + 1];
        int out_at, out_n;
        unsigned char header[TRANSFER_HEADER];
        char *sentence; /* text of a FAILED frame, in out */
        uint64_t exchanges, sent, received;
        int events; /* events that the server polls for */
};

/* Takes ownership of @channel. */
struct transfer_connection *transfer_connection_new(struct channel *channel, const struct transfer_rules *rules,
                                                    int64_t now);

/* Ends stream or sink and closes the channel. NULL is allowed. */
void transfer_connection_free(struct transfer_connection *c);

/* Does all work possible without blocking; @scratch has TRANSFER_SCRATCH bytes. Returns 0 and *@events (POLLIN,
 * POLLOUT) to wait for; FST_TRANSFER_E_AGAIN if more can be done after other connections; -ESHUTDOWN when the peer
 * has closed in good order; other negatives with @error: close it.
 */
int transfer_connection_run(struct transfer_connection *c, int64_t now, unsigned char *scratch, int *events,
                            struct fst_error *error);
#define FST_TRANSFER_E_AGAIN 2
#define TRANSFER_SCRATCH ((size_t)256 << 10)

/* When to close it if nothing happens, and the reason. */
int64_t transfer_connection_deadline(const struct transfer_connection *c, const char **why);
