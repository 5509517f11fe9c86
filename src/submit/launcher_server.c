/*
 * See launcher_server.h.
 *
 * A connection is unauthorized until its Hello contains an expected secret. It then belongs to that client, and the
 * secret is no longer valid. The server closes unauthorized connections beyond MAX_UNAUTHORIZED_PEERS. A connection is
 * freed when libuv has closed its handles, and the server after its last connection.
 */
#include "submit/launcher_server.h"

#include "base/error.h"
#include "base/mem.h"
#include "net/secret.h"
#include "net/socket.h"

#include <stdio.h>
#include <unistd.h>

#define HELLO_TIMEOUT_MS 10000 /* Spark's spark.launcher.childConectionTimeout */
enum { MAX_UNAUTHORIZED_PEERS = 64 };

struct launcher_connection {
        struct launcher_server *server;
        void *client; /* NULL: unauthorized */
        int fd;
        uv_poll_t watch;
        uv_timer_t timer; /* runs while unauthorized */
        int handles;      /* not yet closed */
        bool closing;
        struct launcher_reader reader;
        struct launcher_writer writer;
};

struct expected_client {
        void *client;
        char secret[LAUNCHER_SECRET_SIZE];
};

struct launcher_server {
        uv_loop_t *loop;
        const struct launcher_client_ops *ops;
        int fd, port, unauthorized;
        bool closing, listener_closed;
        uv_poll_t watch;
        VEC(struct expected_client) expected;
        VEC(struct launcher_connection *) connections; /* until freed */
};

/* ---------------------------------------------------------------------------------------------------------- closing */

static void launcher_server_free_if_done(struct launcher_server *s)
{
        if (!s->closing || !s->listener_closed || s->connections.len > 0)
                return;
        vec_deinit(&s->expected);
        vec_deinit(&s->connections);
        free(s);
}

static void launcher_connection_on_closed(uv_handle_t *handle)
{
        struct launcher_connection *c = handle->data;
        struct launcher_server *s = c->server;
        if (--c->handles > 0)
                return;
        for (size_t i = 0; i < s->connections.len; i++) {
                if (s->connections.data[i] == c) {
                        s->connections.data[i] = s->connections.data[--s->connections.len];
                        break;
                }
        }
        close(c->fd);
        launcher_reader_deinit(&c->reader);
        free(c);
        launcher_server_free_if_done(s);
}

static void launcher_connection_close(struct launcher_connection *c)
{
        if (c->closing)
                return;
        c->closing = true;
        if (!c->client)
                c->server->unauthorized--;
        uv_poll_stop(&c->watch);
        uv_close((uv_handle_t *)&c->watch, launcher_connection_on_closed);
        uv_close((uv_handle_t *)&c->timer, launcher_connection_on_closed);
}

static void launcher_connection_close_and_notify(struct launcher_connection *c)
{
        void *client = c->closing ? NULL : c->client;
        launcher_connection_close(c);
        if (client)
                c->server->ops->on_disconnect(client);
}

/* -------------------------------------------------------------------------------------------------------- receiving */

/* Binds the connection to the client with this secret. Returns false for an unknown secret. */
static bool launcher_connection_authorize(struct launcher_connection *c, const char *secret)
{
        struct launcher_server *s = c->server;
        for (size_t i = 0; secret && i < s->expected.len; i++) {
                if (!secret_equals(secret, strlen(secret), s->expected.data[i].secret))
                        continue;
                c->client = s->expected.data[i].client;
                s->expected.data[i] = s->expected.data[--s->expected.len];
                s->unauthorized--;
                uv_timer_stop(&c->timer);
                return true;
        }
        return false;
}

static bool launcher_connection_accepts(struct launcher_connection *c, const struct launcher_message *m)
{
        if (!c->client)
                return m->kind == LAUNCHER_HELLO && launcher_connection_authorize(c, m->text);
        return m->kind == LAUNCHER_SET_APP_ID || m->kind == LAUNCHER_SET_STATE;
}

static void launcher_connection_on_readable(uv_poll_t *watch, int status, int events)
{
        struct launcher_connection *c = watch->data;
        char data[MAX_LAUNCHER_MESSAGE];
        ssize_t n = recv(c->fd, data, sizeof(data), 0);
        if (n < 0 && (errno == EAGAIN || errno == EINTR))
                return;
        if (n <= 0) {
                launcher_connection_close_and_notify(c);
                return;
        }
        launcher_reader_feed(&c->reader, data, (size_t)n);
        struct launcher_message m;
        int r;
        while (!c->closing && (r = launcher_reader_next(&c->reader, &m, NULL)) != 0) {
                if (r > 0 && launcher_connection_accepts(c, &m))
                        c->server->ops->on_message(c->client, &m);
                else
                        launcher_connection_close_and_notify(c);
                if (r > 0)
                        launcher_message_deinit(&m);
        }
}

static void launcher_connection_on_timeout(uv_timer_t *timer)
{
        launcher_connection_close_and_notify(timer->data);
}

static void launcher_server_evict_unauthorized(struct launcher_server *s)
{
        for (size_t i = 0; s->unauthorized >= MAX_UNAUTHORIZED_PEERS && i < s->connections.len; i++) {
                struct launcher_connection *c = s->connections.data[i];
                if (!c->client && !c->closing)
                        launcher_connection_close(c);
        }
}

static void launcher_server_on_connection(uv_poll_t *watch, int status, int events)
{
        struct launcher_server *s = watch->data;
        int fd = socket_accept(s->fd);
        if (fd < 0)
                return;
        launcher_server_evict_unauthorized(s);
        struct launcher_connection *c = new0(struct launcher_connection);
        c->server = s;
        c->fd = fd;
        if (uv_poll_init(s->loop, &c->watch, fd) != 0) {
                close(fd);
                free(c);
                return;
        }
        uv_timer_init(s->loop, &c->timer);
        c->watch.data = c->timer.data = c;
        c->handles = 2;
        s->unauthorized++;
        vec_push(&s->connections, c);
        uv_poll_start(&c->watch, UV_READABLE, launcher_connection_on_readable);
        uv_timer_start(&c->timer, launcher_connection_on_timeout, HELLO_TIMEOUT_MS, 0);
}

/* ------------------------------------------------------------------------------------------------- public functions */

int launcher_server_new(uv_loop_t *loop, const struct launcher_client_ops *ops, struct launcher_server **server,
                        struct fst_error *error)
{
        struct listen_options at = {.service = "launcherServer", .host = "127.0.0.1"};
        int port, fd = socket_listen(&at, &port, error);
        if (fd < 0)
                return fd;
        struct launcher_server *s = new0(struct launcher_server);
        *s = (struct launcher_server){.loop = loop, .ops = ops, .fd = fd, .port = port};
        int r = uv_poll_init(loop, &s->watch, fd);
        if (r) {
                close(fd);
                free(s);
                return error_set(error, r, "cannot watch the launcher's socket: %s", strerror(-r));
        }
        s->watch.data = s;
        uv_poll_start(&s->watch, UV_READABLE, launcher_server_on_connection);
        *server = s;
        return 0;
}

static void launcher_server_on_listener_closed(uv_handle_t *handle)
{
        struct launcher_server *s = handle->data;
        close(s->fd);
        s->listener_closed = true;
        launcher_server_free_if_done(s);
}

void launcher_server_close(struct launcher_server *s)
{
        if (!s)
                return;
        s->closing = true;
        for (size_t i = 0; i < s->connections.len; i++)
                launcher_connection_close(s->connections.data[i]);
        uv_poll_stop(&s->watch);
        uv_close((uv_handle_t *)&s->watch, launcher_server_on_listener_closed);
}

int launcher_server_port(const struct launcher_server *s)
{
        return s->port;
}

int launcher_server_expect(struct launcher_server *s, void *client, char secret[LAUNCHER_SECRET_SIZE])
{
        int r = secret_draw(secret, LAUNCHER_SECRET_SIZE);
        if (r < 0)
                return r;
        struct expected_client e = {.client = client};
        memcpy(e.secret, secret, LAUNCHER_SECRET_SIZE);
        vec_push(&s->expected, e);
        return 0;
}

static struct launcher_connection *launcher_server_find_connection(struct launcher_server *s, const void *client)
{
        for (size_t i = 0; i < s->connections.len; i++) {
                if (s->connections.data[i]->client == client && !s->connections.data[i]->closing)
                        return s->connections.data[i];
        }
        return NULL;
}

void launcher_server_forget(struct launcher_server *s, void *client)
{
        struct launcher_connection *c = launcher_server_find_connection(s, client);
        if (c)
                launcher_connection_close(c);
        for (size_t i = 0; i < s->expected.len; i++) {
                if (s->expected.data[i].client == client) {
                        s->expected.data[i] = s->expected.data[--s->expected.len];
                        break;
                }
        }
}

int launcher_server_stop_client(struct launcher_server *s, void *client)
{
        struct launcher_connection *c = launcher_server_find_connection(s, client);
        _cleanup_(buf_deinit) struct buf out = BUF_INIT;
        if (!c)
                return -ENOTCONN;
        int r = launcher_writer_put(&c->writer, &(struct launcher_message){.kind = LAUNCHER_STOP}, &out, NULL);
        /* A message of some hundred bytes fits into the socket buffer of a healthy peer. */
        if (r == 0 && send(c->fd, out.data, out.len, MSG_NOSIGNAL) != (ssize_t)out.len)
                r = -ENOTCONN;
        return r;
}
