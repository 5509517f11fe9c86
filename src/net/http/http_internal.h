/* Shared by http.c, http_upload.c and http_async.c: the module, and the handling of an answer. */
#pragma once

#include "net/http/http_module.h"

/* Returns the module's operations. The first call loads it. -ENOENT or -ELIBBAD with @error. Thread-safe. */
int http_ops_load(const struct http_ops **ops, struct fst_error *error);

/* Returns the operations of plain clients. Always 0. */
int http_ops_plain(const struct http_ops **ops);

/* For fuzz targets: replaces the module's operations, and those of plain clients, by @ops. Call it before the first
 * client. */
void http_ops_replace(const struct http_ops *ops);

struct http_client {
        const struct http_ops *ops;
        struct http_handle *handle;
        bool uploading;
};

/* One request and its answer. Must not move after init. */
struct http_exchange {
        const struct http_request *request; /* borrowed, as is: */
        struct http_answer *answer;
        struct http_receiver receiver; /* for the module */
        int result;                    /* why the receiver ended it */
        const char *what;              /* the part that is too large */
        size_t limit;
};

/* Empties @answer. */
void http_exchange_init(struct http_exchange *x, const struct http_request *request, struct http_answer *answer);

/* The receiver's function for a header line. */
int http_exchange_header(void *exchange, const char *line, size_t n);

/* The module has finished with @r and @message. Completes the answer and returns the result of http_perform. */
int http_exchange_finish(struct http_exchange *x, int r, const char *message, struct fst_error *error);
