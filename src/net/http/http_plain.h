/* A persistent HTTP/1.1 connection without TLS, proxies, redirections or a library, for Spark's REST protocol: some
 * 0.03 ms of processor time a request. For anything more use net/http/http.h.
 *
 * One thread at a time.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct fst_error;
struct http_plain;
struct http_reader;

struct http_plain_request {
        const char *method, *path; /* "POST", "/v1/submissions/create" */
        const char *headers;       /* further lines, each ended by "\r\n"; NULL: none */
        const void *body;
        size_t body_len;
        size_t max_answer;
        int64_t timeout_ns; /* of the whole request, including connecting */
        const int *stopped; /* atomic, may be NULL; checked every 20 ms */
};

/* Connects at the first request. @host is a name or an address, without brackets. Never NULL. */
struct http_plain *http_plain_new(const char *host, int port);
void http_plain_free(struct http_plain *connection); /* NULL is allowed */

/* Sends a request and waits for the whole answer, in @answer. Reopens a connection that the server has closed, but
 * never sends a request twice. Returns 0, or negative with @error naming the server: errors of socket_connect and
 * channel_read_some; -ECONNRESET no answer; -ENODATA an incomplete one; -EBADMSG, -EMSGSIZE as http_reader;
 * -ETIMEDOUT.
 */
int http_plain_ask(struct http_plain *connection, const struct http_plain_request *request, struct http_reader *answer,
                   struct fst_error *error);
