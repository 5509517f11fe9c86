/*
 * A server of HTTP/1.1 on a loop: pages, JSON, the REST submission server. All of HTTP and TLS is libmicrohttpd's,
 * which is linked only into a module of its own, libfiresteel-http-server.so, that the first connection loads: a
 * process that nobody asks anything pays for a listening socket.
 *
 *      static void serve(void *owner, struct http_call *call)
 *      {
 *              http_call_answer_text(call, 200, "text/plain", "hello\n");
 *      }
 *      struct http_server_options options = {.loop = loop, .service = "MasterUI", .port = 8080, .handle = serve};
 *      r = http_server_new(&options, &server, error);
 *      http_server_free(server);
 *
 * Everything happens on the loop's thread. `handle` is called with a complete request and never waits: who needs time
 * (a disk, another process) answers later, from the same thread. Requests of one connection are handled one after
 * another, those of several in between.
 *
 * Clients are strangers. Each has `request_ms` to send a complete request, counted from its first byte or from the
 * last answer, and a minute and 16 KiB a second to take its answer; headers, a body, all bodies together and the
 * connections are limited. When there are too many connections the one that has waited for longest without a request
 * makes room.
 */
#pragma once

#include "base/buf.h"

#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

struct fst_error;
struct http_server;

/* Certificates, as text of PEM files, or as the bytes of a PKCS#12 store. What is not said is NULL. */
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

/* Zero is the default that stands behind it. */
struct http_server_options {
        uv_loop_t *loop;
        const char *service;               /* "MasterUI": named in log lines and errors */
        const char *host;                  /* to listen on; NULL: all addresses */
        int port, max_retries;             /* as socket_listen has them */
        const struct http_server_tls *tls; /* NULL: none. Copied. */

        int max_connections;   /* 512 */
        int request_ms;        /* 30000 */
        size_t max_body;       /* 1 MiB: of one request */
        size_t max_all_bodies; /* 64 MiB: of all that are there at a time */

        /* The answer (413) to a body that is too large; NULL: a plain sentence. The type is static. */
        const char *too_large, *too_large_type;

        /* Answer @call, now or later. */
        void (*handle)(void *owner, struct http_call *call);
        void *owner;
};

/* One request. Its handler reads it; it stays until it is answered. */
struct http_call {
        const char *method; /* "GET" for HEAD, too: what is answered loses its body on the way */
        const char *path;   /* as it came, percent signs and all: "/app/" */
        const char *query;  /* behind the first '?'; "" if there is none */
        const char *body;   /* ends with a NUL that is not counted */
        size_t body_len;
        const char *peer; /* "10.0.0.1:40000" */
        struct http_server *server;
        void *context; /* the handler's own */
};

/* Listen. 0, or negative with @error as socket_listen has it. */
int http_server_new(const struct http_server_options *options, struct http_server **out, struct fst_error *error);

/*
 * Stop listening and close all connections. Calls that were not answered stay with their handlers, whose answers are
 * dropped. Not from within `handle`. What libuv holds is freed when the loop turns. NULL is allowed.
 */
void http_server_free(struct http_server *server);

int http_server_port(const struct http_server *server);
int http_server_connections(const struct http_server *server);

/* The value of the request's header, whatever the case of its name, or NULL. Valid until the call is answered. */
const char *http_call_header(const struct http_call *call, const char *name);

/* A header of the answer. A line break in @value would begin another one: such a header is left out. */
void http_call_set_header(struct http_call *call, const char *name, const char *value);

/* Answer; @call is gone. The content of @body (NULL: none) is taken. @type: NULL for none. */
void http_call_answer(struct http_call *call, int status, const char *type, struct buf *body);
void http_call_answer_text(struct http_call *call, int status, const char *type, const char *text);
