/* HTTP over a plain channel. */
#include "net/http/http_plain.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/mem.h"
#include "net/channel.h"
#include "net/http/http_reader.h"
#include "net/socket.h"

#include <sys/uio.h>

struct http_plain {
        char *host;
        int port;
        char name[300];
        struct channel *channel; /* NULL if not connected */
        struct buf head;         /* of the request */
};

struct http_plain *http_plain_new(const char *host, int port)
{
        struct http_plain *c = new0(struct http_plain);
        c->host = mem_strdup(host);
        c->port = port;
        host_port_text(host, port, c->name, sizeof(c->name));
        return c;
}

static void hang_up(struct http_plain *c)
{
        channel_free(c->channel);
        c->channel = NULL;
}

void http_plain_free(struct http_plain *c)
{
        if (!c)
                return;
        hang_up(c);
        buf_deinit(&c->head);
        free(c->host);
        free(c);
}

/* Returns whether a kept connection is idle. One with unread bytes, or at its end, cannot be used again. */
static bool at_rest(struct http_plain *c)
{
        char byte;
        return channel_read(c->channel, &byte, 1) == -EAGAIN;
}

static int http_plain_connect_to(struct http_plain *c, int64_t end, const int *stopped, struct fst_error *error)
{
        if (c->channel && at_rest(c))
                return 0;
        hang_up(c);
        int fd = socket_connect(c->host, c->port, MAX(end - now_ns(), 0), stopped, error);
        return fd < 0 ? fd : channel_new(fd, NULL, CHANNEL_CLIENT, &c->channel, error);
}

static int http_plain_send_request(struct http_plain *c, const struct http_plain_request *q, int64_t end,
                                   struct fst_error *error)
{
        buf_reset(&c->head);
        buf_printf(&c->head, "%s %s HTTP/1.1\r\nHost: %s\r\nAccept: */*\r\nUser-Agent: Firesteel\r\n%s", q->method,
                   q->path, c->name, q->headers ? q->headers : "");
        if (q->body_len || q->method[0] == 'P')
                buf_printf(&c->head, "Content-Length: %zu\r\n", q->body_len);
        buf_puts(&c->head, "\r\n");
        struct iovec parts[] = {{c->head.data, c->head.len}, {(void *)q->body, q->body_len}};
        return channel_writev_all(c->channel, parts, q->body_len ? 2 : 1, MAX(end - now_ns(), 0), q->stopped, error);
}

static int http_plain_read_answer(struct http_plain *c, const struct http_plain_request *q, int64_t end,
                                  struct http_reader *answer, struct fst_error *error)
{
        char bytes[16384];
        http_reader_begin(answer, q->max_answer);
        for (;;) {
                int64_t left = end - now_ns();
                if (left <= 0)
                        return error_set(error, -ETIMEDOUT, "%s: no whole answer within %.0f s", c->name,
                                         (double)q->timeout_ns / 1e9);
                ssize_t n = channel_read_some(c->channel, bytes, sizeof(bytes), left, q->stopped, error);
                if (n < 0)
                        return (int)n;
                ssize_t r = n ? http_reader_take(answer, bytes, (size_t)n, error) : http_reader_end(answer, error);
                if (r < 0)
                        return error_wrap(error, (int)r, "%s", c->name);
                if (answer->done) {
                        answer->close |= n && r < n; /* more than an answer: nothing after it can be trusted */
                        return 0;
                }
        }
}

int http_plain_ask(struct http_plain *c, const struct http_plain_request *q, struct http_reader *answer,
                   struct fst_error *error)
{
        int64_t end = now_ns() + q->timeout_ns;
        int r = http_plain_connect_to(c, end, q->stopped, error);
        if (r == 0)
                r = http_plain_send_request(c, q, end, error);
        if (r == 0)
                r = http_plain_read_answer(c, q, end, answer, error);
        if (r < 0 || answer->close)
                hang_up(c);
        return r;
}
