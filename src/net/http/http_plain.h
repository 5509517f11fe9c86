/*
 * A kept connection over which HTTP/1.1 is spoken as it is, without TLS, proxies, redirections or a library: what
 * Spark's REST protocol needs, for some 0.03 ms of processor time a request. Whatever needs more takes net/http/http.h.
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
        int64_t timeout_ns; /* of the whole, connecting included */
        const int *stopped; /* atomic, may be NULL; looked at every 20 ms */
};

/* Nothing is connected before the first request. @host is a name or an address, without brackets. Never NULL. */
struct http_plain *http_plain_new(const char *host, int port);
void http_plain_free(struct http_plain *connection); /* NULL is allowed */

/*
 * Ask and wait for the whole answer, which @answer then holds. A connection that the server has closed meanwhile is
 * made again; what was sent is never sent twice. 0, or negative with @error naming the server: what socket_connect
 * and channel_read_some answer; -ECONNRESET no answer came; -ENODATA half of one; -EBADMSG, -EMSGSIZE as http_reader;
 * -ETIMEDOUT.
 */
int http_plain_ask(struct http_plain *connection, const struct http_plain_request *request, struct http_reader *answer,
                   struct fst_error *error);
