/* Byte streams. http_tunnel_module.c has libcurl's part. */
#include "net/http/http_tunnel.h"

#include "base/error.h"
#include "base/mem.h"
#include "net/http/http_internal.h"

#include <poll.h>

struct http_tunnel {
        const struct http_ops *ops;
        struct http_handle *handle;
        int fd;
};

int http_tunnel_open(const struct http_request *request, struct http_tunnel **out, struct fst_error *error)
{
        const struct http_ops *ops;
        int r = http_ops_load(&ops, error);
        if (r < 0)
                return r;
        struct http_tunnel *t = new0(struct http_tunnel);
        *t = (struct http_tunnel){.ops = ops, .handle = ops->handle_new(), .fd = -1};
        if (!t->handle) {
                free(t);
                return error_set(error, -ENOMEM, "no memory for an http client");
        }
        char message[512] = "";
        r = ops->tunnel_open(t->handle, request, &t->fd, message, sizeof(message));
        if (r < 0) {
                _cleanup_free_ char *url = http_printable_url(request->url);
                error_set(error, r, "%s: %s", url, message);
                http_tunnel_close(t);
                return r;
        }
        *out = t;
        return 0;
}

void http_tunnel_close(struct http_tunnel *t)
{
        if (!t)
                return;
        t->ops->handle_free(t->handle);
        free(t);
}

int http_tunnel_fd(const struct http_tunnel *t)
{
        return t->fd;
}

ssize_t http_tunnel_read(struct http_tunnel *t, void *buffer, size_t n, struct fst_error *error)
{
        char message[512] = "";
        ssize_t r = t->ops->tunnel_read(t->handle, buffer, n, message, sizeof(message));
        return r >= 0 || r == -EAGAIN ? r : error_set(error, (int)r, "%s", message);
}

int http_tunnel_write(struct http_tunnel *t, const void *data, size_t n, struct fst_error *error)
{
        char message[512] = "";
        for (const char *at = data; n > 0;) {
                ssize_t r = t->ops->tunnel_write(t->handle, at, n, message, sizeof(message));
                if (r == -EAGAIN) {
                        struct pollfd p = {.fd = t->fd, .events = POLLOUT};
                        if (poll(&p, 1, HTTP_STALL_TIMEOUT_MS) == 0)
                                return error_set(error, -ETIMEDOUT, "the server takes no data");
                        continue;
                }
                if (r < 0)
                        return error_set(error, (int)r, "%s", message);
                at += r;
                n -= (size_t)r;
        }
        return 0;
}
