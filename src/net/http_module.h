/* What the core and the http module share. The module uses no symbol of the core: this page is all. */
#pragma once

#include "net/http.h"

#define HTTP_ABI 1
#define HTTP_MODULE_SYMBOL "firesteel_http_module" /* const struct http_ops *f(void) */

struct http_handle;

/* Where an answer goes while it comes. Functions answer 0 to go on. */
struct http_receiver {
        int (*header)(void *context, const char *line, size_t n);
        int (*body)(void *context, int status, const char *data, size_t n);
        void *context;
        int status;
        char url[2048]; /* the last one, if there were redirections and it fits; else "" */
};

struct http_ops {
        uint32_t abi;                            /* HTTP_ABI */
        struct http_handle *(*handle_new)(void); /* NULL: no memory */
        void (*handle_free)(struct http_handle *handle);
        /* 0, or negative as http_perform has it with a sentence that does not name the URL. */
        int (*perform)(struct http_handle *handle, const struct http_request *request, struct http_receiver *receiver,
                       char *message, size_t size);
};
