/* What http.c, http_upload.c and http_async.c share: the module, and what becomes of one answer. */
#pragma once

#include "net/http/http_module.h"

/* The module's operations; loaded by the first call. -ENOENT or -ELIBBAD with @error. Any thread. */
int http_ops_load(const struct http_ops **ops, struct fst_error *error);

/* For fuzz targets: have @ops in the place of the module's. Before the first client. */
void http_ops_replace(const struct http_ops *ops);

struct http_client {
        const struct http_ops *ops;
        struct http_handle *handle;
        bool uploading;
};

/* One request and its answer. Stays where it is from init on. */
struct http_exchange {
        const struct http_request *request; /* borrowed, as is: */
        struct http_answer *answer;
        struct http_receiver receiver; /* for the module */
        int result;                    /* why the receiver ended it */
        const char *what;              /* is too large */
        size_t limit;
};

/* Empties @answer. */
void http_exchange_init(struct http_exchange *x, const struct http_request *request, struct http_answer *answer);

/* The receiver's function for a line of headers. */
int http_exchange_header(void *exchange, const char *line, size_t n);

/* The module is done with it and answered @r and @message: what http_perform answers, with the answer complete. */
int http_exchange_finish(struct http_exchange *x, int r, const char *message, struct fst_error *error);
