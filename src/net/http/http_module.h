/* What the core and the http module share. The module uses no symbol of the core: this page is all. */
#pragma once

#include "net/http/http.h"

#define HTTP_ABI 3
#define HTTP_MODULE_SYMBOL "firesteel_http_module" /* const struct http_ops *f(void) */

struct http_handle;

/* Where an answer goes while it comes. Functions answer 0 to go on. */
struct http_receiver {
        int (*header)(void *context, const char *line, size_t n);
        int (*body)(void *context, int status, const char *data, size_t n);
        void *context;
        int status;
        char url[2048]; /* the last one, if there were redirections and it fits; else "" */

        /* Of requests under way together: */
        bool sent;       /* some of the request may have arrived */
        int connections; /* that were made for it */
};

/* What requests under way together want of the loop. */
enum { HTTP_READ = 1, HTTP_WRITE = 2, HTTP_FAILED = 4 };
struct http_hooks {
        /* Watch @fd for @events, 0: no longer. The answer is the next call's @slot, which begins as NULL. */
        void *(*watch)(void *context, int fd, int events, void *slot);
        /* Call multi_act without a socket in @ms from now, once; negative: do not. */
        void (*timer)(void *context, int64_t ms);
};
struct http_multi;
struct http_easy;

struct http_ops {
        uint32_t abi;                            /* HTTP_ABI */
        struct http_handle *(*handle_new)(void); /* NULL: no memory */
        void (*handle_free)(struct http_handle *handle);
        /* 0, or negative as http_perform has it with a sentence that does not name the URL. */
        int (*perform)(struct http_handle *handle, const struct http_request *request, struct http_receiver *receiver,
                       char *message, size_t size);

        /*
         * A request whose body is written piece by piece: see http_upload.h. One of a handle at a time; @request and
         * @receiver stay until its end, which without @whole breaks it off.
         */
        int (*upload_begin)(struct http_handle *handle, const struct http_request *request,
                            struct http_receiver *receiver, char *message, size_t size);
        int (*upload_write)(struct http_handle *handle, const void *data, size_t n, char *message, size_t size);
        int (*upload_end)(struct http_handle *handle, bool whole, char *message, size_t size);

        /* Requests under way together; NULL: no memory. @hooks is copied. Freed only when all requests have ended. */
        struct http_multi *(*multi_new)(const struct http_hooks *hooks, void *context);
        void (*multi_free)(struct http_multi *multi);
        /* Begin one. @request and @receiver stay until it has ended. As perform; then it has ended. */
        int (*multi_begin)(struct http_multi *multi, const struct http_request *request, struct http_receiver *receiver,
                           bool http1, void *owner, struct http_easy **out, char *message, size_t size);
        void (*multi_end)(struct http_easy *easy); /* not from within a receiver's function */
        /* The socket is ready; @fd -1: the time has come. Calls receivers and hooks. */
        void (*multi_act)(struct http_multi *multi, int fd, int events);
        /* The next one that has ended by itself: what perform would have answered. False: there is none. */
        bool (*multi_next)(struct http_multi *multi, void **owner, int *result, char *message, size_t size);
};
