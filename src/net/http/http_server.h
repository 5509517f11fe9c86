/*
 * A server of HTTP/1.1 on a loop: pages, JSON, the REST submission server. Only a module, libfiresteel-http-server.so,
 * links to libmicrohttpd for HTTP and TLS. The first connection loads it, so an unused server costs only a listening
 * socket.
 *
 *      static void serve(void *owner, struct http_call *call)
 *      {
 *              http_call_answer_text(call, 200, "text/plain", "hello\n");
 *      }
 *      struct http_server_options options = {.loop = loop, .service = "MasterUI", .port = 8080, .handle = serve};
 *      r = http_server_new(&options, &server, error);
 *      http_server_free(server);
 *
 * Everything happens on the loop's thread. `handle` gets a complete request and must not block: a slow handler (disk,
 * another process) answers later, from the same thread. Requests of one connection are handled one after another, those
 * of several in between.
 *
 * Clients are untrusted. Each has `request_ms` to send a complete request, counted from its first byte or from the
 * last answer, and a minute and 16 KiB a second to take its answer. Headers, a body, all bodies together and the
 * connections are limited. When there are too many connections the one idle for longest is closed.
 */
#pragma once

#include "base/buf.h"

#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

struct fst_error;
struct http_server;

/* Certificates, as text of PEM files, or as the bytes of a PKCS#12 store. Unset members are NULL. */
struct http_server_tls {
        const char *key, *key_password, *chain; /* PEM */
        const void *store;                      /* PKCS#12 in place of these */
        size_t store_size;
        const char *store_password;
        const char *store_key_password; /* of the key in the store; NULL: the same */
        const char *trust;              /* PEM: whom clients' certificates must come from */
        bool need_client;               /* a client must have one */
        const char *priorities; /* GnuTLS's text of protocols and suites; NULL: its defaults without TLS 1.0 and 1.1 */
};

struct http_call;

/* Zero selects the default named behind it. */
struct http_server_options {
        uv_loop_t *loop;
        const char *service;               /* "MasterUI": named in log lines and errors */
        const char *host;                  /* to listen on; NULL: all addresses */
        int port, max_retries;             /* as socket_listen has them */
        bool any_port;                     /* likewise */
        const struct http_server *previous; /* listens on the socket of this server in place of these; NULL: none */
        const struct http_server_tls *tls; /* NULL: none. Copied. */

        int max_connections;   /* 512 */
        int request_ms;        /* 30000 */
        size_t max_body;       /* 1 MiB: of one request */
        size_t max_all_bodies; /* 64 MiB: of all concurrent requests */

        /* The answer (413) to a body that is too large; NULL: a plain sentence. The type is static. */
        const char *too_large, *too_large_type;

        /* Answers @call, now or later. */
        void (*handle)(void *owner, struct http_call *call);
        void *owner;
};

/* A request. The handler reads it. It lasts until it is answered. */
struct http_call {
        const char *method; /* "GET" also for HEAD, whose answer loses its body */
        const char *path;   /* as received, percent-encoded: "/app/" */
        const char *query;  /* after the first '?'; "" if there is none */
        const char *body;   /* ends with a NUL that is not counted */
        size_t body_len;
        const char *peer; /* "10.0.0.1:40000" */
        struct http_server *server;
        void *context; /* for the handler */
};

/*
 * Listens. Returns 0, or negative with @error as socket_listen. With a previous server, no connection is refused while one
 * takes the place of the other: free the previous one before the loop runs on.
 */
int http_server_new(const struct http_server_options *options, struct http_server **out, struct fst_error *error);

/* Stops listening and closes all connections. Unanswered calls stay with their handlers, whose answers are dropped.
 * Must not be called within `handle`. The loop must run on to free libuv's handles. NULL is allowed.
 */
void http_server_free(struct http_server *server);

int http_server_port(const struct http_server *server);
int http_server_connections(const struct http_server *server); /* for tests */

/* The value of the request's header, ignoring case, or NULL. Valid until the call is answered. */
const char *http_call_header(const struct http_call *call, const char *name);

/* Sets a header of the answer, in place of an earlier value. Omits a @value with a line break, which would begin
 * another header. */
void http_call_set_header(struct http_call *call, const char *name, const char *value);

/* Answers; frees @call. Takes the content of @body (NULL: none). @type: NULL for none. */
void http_call_answer(struct http_call *call, int status, const char *type, struct buf *body);
void http_call_answer_text(struct http_call *call, int status, const char *type, const char *text);

/*
 * A body that is produced while it is sent, piece by piece. The server asks for a piece after the client has taken the
 * one before, so a client that does not read costs one piece of memory. All on the loop's thread.
 */
struct http_stream {
        /* Produces the next piece: calls http_stream_put, now or later. */
        void (*next)(struct http_stream *stream);
        /* Frees the stream: all was sent, or the client is gone. Never between `next` and http_stream_put. */
        void (*end)(struct http_stream *stream);
        struct server_exchange *exchange; /* private */
};

enum http_piece { HTTP_PIECE_MORE, HTTP_PIECE_LAST, HTTP_PIECE_BROKEN };

/* As http_call_answer. The body is @first and what @stream then produces. Takes both. */
void http_call_answer_stream(struct http_call *call, int status, const char *type, struct buf *first,
                             struct http_stream *stream);

/*
 * Passes the next piece, whose content it takes. HTTP_PIECE_LAST ends the answer. HTTP_PIECE_BROKEN closes the
 * connection, so that the client sees that the answer is incomplete. May free @stream.
 */
void http_stream_put(struct http_stream *stream, struct buf *piece, enum http_piece kind);
