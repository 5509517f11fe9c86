/* The server of rpc/transfer/transfer.h: its own threads, each with an epoll loop over non-blocking connections. A
 * client that does not read costs its connection and its stream's memory, but delays no other client.
 *
 * Untrusted clients are limited: connections, time for a handshake and a request, size of a request, time without
 * progress. A client that exceeds a limit is disconnected with a log line.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

struct fst_error;
struct security;

/* ----------------------------------------------------------------------------------------------- services */

/* The source of an answer. Embedded first in the object that an open function creates. Used by one thread at a time.
 */
struct transfer_stream {
        const struct transfer_stream_class *class;
};

struct transfer_stream_class {
        /* Returns the next bytes: fills at most @max elements of @iov (@max is 16 or more), whose bytes stay in place
         * until the next call or close, and returns their number; 0 at the end; negative on failure: the client gets
         * @error. May read files. Must not block otherwise. Called on a server's thread.
         */
        int (*next)(struct transfer_stream *stream, struct iovec *iov, int max, struct fst_error *error);
        /* Frees the stream, complete or not. */
        void (*close)(struct transfer_stream *stream);
};

/* The target of an upload. Embedded first, as above. */
struct transfer_sink {
        const struct transfer_sink_class *class;
};

struct transfer_sink_class {
        /* Takes @n bytes (at most 256 KiB at a time). Returns 0, or negative with @error to refuse the rest. */
        int (*write)(struct transfer_sink *sink, const void *data, size_t n, struct fst_error *error);
        /* The upload is complete: commit it. Returns 0, or negative with @error. */
        int (*end)(struct transfer_sink *sink, struct fst_error *error);
        /* Frees the sink, and discards an upload that was not ended. */
        void (*close)(struct transfer_sink *sink);
};

struct transfer_handler {
        /* Opens the stream for @request (@len untrusted bytes). Returns 0, or negative with @error, which the client
         * gets. Called on a server's thread. Must not block.
         */
        int (*open)(void *owner, const unsigned char *request, size_t len, struct transfer_stream **stream,
                    struct fst_error *error);
        /* The same for an upload. NULL: uploads are refused. */
        int (*put)(void *owner, const unsigned char *request, size_t len, struct transfer_sink **sink,
                   struct fst_error *error);
};

/* ------------------------------------------------------------------------------------------------ the server */

struct transfer_server_options {
        const char *service;             /* for messages; NULL: the name of Spark's block transfer */
        const char *host;                /* NULL: all addresses */
        int port;                        /* 0: any */
        int port_retries;                /* further ports to try when it is taken (spark.port.maxRetries) */
        int threads;                     /* spark.shuffle.io.serverThreads; 0: 2 */
        int backlog;                     /* spark.shuffle.io.backLog; 0 or less: the system's most */
        const struct security *security; /* NULL: plain. Must outlive the server */
        const char *app_id;              /* clients of other applications are refused; NULL: not checked */
        int max_connections;             /* 0: 4096 */
        size_t max_request;              /* bytes; 0: 8 MiB */
        int64_t handshake_ns; /* for TLS and the greeting, and for each request from its first byte; 0: 30 s */
        int64_t idle_ns;      /* limit without progress: spark.shuffle.io.connectionTimeout; 0: 120 s */
};

struct transfer_server;

/* Listens and starts the threads. @handler and @owner must last until transfer_server_free. Negative with @error when
 * no port is free ("port 7337 … is taken …") or a thread cannot start.
 */
int transfer_server_new(const struct transfer_server_options *options, const struct transfer_handler *handler,
                        void *owner, struct transfer_server **server, struct fst_error *error);

/* The port of the server. */
int transfer_server_port(const struct transfer_server *server);

/* Closes everything, including unfinished streams, and waits for the threads. NULL is allowed. */
void transfer_server_free(struct transfer_server *server);

struct transfer_server_counters {
        uint64_t connections; /* accepted in total */
        uint64_t refused;     /* closed for a limit, a timeout or a protocol violation */
        uint64_t exchanges, bytes_sent, bytes_received;
        int open; /* connections now */
};
struct transfer_server_counters transfer_server_counters(struct transfer_server *server);
