/*
 * The reader of one HTTP/1.1 answer: bytes in, status, content type and body out. It opens nothing and waits for
 * nothing; whoever holds the connection feeds it (net/http/http_plain.h).
 *
 *      struct http_reader r = HTTP_READER_INIT;
 *      http_reader_begin(&r, 16 << 20);
 *      do
 *              n = read(fd, …), used = http_reader_take(&r, bytes, n, error);
 *      while (used >= 0 && !r.done);
 *
 * Bodies come by Content-Length, in chunks, or until the stream ends. Answers of the 1xx kind are passed over. All that
 * the other side decides is bounded: 64 KiB of headers, the body by the caller.
 */
#pragma once

#include "base/buf.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct fst_error;

#define HTTP_MAX_HEADERS 65536

struct http_reader {
        int status;             /* 200, …; 0 until the first line came */
        char content_type[128]; /* "" when not said; what is longer is cut */
        struct buf body;
        bool done;  /* the answer is whole */
        bool close; /* the connection is of no further use: the server said so, or the body ends with the stream */

        /* The reader's own. */
        int state;
        bool chunked, sized;
        uint64_t left; /* of the body or chunk */
        size_t max_body, headers;
        struct buf line;
};

#define HTTP_READER_INIT ((struct http_reader){0})

/* Expect a new answer, with a body of at most @max_body bytes. What an earlier one left is forgotten, not its memory.
 */
void http_reader_begin(struct http_reader *r, size_t max_body);
void http_reader_deinit(struct http_reader *r);

/*
 * Take some of @n bytes: how many, all of them unless the answer is done. -EBADMSG for what is no HTTP answer,
 * -EMSGSIZE for one that is too large; @error says what is wrong, without naming the server.
 */
ssize_t http_reader_take(struct http_reader *r, const char *data, size_t n, struct fst_error *error);

/*
 * The stream ended. 0 if that is how this body ends; -ECONNRESET if nothing had come, -ENODATA if only a part had.
 */
int http_reader_end(struct http_reader *r, struct fst_error *error);
