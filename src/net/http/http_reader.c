/*
 * Reads an HTTP reply.
 *
 * A state machine over lines and bytes: STATUS, HEADER…, then BODY, or CHUNK_SIZE, CHUNK, CHUNK_END… and TRAILER.
 * Lines may end in a bare line feed. If a reply has both a length and chunks, chunks win (RFC 9112, 6.3). Two different
 * lengths are refused, because the server could choose where the next reply begins.
 */
#include "net/http/http_reader.h"

#include "base/error.h"
#include "base/mem.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

enum http_reader_state { STATUS, HEADER, BODY, CHUNK_SIZE, CHUNK, CHUNK_END, TRAILER };

void http_reader_begin(struct http_reader *r, size_t max_body)
{
        struct buf body = r->body, line = r->line;
        buf_reset(&body);
        buf_reset(&line);
        *r = (struct http_reader){.body = body, .line = line, .max_body = max_body};
}

void http_reader_deinit(struct http_reader *r)
{
        buf_deinit(&r->body);
        buf_deinit(&r->line);
        *r = HTTP_READER_INIT;
}

/* Parses digits of @base. Returns false for other characters and overflow. */
static bool http_reader_number(const char *text, size_t n, unsigned base, uint64_t *out)
{
        uint64_t value = 0;
        for (size_t i = 0; i < n; i++) {
                const char *digits = "0123456789abcdef", *at = strchr(digits, tolower((unsigned char)text[i]));
                unsigned digit = at && *at ? (unsigned)(at - digits) : base;
                if (digit >= base || value > (UINT64_MAX >> 5))
                        return false;
                value = value * base + digit;
        }
        *out = value;
        return n > 0;
}

static int status_line(struct http_reader *r, struct fst_error *error)
{
        const char *line = buf_text(&r->line);
        uint64_t status = 0;
        if (r->line.len < 12 || strncmp(line, "HTTP/1.", 7) != 0 || !isdigit((unsigned char)line[7]) ||
            line[8] != ' ' || !http_reader_number(line + 9, 3, 10, &status) || status < 100 ||
            (line[12] && line[12] != ' '))
                return error_set(error, -EBADMSG, "the answer is not HTTP: it begins with '%.60s'", line);
        r->status = (int)status;
        r->close = line[7] == '0'; /* 1.0 */
        r->state = HEADER;
        return 0;
}

/* Returns the value after "Name:" without surrounding blanks, or NULL if the line is another header. */
static const char *http_reader_value_of(const char *line, const char *name, size_t *length)
{
        size_t n = strlen(name);
        if (strncasecmp(line, name, n) != 0 || line[n] != ':')
                return NULL;
        const char *value = line + n + 1;
        value += strspn(value, " \t");
        *length = strlen(value);
        while (*length && (value[*length - 1] == ' ' || value[*length - 1] == '\t'))
                (*length)--;
        return value;
}

/* Returns whether a comma-separated list has @word, in any case. */
static bool http_reader_has_word(const char *list, size_t n, const char *word)
{
        size_t length = strlen(word);
        for (size_t i = 0; i + length <= n; i++)
                if (strncasecmp(list + i, word, length) == 0 && (i == 0 || strchr(", \t", list[i - 1])) &&
                    (i + length == n || strchr(", \t;", list[i + length])))
                        return true;
        return false;
}

static int header_line(struct http_reader *r, struct fst_error *error)
{
        const char *line = buf_text(&r->line), *value;
        size_t n;
        uint64_t length;
        if (!strchr(line, ':'))
                return error_set(error, -EBADMSG, "a header of the answer has no colon: '%.60s'", line);
        if ((value = http_reader_value_of(line, "Content-Length", &n))) {
                if (!http_reader_number(value, n, 10, &length) || (r->sized && length != r->left))
                        return error_set(error, -EBADMSG, "the answer has the invalid length '%.60s'", value);
                r->sized = true;
                r->left = length;
        } else if ((value = http_reader_value_of(line, "Transfer-Encoding", &n))) {
                r->chunked = http_reader_has_word(value, n, "chunked");
                if (!r->chunked)
                        return error_set(error, -EBADMSG, "the answer has the unsupported transfer encoding '%.60s'",
                                         value);
        } else if ((value = http_reader_value_of(line, "Content-Type", &n))) {
                n = MIN(n, sizeof(r->content_type) - 1);
                memcpy(r->content_type, value, n);
                r->content_type[n] = '\0';
        } else if ((value = http_reader_value_of(line, "Connection", &n))) {
                r->close = http_reader_has_word(value, n, "close") ||
                           (r->close && !http_reader_has_word(value, n, "keep-alive"));
        }
        return 0;
}

static int http_reader_too_large(const struct http_reader *r, struct fst_error *error)
{
        return error_set(error, -EMSGSIZE, "the answer is larger than %zu bytes", r->max_body);
}

/* Handles the empty line after the headers. */
static int headers_end(struct http_reader *r, struct fst_error *error)
{
        if (r->status < 200) {
                const struct http_reader old = *r;
                http_reader_begin(r, old.max_body);
                r->on_header = old.on_header;
                r->on_body = old.on_body;
                r->context = old.context;
                return 0;
        }
        if (r->status == 204 || r->status == 304) {
                r->done = true;
        } else if (r->chunked) {
                r->state = CHUNK_SIZE;
        } else {
                r->state = BODY;
                r->close |= !r->sized;
                r->done = r->sized && r->left == 0;
                if (r->sized && r->left > r->max_body)
                        return http_reader_too_large(r, error);
        }
        return 0;
}

static int chunk_size(struct http_reader *r, struct fst_error *error)
{
        const char *line = buf_text(&r->line);
        if (!http_reader_number(line, strcspn(line, "; \t"), 16, &r->left))
                return error_set(error, -EBADMSG, "a chunk of the answer has the invalid size '%.60s'", line);
        if (r->left > r->max_body - r->body.len)
                return http_reader_too_large(r, error);
        r->state = r->left ? CHUNK : TRAILER;
        return 0;
}

/* Calls on_header with the line. */
static int http_reader_pass_header(struct http_reader *r, struct fst_error *error)
{
        const size_t n = r->line.len;
        buf_puts(&r->line, "\r\n");
        int status = r->on_header(r->context, r->line.data, r->line.len);
        buf_truncate(&r->line, n);
        return status < 0 ? error_set(error, status, "the answer was not taken") : 0;
}

static int whole_line(struct http_reader *r, struct fst_error *error)
{
        if (r->line.len && r->line.data[r->line.len - 1] == '\r')
                buf_truncate(&r->line, r->line.len - 1);
        bool empty = r->line.len == 0;
        int status;
        if (r->line.len && memchr(r->line.data, 0, r->line.len))
                return error_set(error, -EBADMSG, "a line of the answer has a NUL in it");
        if ((r->state == STATUS || r->state == HEADER) && r->on_header &&
            (status = http_reader_pass_header(r, error)) < 0)
                return status;
        switch ((enum http_reader_state)r->state) {
        case STATUS:
                return status_line(r, error);
        case HEADER:
                return empty ? headers_end(r, error) : header_line(r, error);
        case CHUNK_SIZE:
                return chunk_size(r, error);
        case CHUNK_END:
                r->state = CHUNK_SIZE;
                r->headers = r->on_body ? 0 : r->headers; /* a stream may have any number of chunks */
                return empty ? 0 : error_set(error, -EBADMSG, "a chunk of the answer is longer than it says");
        case TRAILER:
                r->done = empty;
                return 0;
        case BODY:
        case CHUNK:
                break;
        }
        return 0;
}

/* Adds bytes to the line and handles a complete one. Returns the number of consumed bytes. */
static ssize_t http_reader_append_line(struct http_reader *r, const char *data, size_t n, struct fst_error *error)
{
        const char *end = memchr(data, '\n', n);
        size_t length = end ? (size_t)(end - data) : n;
        r->headers += length + 1;
        if (r->headers > HTTP_MAX_HEADERS + 8 * r->body.len)
                return error_set(error, -EMSGSIZE, "the answer has more than %d bytes of headers", HTTP_MAX_HEADERS);
        buf_append(&r->line, data, length);
        if (!end)
                return (ssize_t)n;
        int status = whole_line(r, error);
        buf_reset(&r->line);
        return status < 0 ? status : (ssize_t)length + 1;
}

static ssize_t http_reader_append_body(struct http_reader *r, const char *data, size_t n, struct fst_error *error)
{
        bool counted = r->state == CHUNK || r->sized;
        size_t take = counted ? MIN(n, r->left) : n;
        if (take > r->max_body - r->body.len)
                return http_reader_too_large(r, error);
        int status = r->on_body ? r->on_body(r->context, data, take) : 0;
        if (status < 0)
                return error_set(error, status, "the answer was not taken");
        if (!r->on_body)
                buf_append(&r->body, data, take);
        r->left -= counted ? take : 0;
        if (counted && r->left == 0 && r->state == CHUNK)
                r->state = CHUNK_END;
        else if (counted && r->left == 0)
                r->done = true;
        return (ssize_t)take;
}

ssize_t http_reader_take(struct http_reader *r, const char *data, size_t n, struct fst_error *error)
{
        size_t used = 0;
        while (used < n && !r->done) {
                bool body = r->state == BODY || r->state == CHUNK;
                ssize_t step = body ? http_reader_append_body(r, data + used, n - used, error)
                                    : http_reader_append_line(r, data + used, n - used, error);
                if (step < 0)
                        return step;
                used += (size_t)step;
        }
        return (ssize_t)used;
}

int http_reader_end(struct http_reader *r, struct fst_error *error)
{
        if (r->done || (r->state == BODY && !r->sized)) {
                r->done = true;
                return 0;
        }
        if (!r->status && !r->line.len)
                return error_set(error, -ECONNRESET, "the connection ended without an answer");
        return error_set(error, -ENODATA, "the connection ended in the middle of the answer");
}
