/* The interface of the http module, which uses no symbol of the core. */
#pragma once

#include "net/http/http.h"

#include <sys/types.h>

#define HTTP_ABI 7
#define HTTP_MODULE_SYMBOL "firesteel_http_module" /* const struct http_ops *f(void) */

struct http_handle;

/* Receives an answer as it arrives. Functions return 0 to continue. */
struct http_receiver {
        int (*header)(void *context, const char *line, size_t n);
        int (*body)(void *context, int status, const char *data, size_t n);
        void *context;
        int status;
        char url[2048]; /* the final one, if there were redirections and it fits; otherwise "" */

        /* Only for concurrent requests: */
        bool sent;       /* some of the request may have arrived */
        int connections; /* made for it */
};

/* Events that concurrent requests wait for. */
enum { HTTP_READ = 1, HTTP_WRITE = 2, HTTP_FAILED = 4 };
struct http_hooks {
        /* Watch @fd for @events, 0: stop. The result is the next call's @slot, which begins as NULL. */
        void *(*watch)(void *context, int fd, int events, void *slot);
        /* Call multi_act without a socket in @ms from now, once; negative: cancel. */
        void (*timer)(void *context, int64_t ms);
        struct uv_loop_s *loop; /* of the core, for names; the module does not use it */
};
/* How concurrent requests use connections. */
enum {
        HTTP_ONLY_1 = 1,   /* never HTTP/2 */
        HTTP_PIPELINE = 2, /* a request may follow others that are not answered yet; only http_plain_multi.h does it */
};
struct http_multi;
struct http_easy;

struct http_ops {
        uint32_t abi;                            /* HTTP_ABI */
        struct http_handle *(*handle_new)(void); /* NULL: no memory */
        void (*handle_free)(struct http_handle *handle);
        /* Returns 0, or negative as http_perform with a sentence that does not name the URL. */
        int (*perform)(struct http_handle *handle, const struct http_request *request, struct http_receiver *receiver,
                       char *message, size_t size);

        /* A request whose body is written in pieces: see http_upload.h. One per handle at a time. @request and
         * @receiver must last until its end, which without @whole aborts it.
         */
        int (*upload_begin)(struct http_handle *handle, const struct http_request *request,
                            struct http_receiver *receiver, char *message, size_t size);
        int (*upload_write)(struct http_handle *handle, const void *data, size_t n, char *message, size_t size);
        int (*upload_end)(struct http_handle *handle, bool whole, char *message, size_t size);

        /* Concurrent requests; NULL: out of memory. @hooks is copied. Free it only when all requests have ended. */
        struct http_multi *(*multi_new)(const struct http_hooks *hooks, void *context);
        void (*multi_free)(struct http_multi *multi);
        /* Starts one. @request and @receiver must last until it has ended. Returns as perform. A negative result ends
         * it.
         */
        int (*multi_begin)(struct http_multi *multi, const struct http_request *request, struct http_receiver *receiver,
                           unsigned how, void *owner, struct http_easy **out, char *message, size_t size);
        void (*multi_end)(struct http_easy *easy); /* not from within a receiver's function */
        /* The socket is ready; @fd -1: the timer has fired. Calls receivers and hooks. */
        void (*multi_act)(struct http_multi *multi, int fd, int events);
        /* Returns the next finished request, with the result that perform would have returned. False: none. */
        bool (*multi_next)(struct http_multi *multi, void **owner, int *result, char *message, size_t size);

        /* A connection of the handle without a request: see http_tunnel.h. Reading and writing do not wait: -EAGAIN. */
        int (*tunnel_open)(struct http_handle *handle, const struct http_request *request, int *fd, char *message,
                           size_t size);
        ssize_t (*tunnel_read)(struct http_handle *handle, void *buffer, size_t n, char *message, size_t size);
        ssize_t (*tunnel_write)(struct http_handle *handle, const void *data, size_t n, char *message, size_t size);
};
