/*
 * Requests over HTTP(S) on a loop, many at once: what net/http/http.h is for who may wait. Over TLS a server that speaks
 * HTTP/2 gets all of them on one connection, so that there is one handshake; others get a few connections that are
 * kept. Of a request everything said in http.h holds, sink and progress included, which are called on the loop.
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

/* Zero is the default that stands behind it. */
struct http_async_options {
        int max_connections; /* 4: to a server that does not speak HTTP/2, besides one for each stream */
        int max_streams;     /* 100: requests at a time on HTTP/2's connection */
        bool http1;          /* never HTTP/2 */
};

/*
 * @r and @error as http_perform has them; @answer is NULL unless @r is 0. All is borrowed for the call: take what is to
 * stay out of @answer. @transfer is gone afterwards.
 */
typedef void http_async_done(void *owner, struct http_transfer *transfer, int r, struct http_answer *answer,
                             const struct fst_error *error);

/* -ENOENT or -ELIBBAD with @error when the module is not there. */
int http_async_new(uv_loop_t *loop, const struct http_async_options *options, struct http_async **out,
                   struct fst_error *error);

/*
 * Cancels what is under way (no `done` is called). What libuv holds is freed when the loop turns: run it once more
 * before it is closed. NULL is allowed.
 */
void http_async_free(struct http_async *client);

/*
 * Begin a request. @request, its body included, is borrowed for the call only; of its certificates (ca_data, cert_data,
 * key_data) the texts must stay as long as the client. A request with a sink is a stream: it does not wait for others
 * and others do not wait for it. Other requests are begun in the order of this function's calls.
 */
struct http_transfer *http_async_send(struct http_async *client, const struct http_request *request,
                                      http_async_done *done, void *owner);

/* `done` will not be called; @transfer is gone. */
void http_async_cancel(struct http_transfer *transfer);

/* Some of the request may have arrived (by now, or within `done`), so that it may have been carried out although no
 * answer came. */
bool http_async_was_sent(const struct http_transfer *transfer);

/* Whether the server was seen to speak HTTP/2; connections that were made since the beginning, for tests and numbers.
 */
bool http_async_is_http2(const struct http_async *client);
int http_async_connections(const struct http_async *client);

/* Requests that are not done: begun or waiting. */
size_t http_async_pending(const struct http_async *client);
