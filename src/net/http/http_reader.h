/*
 * Parses one HTTP/1.1 answer into status, content type and body. It does no I/O: the owner of the connection feeds it
 * (net/http/http_plain.h).
 *
 *      struct http_reader r = HTTP_READER_INIT;
 *      http_reader_begin(&r, 16 << 20);
 *      do
 *              n = read(fd, …), used = http_reader_take(&r, bytes, n, error);
 *      while (used >= 0 && !r.done);
 *
 * Bodies come by Content-Length, in chunks, or until the stream ends. 1xx answers are skipped. Sizes are limited: 64
 * KiB of headers, the body by the caller.
 */
#pragma once

#include "base/buf.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct fst_error;

#define HTTP_MAX_HEADERS 65536

struct http_reader {
        int status;             /* 200, …; 0 before the first line */
        char content_type[128]; /* "" if absent; cut if longer */
        struct buf body;
        bool done;  /* the answer is complete */
        bool close; /* the connection cannot be reused: the server said so, or the body ends with the stream */

        /* Set between http_reader_begin and the first byte; NULL: not called. They return 0, or a negative number,
         * which http_reader_take returns. @line is a status line or header with its line end, also of 1xx answers. With
         * on_body, `body` stays empty. */
        int (*on_header)(void *context, const char *line, size_t n);
        int (*on_body)(void *context, const char *data, size_t n);
        void *context;

        /* private */
        int state;
        bool chunked, sized;
        uint64_t left; /* of the body or chunk */
        size_t max_body, headers;
        struct buf line;
};

#define HTTP_READER_INIT ((struct http_reader){0})

/* Prepares for a new answer, with a body of at most @max_body bytes. Drops the previous content but keeps its memory.
 */
void http_reader_begin(struct http_reader *r, size_t max_body);
void http_reader_deinit(struct http_reader *r);

/* Consumes some of @n bytes. Returns their number: all of them unless the answer is complete. -EBADMSG for invalid
 * HTTP, -EMSGSIZE for an answer that is too large; @error does not name the server.
 */
ssize_t http_reader_take(struct http_reader *r, const char *data, size_t n, struct fst_error *error);

/* The stream has ended. Returns 0 if that ends the body; -ECONNRESET if nothing had arrived, -ENODATA if only a part.
 */
int http_reader_end(struct http_reader *r, struct fst_error *error);
