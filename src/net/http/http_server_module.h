/* The interface between http_server.c and the module libfiresteel-http-server.so, which uses no symbol of the core.
 * The module translates libmicrohttpd's callbacks into `struct http_server_events` and makes no decisions.
 */
#pragma once

#include "net/http/http_server.h"

#include <sys/socket.h>

#define HTTP_SERVER_ABI 4
#define HTTP_SERVER_MODULE_SYMBOL "firesteel_http_server_module" /* const struct http_server_ops *f(void) */

struct http_daemon;

/* Results of `step`. */
enum http_step {
        HTTP_STEP_ON,      /* continue with the request */
        HTTP_STEP_SUSPEND, /* until `resume`, then call `step` again */
        HTTP_STEP_ANSWERED,
        HTTP_STEP_CLOSE,
};

struct http_server_events {
        /* A connection was opened. The result identifies it from now on. */
        void *(*opened)(void *owner, int fd);
        void (*closed)(void *owner, void *connection);
        /* A request line has arrived. @handle is the module's exchange. The result is the owner's. */
        void *(*began)(void *owner, void *connection, void *handle, const char *target);
        /* The headers (@first), a piece of the body (@size not 0), or the end. */
        enum http_step (*step)(void *owner, void *call, const char *method, const char *data, size_t size);
        void (*ended)(void *owner, void *call);
        /*
         * Fills @out with the next bytes of a streamed body. Returns their number, 0 to suspend the connection until
         * `resume`, or one of the codes below.
         */
        ssize_t (*fill)(void *owner, void *call, char *out, size_t size);
};

enum { HTTP_FILL_END = -1, HTTP_FILL_BROKEN = -2 };

struct http_header {
        char *name, *value;
};

struct http_daemon_options {
        int max_connections;
        const struct http_server_tls *tls;
        const struct http_server_events *events;
        void *owner;
};

struct http_server_ops {
        uint32_t abi; /* HTTP_SERVER_ABI */
        /* Returns 0, or negative with a sentence. */
        int (*start)(const struct http_daemon_options *options, struct http_daemon **out, char *message, size_t size);
        void (*stop)(struct http_daemon *d); /* nothing may be suspended */
        int (*descriptor)(const struct http_daemon *d);
        /* Takes @fd in every case; negative: it was closed. */
        int (*add)(struct http_daemon *d, int fd, const struct sockaddr *address, socklen_t length);
        /* Does all work possible now. Returns the ms until the next call, or negative: when the descriptor is
         * readable.
         */
        int64_t (*run)(struct http_daemon *d);
        void (*resume)(void *handle);
        const char *(*header)(void *handle, const char *name);
        /*
         * False if the headers do not say without doubt where the body ends: several Content-Length or
         * Transfer-Encoding headers, both of them, another encoding than chunked, or white space in a header's name. A
         * proxy may read such a request in another way (RFC 9112, section 6.3).
         */
        bool (*has_clear_framing)(void *handle);
        /* Within `step` only. Takes @body, from malloc. Negative: close the connection. */
        int (*answer)(void *handle, int status, const struct http_header *headers, size_t n_headers, char *body,
                      size_t size);
        /* Likewise. The body comes from `fill`, which gets @call. */
        int (*answer_stream)(struct http_daemon *d, void *handle, void *call, int status,
                             const struct http_header *headers, size_t n_headers);
};
