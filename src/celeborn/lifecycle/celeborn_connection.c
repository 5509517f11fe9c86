/* See celeborn_connection.h. */
#include "celeborn/lifecycle/celeborn_connection.h"

#include "base/buf.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/vec.h"
#include "celeborn/protocol/celeborn_auth.h"
#include "celeborn/protocol/celeborn_frame.h"
#include "celeborn/protocol/celeborn_message.h"

#include <stdio.h>

#define MAX_FRAME ((size_t)512 << 20) /* the slots of some million partitions */
#define READ_SIZE 65536

struct celeborn_connection {
        const struct celeborn_connection_ops *ops;
        void *owner;
        char *host;
        int port;
        struct celeborn_connection_auth *credentials; /* NULL: none */
        bool master;
        struct celeborn_auth *auth; /* while it authenticates */
        uv_getaddrinfo_t resolve;
        uv_connect_t connect;
        uv_tcp_t tcp;
        uv_timer_t timer;                       /* limits connecting and authentication */
        int handles;                            /* open ones, and a running resolution */
        bool connected, ready, closing, silent; /* ready: requests may be sent */
        struct addrinfo *addresses, *next_address;
        struct buf out; /* until it is ready */
        struct buf in;
        VEC(uint64_t) requests; /* without a reply */
};

struct celeborn_write {
        uv_write_t request;
        char *bytes;
        struct celeborn_connection *connection;
};

static void celeborn_connection_try_next(struct celeborn_connection *c, const char *why);
static void celeborn_connection_on_timeout(uv_timer_t *timer);
static void celeborn_connection_write(struct celeborn_connection *c, struct buf *out);

static void celeborn_connection_release(struct celeborn_connection *c)
{
        if (--c->handles > 0)
                return;
        c->ops->ended(c->owner, c);
        if (c->addresses)
                uv_freeaddrinfo(c->addresses);
        celeborn_auth_free(c->auth);
        vec_deinit(&c->requests);
        buf_deinit(&c->out);
        buf_deinit(&c->in);
        free(c->host);
        free(c);
}

static void celeborn_connection_on_closed(uv_handle_t *handle)
{
        celeborn_connection_release(handle->data);
}

static void celeborn_connection_shut(struct celeborn_connection *c)
{
        if (c->closing)
                return;
        c->closing = true;
        uv_cancel((uv_req_t *)&c->resolve);
        uv_close((uv_handle_t *)&c->timer, celeborn_connection_on_closed);
        if (!uv_is_closing((uv_handle_t *)&c->tcp))
                uv_close((uv_handle_t *)&c->tcp, celeborn_connection_on_closed);
}

static void celeborn_connection_break(struct celeborn_connection *c, const char *why)
{
        if (c->closing)
                return;
        _cleanup_free_ char *text = mem_printf("%s:%d: %s", c->host, c->port, why);
        celeborn_connection_shut(c);
        while (c->requests.len && !c->silent)
                c->ops->failed(c->owner, c->requests.data[--c->requests.len], text);
}

void celeborn_connection_close(struct celeborn_connection *c)
{
        c->silent = true;
        celeborn_connection_shut(c);
}

/* Returns false if the request is unknown, as a late reply's is. */
static bool celeborn_connection_take(struct celeborn_connection *c, uint64_t request)
{
        for (size_t i = 0; i < c->requests.len; i++)
                if (c->requests.data[i] == request) {
                        c->requests.data[i] = c->requests.data[--c->requests.len];
                        return true;
                }
        return false;
}

static void celeborn_connection_on_message(struct celeborn_connection *c, const struct celeborn_frame *frame)
{
        struct fst_error error = FST_ERROR_INIT;
        struct celeborn_message message;
        const char *text;
        size_t len;
        int64_t id;
        if (!celeborn_frame_request_id(frame, &id) || frame->type == CELEBORN_RPC_REQUEST ||
            !celeborn_connection_take(c, (uint64_t)id))
                return;
        if (frame->type == CELEBORN_RPC_FAILURE) {
                _cleanup_free_ char *why = celeborn_frame_failure(frame, &text, &len)
                                                   ? mem_strndup(text, MIN(len, (size_t)1000))
                                                   : mem_strdup("a failure without a text");
                if (!c->credentials && strstr(why, ".network.sasl.")) {
                        char *hint =
                                mem_printf("the server asks for authentication: set spark.celeborn.auth.enabled to "
                                           "true (%s)",
                                           why);
                        free(why);
                        why = hint;
                }
                c->ops->failed(c->owner, (uint64_t)id, why);
        } else if (celeborn_endpoint_message_parse(frame->body, frame->body_len, &message, &error)) {
                c->ops->failed(c->owner, (uint64_t)id, error_message(&error));
        } else {
                c->ops->replied(c->owner, (uint64_t)id, message.type, message.body, message.len);
        }
        error_deinit(&error);
}

/* Requests may be sent. */
static void celeborn_connection_begin(struct celeborn_connection *c)
{
        c->ready = true;
        uv_timer_stop(&c->timer);
        if (c->out.len)
                celeborn_connection_write(c, &c->out);
}

/* A master that lost its state is asked to register the application again, one that knows it is not. */
static void celeborn_connection_on_refused(struct celeborn_connection *c, const char *why)
{
        if (c->master && strstr(why, "already registered"))
                c->credentials->registered = true;
        else if (c->master && strstr(why, "Registration information not found"))
                c->credentials->registered = false;
        celeborn_connection_break(c, why);
}

static void celeborn_connection_authenticate(struct celeborn_connection *c)
{
        _cleanup_(buf_deinit) struct buf out = BUF_INIT;
        struct fst_error error = FST_ERROR_INIT;
        const bool registers = c->master && !c->credentials->registered;
        if (celeborn_auth_new(registers ? CELEBORN_AUTH_REGISTER : CELEBORN_AUTH_PROVE, c->credentials->app_id,
                              c->credentials->secret, &c->auth, &out, &error))
                celeborn_connection_break(c, error_message(&error));
        else
                celeborn_connection_write(c, &out);
        error_deinit(&error);
}

static void celeborn_connection_on_frame(struct celeborn_connection *c, const struct celeborn_frame *frame)
{
        _cleanup_(buf_deinit) struct buf out = BUF_INIT;
        struct fst_error error = FST_ERROR_INIT;
        if (!c->auth) {
                celeborn_connection_on_message(c, frame);
                return;
        }
        const int r = celeborn_auth_on_frame(c->auth, frame, &out, &error);
        if (r == FST_CELEBORN_E_AUTHENTICATED) {
                c->credentials->registered |= c->master;
                celeborn_auth_free(steal(c->auth));
                celeborn_connection_begin(c);
        } else if (r) {
                celeborn_connection_on_refused(c, error_message(&error));
        } else if (out.len) {
                celeborn_connection_write(c, &out);
        }
        error_deinit(&error);
}

static void celeborn_connection_alloc(uv_handle_t *handle, size_t suggested, uv_buf_t *out)
{
        struct celeborn_connection *c = handle->data;
        *out = buf_try_reserve(&c->in, READ_SIZE) ? uv_buf_init(c->in.data + c->in.len, READ_SIZE)
                                                  : uv_buf_init(NULL, 0);
}

static void celeborn_connection_on_read(uv_stream_t *stream, ssize_t n, const uv_buf_t *into)
{
        struct celeborn_connection *c = stream->data;
        struct fst_error error = FST_ERROR_INIT;
        struct celeborn_frame frame;
        size_t at = 0, size;
        int r = 0;
        if (n < 0) {
                celeborn_connection_break(c, n == UV_EOF ? "the server closed the connection" : uv_strerror((int)n));
                return;
        }
        c->in.len += (size_t)n;
        while (!c->closing && (r = celeborn_frame_parse((const uint8_t *)c->in.data + at, c->in.len - at, MAX_FRAME,
                                                        &frame, &size, &error)) == 0) {
                celeborn_connection_on_frame(c, &frame);
                at += size;
        }
        c->in.len -= at;
        if (at)
                memmove(c->in.data, c->in.data + at, c->in.len);
        if (r < 0)
                celeborn_connection_break(c, error_message(&error));
        error_deinit(&error);
}

static void celeborn_connection_on_written(uv_write_t *request, int status)
{
        struct celeborn_write *write = (struct celeborn_write *)request;
        if (status < 0 && status != UV_ECANCELED)
                celeborn_connection_break(write->connection, uv_strerror(status));
        free(write->bytes);
        free(write);
}

/* Sends the bytes, which it takes. */
static void celeborn_connection_write(struct celeborn_connection *c, struct buf *out)
{
        struct celeborn_write *write = new0(struct celeborn_write);
        uv_buf_t bytes = uv_buf_init(out->data, (unsigned)out->len);
        write->connection = c;
        write->bytes = buf_steal(out);
        const int r = uv_write(&write->request, (uv_stream_t *)&c->tcp, &bytes, 1, celeborn_connection_on_written);
        if (r == 0)
                return;
        free(write->bytes);
        free(write);
        uv_timer_start(&c->timer, celeborn_connection_on_timeout, 0, 0); /* not during the caller's call */
}

static void celeborn_connection_on_connected(uv_connect_t *request, int status)
{
        struct celeborn_connection *c = request->data;
        if (c->closing)
                return;
        if (status < 0) {
                celeborn_connection_try_next(c, uv_strerror(status));
                return;
        }
        c->connected = true;
        uv_tcp_nodelay(&c->tcp, 1);
        uv_tcp_keepalive(&c->tcp, 1, 60);
        uv_read_start((uv_stream_t *)&c->tcp, celeborn_connection_alloc, celeborn_connection_on_read);
        if (c->credentials)
                celeborn_connection_authenticate(c);
        else
                celeborn_connection_begin(c);
}

/* The socket of the last address is closed: connects to the next one. */
static void celeborn_connection_on_reopened(uv_handle_t *handle)
{
        struct celeborn_connection *c = handle->data;
        if (c->closing) {
                celeborn_connection_release(c);
                return;
        }
        uv_tcp_init(c->timer.loop, &c->tcp);
        c->tcp.data = c;
        const struct addrinfo *address = c->next_address;
        c->next_address = address->ai_next;
        const int r = uv_tcp_connect(&c->connect, &c->tcp, address->ai_addr, celeborn_connection_on_connected);
        if (r < 0)
                celeborn_connection_try_next(c, uv_strerror(r));
}

static void celeborn_connection_try_next(struct celeborn_connection *c, const char *why)
{
        if (c->next_address)
                uv_close((uv_handle_t *)&c->tcp, celeborn_connection_on_reopened);
        else
                celeborn_connection_break(c, why);
}

static void celeborn_connection_on_resolved(uv_getaddrinfo_t *request, int status, struct addrinfo *addresses)
{
        struct celeborn_connection *c = request->data;
        c->addresses = c->next_address = addresses;
        if (!c->closing)
                celeborn_connection_try_next(c, status < 0 ? uv_strerror(status) : "the name has no address");
        celeborn_connection_release(c);
}

/* Connecting took too long, or something failed at once. */
static void celeborn_connection_on_timeout(uv_timer_t *timer)
{
        struct celeborn_connection *c = timer->data;
        celeborn_connection_break(c, c->ready       ? "the connection is broken"
                                     : c->connected ? "authentication takes too long"
                                                    : "connecting takes too long");
}

struct celeborn_connection *celeborn_connection_new(uv_loop_t *loop, const char *host, int port,
                                                    uint64_t connect_timeout_ms, struct celeborn_connection_auth *auth,
                                                    bool master, const struct celeborn_connection_ops *ops, void *owner)
{
        struct celeborn_connection *c = new0(struct celeborn_connection);
        const struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
        char service[16];
        *c = (struct celeborn_connection){.ops = ops,
                                          .owner = owner,
                                          .host = mem_strdup(host),
                                          .port = port,
                                          .credentials = auth,
                                          .master = master};
        snprintf(service, sizeof(service), "%d", port);
        uv_timer_init(loop, &c->timer);
        uv_tcp_init(loop, &c->tcp);
        c->timer.data = c->tcp.data = c->resolve.data = c->connect.data = c;
        c->handles = 3;
        uv_timer_start(&c->timer, celeborn_connection_on_timeout, connect_timeout_ms, 0);
        if (uv_getaddrinfo(loop, &c->resolve, celeborn_connection_on_resolved, host, service, &hints) < 0) {
                c->handles--;
                uv_timer_start(&c->timer, celeborn_connection_on_timeout, 0, 0);
        }
        return c;
}

bool celeborn_connection_is_to(const struct celeborn_connection *c, const char *host, int port)
{
        return !c->closing && c->port == port && strcmp(c->host, host) == 0;
}

bool celeborn_connection_is_to_master(const struct celeborn_connection *c)
{
        return c->master;
}

void celeborn_connection_send(struct celeborn_connection *c, uint64_t request, const char *endpoint, int type,
                              const uint8_t *body, size_t len)
{
        vec_push(&c->requests, request);
        celeborn_put_endpoint_request(&c->out, (int64_t)request, c->host, c->port, endpoint, type, body, len);
        if (c->ready)
                celeborn_connection_write(c, &c->out);
}
