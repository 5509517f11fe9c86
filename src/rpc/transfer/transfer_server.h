/*
 * The server of rpc/transfer/transfer.h: threads of its own, each an epoll loop over non-blocking connections. A client
 * that does not read costs its connection and whatever its stream keeps, never another client's time.
 *
 * What strangers may do is limited: connections, the time for a handshake and a request, the size of a request, the
 * time that a stream stands still. Who goes beyond is closed with a log line.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

struct fst_error;
struct security;

/* ----------------------------------------------------------------------------------------- what is served */

/* The source of an answer. Embedded first in whatever an open function makes; used by one thread at a time. */
struct transfer_stream {
        const struct transfer_stream_class *class;
};

struct transfer_stream_class {
        /*
         * The next bytes: fill at most @max elements of @iov (@max is 16 or more), whose bytes stay where they are
         * until the next call or close, and return how many were filled; 0: the stream is complete; negative: it
         * failed, and the client is told @error's sentence. May read files; must not wait for anybody. On a server's
         * thread.
         */
        int (*next)(struct transfer_stream *stream, struct iovec *iov, int max, struct fst_error *error);
        /* Done with, complete or not; frees it. */
        void (*close)(struct transfer_stream *stream);
};

/* Where an upload goes. Embedded first, as above. */
struct transfer_sink {
        const struct transfer_sink_class *class;
};

struct transfer_sink_class {
        /* Take @n bytes (at most 256 KiB at a time). 0, or negative with @error to refuse the rest. */
        int (*write)(struct transfer_sink *sink, const void *data, size_t n, struct fst_error *error);
        /* All has arrived: make it count. 0, or negative with @error. */
        int (*end)(struct transfer_sink *sink, struct fst_error *error);
        /* Done with; frees it. What was not ended is to be forgotten. */
        void (*close)(struct transfer_sink *sink);
};

struct transfer_handler {
        /*
         * A client asks for @request (@len bytes, untrusted): make the stream that answers it. 0, or negative with
         * @error, which the client is told. On a server's thread; must not wait.
         */
        int (*open)(void *owner, const unsigned char *request, size_t len, struct transfer_stream **stream,
                    struct fst_error *error);
        /* The same for an upload. NULL: uploads are refused. */
        int (*put)(void *owner, const unsigned char *request, size_t len, struct transfer_sink **sink,
                   struct fst_error *error);
};

/* ------------------------------------------------------------------------------------------------ the server */

struct transfer_server_options {
        const char *service;             /* for messages; NULL: the name that Spark's block transfer has there */
        const char *host;                /* to bind to; NULL: all addresses */
        int port;                        /* 0: any */
        int port_retries;                /* further ports to try when it is taken (spark.port.maxRetries) */
        int threads;                     /* spark.shuffle.io.serverThreads; 0: 2 */
        int backlog;                     /* spark.shuffle.io.backLog; 0 or less: the system's most */
        const struct security *security; /* NULL: connections are plain. Borrowed, as long as the server */
        const char *app_id;              /* clients of another application are refused; NULL: none is */
        int max_connections;             /* 0: 4096 */
        size_t max_request;              /* bytes; 0: 8 MiB */
        int64_t handshake_ns;            /* for TLS and the greeting, and for each request once begun; 0: 30 s */
        int64_t idle_ns;                 /* without a byte moving: spark.shuffle.io.connectionTimeout; 0: 120 s */
};

struct transfer_server;

/*
 * Listen and start the threads. @handler and @owner serve until transfer_server_free. Negative with @error when no port
 * can be had ("port 7337 … is taken …") or no thread.
 */
int transfer_server_new(const struct transfer_server_options *options, const struct transfer_handler *handler,
                        void *owner, struct transfer_server **server, struct fst_error *error);

/* The port that it listens on. */
int transfer_server_port(const struct transfer_server *server);

/* Close everything, streams in the middle too, and wait for the threads. NULL is allowed. */
void transfer_server_free(struct transfer_server *server);

struct transfer_server_counters {
        uint64_t connections; /* accepted, ever */
        uint64_t refused;     /* for a limit, a timeout or not keeping to the protocol */
        uint64_t exchanges, bytes_sent, bytes_received;
        int open; /* connections now */
};
struct transfer_server_counters transfer_server_counters(struct transfer_server *server);
