/* Shared by the files of the http module. */
#pragma once

#include "net/http/http_module.h"

#include <curl/curl.h>

struct http_handle {
        CURL *curl;
        const struct http_request *request;
        struct http_receiver *receiver;
        bool uploads;                 /* the body comes from a read function */
        size_t piece, piece_at;       /* the next byte of request->pieces */
        struct http_sending *sending; /* the upload of this handle; NULL before the first */
};

/* Applies all options of a request. The caller frees the lists when the request is over; @text receives libcurl's
 * message. Returns 0, or negative with @message.
 */
int http_configure(struct http_handle *h, const struct http_request *q, struct http_receiver *receiver,
                   char text[CURL_ERROR_SIZE], struct curl_slist **headers, struct curl_slist **connect_to,
                   char *message, size_t size);

/* Copies the answer's status and URL into the receiver. */
void http_finish(struct http_handle *h);

/* The error code of http_perform. */
int http_error_code(const struct http_handle *h, CURLcode code);

void http_sending_free(struct http_sending *s); /* NULL is allowed */
int http_sending_begin(struct http_handle *h, const struct http_request *q, struct http_receiver *receiver,
                       char *message, size_t size);
int http_sending_write(struct http_handle *h, const void *data, size_t n, char *message, size_t size);
int http_sending_end(struct http_handle *h, bool whole, char *message, size_t size);

struct http_multi *http_multi_new(const struct http_hooks *hooks, void *context);
void http_multi_free(struct http_multi *m);
int http_multi_begin(struct http_multi *m, const struct http_request *q, struct http_receiver *receiver, unsigned how,
                     void *owner, struct http_easy **out, char *message, size_t size);
void http_multi_end(struct http_easy *e);
void http_multi_act(struct http_multi *m, int fd, int events);
bool http_multi_next(struct http_multi *m, void **owner, int *result, char *message, size_t size);

int http_tunnel_module_open(struct http_handle *h, const struct http_request *q, int *fd, char *message, size_t size);
ssize_t http_tunnel_module_read(struct http_handle *h, void *buffer, size_t n, char *message, size_t size);
ssize_t http_tunnel_module_write(struct http_handle *h, const void *data, size_t n, char *message, size_t size);
