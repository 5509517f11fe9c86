/* The client of rpc/transfer/transfer.h, for tasks on their own threads: calls block, poll a stop flag, and time out
 * when the peer is silent. Connections are kept and reused.
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
        const char *app_id;              /* sent to servers; NULL: "" */
        int connections_per_peer;        /* kept idle for each host and port: spark.shuffle.io.numConnectionsPerPeer,
                                            for each core; 0: 1 */
        int max_retries;                 /* spark.shuffle.io.maxRetries: further attempts to connect; 0: none */
        int64_t retry_wait_ns;           /* spark.shuffle.io.retryWait */
        int64_t connect_ns;              /* to connect, with TLS; 0: 120 s (spark.shuffle.io.connectionTimeout) */
        int64_t timeout_ns;              /* for a silent peer: the same key; 0: 120 s */
};

struct transfer_client;
struct transfer_input;

/* Never NULL. Thread-safe. */
struct transfer_client *transfer_client_new(const struct transfer_client_options *options);

/* All inputs must be closed. NULL is allowed. */
void transfer_client_free(struct transfer_client *client);

const struct transfer_client_options *transfer_client_options(const struct transfer_client *client);

/* Options of an exchange. Zeros are the defaults. */
struct transfer_call {
        const int *stopped; /* atomic; nonzero ends waits with -ECANCELED. NULL: never */
        size_t window;      /* most bytes in flight, at least 256 KiB; 0: the kernel's choice */
        int retries_used;   /* attempts of max_retries that the caller has used for this exchange in its own retries */
        bool wait_first;    /* pause first, as before a retry */
        int64_t *wait_ns;   /* increased by the time spent waiting for the peer; NULL: not counted */
        /* Returns true if the peer is known to be lost, so that retries are useless: called before and repeatedly
         * during pauses. May block. NULL: unknown.
         */
        bool (*gone)(void *owner);
        void *gone_owner;
};

/* Sends @request to the server at @host and @port and returns the stream of its answer, without waiting for the
 * answer: the first read does. Retries connecting max_retries times, retry_wait_ns apart. @call (NULL: defaults) is
 * copied. Errors: -ECANCELED; -ETIMEDOUT, -ECONNREFUSED and other connect errors, naming the peer. One thread at a
 * time uses an input.
 */
int transfer_open(struct transfer_client *client, const char *host, int port, const void *request, size_t len,
                  const struct transfer_call *call, struct transfer_input **input, struct fst_error *error);

/* Reads up to @n bytes. Returns their number, 0 at the end of the stream, or negative with @error: the server's error
 * (transfer_input_refused is true then), -ECONNRESET when the connection ended, -ETIMEDOUT, -ECANCELED, -EPROTO.
 */
ssize_t transfer_read(struct transfer_input *input, void *buf, size_t n, struct fst_error *error);

/* Reads exactly @n bytes. Returns 0; FST_TRANSFER_E_END if the stream ends before the first; negative as above, and
 * -EPROTO if it ends among them.
 */
int transfer_read_all(struct transfer_input *input, void *buf, size_t n, struct fst_error *error);
#define FST_TRANSFER_E_END 1

/* Returns true if the failure was the server's answer, not the connection's. */
bool transfer_input_refused(const struct transfer_input *input);

/* Keeps the connection if the stream was read to its end. Otherwise closes it. NULL is allowed. */
void transfer_close(struct transfer_input *input);

/* For tests: uploads @n pieces of any total size and waits for the reply. Returns 0 when the server has accepted them,
 * or negative as transfer_open and transfer_read. Repeated as a whole if connecting failed, not if the connection
 * broke.
 */
int transfer_put(struct transfer_client *client, const char *host, int port, const void *request, size_t len,
                 const struct iovec *pieces, int n, const struct transfer_call *call, struct fst_error *error);

/* The same for the content of @stream (transfer_server.h; not closed), which is not held in memory as a whole. */
int transfer_put_stream(struct transfer_client *client, const char *host, int port, const void *request, size_t len,
                        struct transfer_stream *stream, const struct transfer_call *call, struct fst_error *error);
