/*
 * Concurrent requests over HTTP(S) on a loop. The non-blocking counterpart of net/http/http.h. Over TLS a server that
 * speaks HTTP/2 gets all of them on one connection, so that there is one handshake. Others get a few connections that
 * are kept. Requests are as in http.h. Sink and progress are called on the loop.
 *
 *      r = http_async_new(loop, &(struct http_async_options){0}, &client, error);
 *      transfer = http_async_send(client, &(struct http_request){.url = url}, done, owner);
 *      …                                                   → done(owner, transfer, 0, &answer, NULL)
 *      http_async_free(client);
 *
 * Everything happens on the loop's thread. `done` is called exactly once for each request that is not cancelled, never
 * from within http_async_send. All functions may be called from within `done` and sink, http_async_free too.
 */
#pragma once

#include "net/http/http.h"

#include <uv.h>

struct http_async;
struct http_transfer;

/* Zero selects the default named behind it. */
struct http_async_options {
        int max_connections; /* 4: to a server that does not speak HTTP/2, not counting streams */
        int max_streams;     /* 100: concurrent requests on HTTP/2's connection */
        bool http1;          /* never HTTP/2 */
        bool plain;          /* without libcurl: what http_plain_multi.h supports, and only that */
        /* 0: off. With `plain`: at most so many requests are on their way to a server, on one connection, in the order
         * of calls. If the connection breaks, those behind the first one fail with -ECONNABORTED.
         */
        int pipeline;
};

/* @r and @error as in http_perform; @answer is NULL unless @r is 0. All is borrowed for the call: move out of @answer
 * what you keep. @transfer is freed afterwards.
 */
typedef void http_async_done(void *owner, struct http_transfer *transfer, int r, struct http_answer *answer,
                             const struct fst_error *error);

/* -ENOENT or -ELIBBAD with @error when the module is not there, which a plain client does not need. */
int http_async_new(uv_loop_t *loop, const struct http_async_options *options, struct http_async **out,
                   struct fst_error *error);

/* Cancels pending requests without calling `done`. The loop must run once more before it is closed, to free libuv's
 * handles. NULL is allowed.
 */
void http_async_free(struct http_async *client);

/* Starts a request. @request, including its body, is borrowed for the call. Only the texts of its certificates
 * (ca_data, cert_data, key_data) must outlive the client. A request with a sink is a stream: it neither waits for
 * other requests nor delays them. Other requests start in the order of calls.
 */
struct http_transfer *http_async_send(struct http_async *client, const struct http_request *request,
                                      http_async_done *done, void *owner);

/* Cancels: `done` is not called, and @transfer is freed. */
void http_async_cancel(struct http_transfer *transfer);

/* Returns true if some of the request may have arrived (by now, or within `done`), so that it may have been carried
 * out without an answer.
 */
bool http_async_was_sent(const struct http_transfer *transfer);

/* The answer so far, for sinks: by then its headers are complete. Its status and URL are not set. Borrowed. */
const struct http_answer *http_async_answer(const struct http_transfer *transfer);

/* Returns true if the server speaks HTTP/2; the number of connections so far, for tests and statistics. */
bool http_async_is_http2(const struct http_async *client);
int http_async_connections(const struct http_async *client);

/* For tests: number of requests that are running or waiting. */
size_t http_async_pending(const struct http_async *client);
