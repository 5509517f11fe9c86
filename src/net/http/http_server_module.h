/*
 * What http_server.c and the module libfiresteel-http-server.so share. The module uses no symbol of the core: this
 * page is all. It turns what libmicrohttpd says into calls of `struct http_server_events`, and decides nothing.
 */
#pragma once

#include "net/http/http_server.h"

#include <sys/socket.h>

#define HTTP_SERVER_ABI 3
#define HTTP_SERVER_MODULE_SYMBOL "firesteel_http_server_module" /* const struct http_server_ops *f(void) */

struct http_daemon;

/* What `step` wants. */
enum http_step {
        HTTP_STEP_ON,      /* more of the request */
        HTTP_STEP_SUSPEND, /* until `resume`, then `step` again */
        HTTP_STEP_ANSWERED,
        HTTP_STEP_CLOSE,
};

struct http_server_events {
        /* A connection; what is returned is its name from now on. */
        void *(*opened)(void *owner, int fd);
        void (*closed)(void *owner, void *connection);
        /* A request line came. @handle is the module's name of the exchange; what is returned, the owner's. */
        void *(*began)(void *owner, void *connection, void *handle, const char *target);
        /* Its headers (@first), a piece of its body (@size not 0), or its end. */
        enum http_step (*step)(void *owner, void *call, const char *method, const char *data, size_t size);
        void (*ended)(void *owner, void *call);
};

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
        /* 0, or negative with a sentence. */
        int (*start)(const struct http_daemon_options *options, struct http_daemon **out, char *message, size_t size);
        void (*stop)(struct http_daemon *d); /* nothing may be suspended */
        int (*descriptor)(const struct http_daemon *d);
        /* Takes @fd in any case; negative: it was closed. */
        int (*add)(struct http_daemon *d, int fd, const struct sockaddr *address, socklen_t length);
        /* Do what can be done now; in how many ms again, or negative: when the descriptor is readable. */
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
};
