/*
 * The client of rpc/transfer/transfer.h, for tasks on their own threads: calls block, look at a stop flag while they do, and
 * end by a timeout when the peer is silent. Connections are kept and used again.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

struct fst_error;
struct security;
struct transfer_stream;

struct transfer_client_options {
        const struct security *security; /* NULL: connections are plain. Borrowed, as long as the client */
        const char *app_id;              /* told to servers; NULL: "" */
        int connections_per_peer;        /* kept idle for each host and port: spark.shuffle.io.numConnectionsPerPeer,
                                            for each core; 0: 1 */
        int max_retries;                 /* spark.shuffle.io.maxRetries: further attempts to connect; 0: none */
        int64_t retry_wait_ns;           /* spark.shuffle.io.retryWait */
        int64_t connect_ns;              /* to connect, with TLS; 0: 120 s (spark.shuffle.io.connectionTimeout) */
        int64_t timeout_ns;              /* of a peer that says nothing: the same key; 0: 120 s */
};

struct transfer_client;
struct transfer_input;

/* Never NULL. Shared by threads. */
struct transfer_client *transfer_client_new(const struct transfer_client_options *options);

/* Inputs must be closed by then. NULL is allowed. */
void transfer_client_free(struct transfer_client *client);

const struct transfer_client_options *transfer_client_options(const struct transfer_client *client);

/* How an input waits and how much may be under way. Zeros are the defaults. */
struct transfer_call {
        const int *stopped; /* atomic; not 0 ends every waiting with -ECANCELED. NULL: nobody stops it */
        size_t window;      /* bytes that may be in flight, at least 256 KiB; 0: as the kernel sees fit */
        int retries_used;   /* of max_retries, by the caller for the same exchange, who tries again by itself */
        bool wait_first;    /* begin with the pause before a retry */
        int64_t *wait_ns;   /* grows by the time spent waiting for the peer; NULL: not counted */
        /* Whether the peer is known to be gone for good, so that trying again is in vain: asked before and, now and
         * then, during pauses. May block. NULL: nobody knows. */
        bool (*gone)(void *owner);
        void *gone_owner;
};

/*
 * Send @request to the server at @host and @port and return its answer's stream. The request is sent, but the answer
 * not waited for: the first read does. Connecting is tried max_retries times more, retry_wait_ns apart. @call (NULL:
 * defaults) is copied. Errors: -ECANCELED; -ETIMEDOUT, -ECONNREFUSED and whatever else ends connecting, with the peer
 * named. One thread at a time uses an input.
 */
int transfer_open(struct transfer_client *client, const char *host, int port, const void *request, size_t len,
                  const struct transfer_call *call, struct transfer_input **input, struct fst_error *error);

/*
 * Up to @n bytes of the stream: how many, 0 at its end, or negative with @error: what the server answered (it told a
 * sentence; transfer_input_refused is true then), -ECONNRESET when the connection ended, -ETIMEDOUT, -ECANCELED,
 * -EPROTO.
 */
ssize_t transfer_read(struct transfer_input *input, void *buf, size_t n, struct fst_error *error);

/* Exactly @n bytes: 0; FST_TRANSFER_E_END if the stream is complete before the first; negative as above, and
 * -EPROTO if it ends among them. */
int transfer_read_all(struct transfer_input *input, void *buf, size_t n, struct fst_error *error);
#define FST_TRANSFER_E_END 1

/* Whether the failure was the server's own answer, rather than the connection's. */
bool transfer_input_refused(const struct transfer_input *input);

/* A stream that was read to its end leaves its connection for the next; another one is cut. NULL is allowed. */
void transfer_close(struct transfer_input *input);

/*
 * Upload @n pieces (their total is free) and wait for the server's word: 0 when it has taken them, or negative as for
 * transfer_open and transfer_read. Repeated as a whole if the connection could not be made, not if it broke.
 */
int transfer_put(struct transfer_client *client, const char *host, int port, const void *request, size_t len,
                 const struct iovec *pieces, int n, const struct transfer_call *call, struct fst_error *error);

/* The same, of what @stream (transfer_server.h; not closed) has: it is not held in memory as a whole. */
int transfer_put_stream(struct transfer_client *client, const char *host, int port, const void *request, size_t len,
                        struct transfer_stream *stream, const struct transfer_call *call, struct fst_error *error);
