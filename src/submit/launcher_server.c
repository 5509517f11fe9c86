/*
 * See launcher_server.h.
 *
 * A connection is a guest until its Hello names a secret that is expected; then it is the connection of that client,
 * and the secret is forgotten. Guests are few: beyond MAX_UNAUTHORIZED_PEERS one of them goes. Connections are freed
 * when libuv has closed their handles, the server after the last of them.
 */
#include "submit/launcher_server.h"

#include "base/error.h"
#include "base/mem.h"
#include "net/socket.h"

#include <stdio.h>
#include <sys/random.h>
#include <unistd.h>

#define HELLO_WITHIN_MS 10000 /* Spark's spark.launcher.childConectionTimeout */
enum { MAX_UNAUTHORIZED_PEERS = 64 };

struct connection {
        struct launcher_server *server;
        void *client; /* NULL: a guest */
        int fd;
        uv_poll_t watch;
        uv_timer_t timer; /* of a guest */
        int handles;      /* that are still to be closed */
        bool closing;
        struct launcher_reader reader;
        struct launcher_writer writer;
};

struct expected {
        void *client;
        char secret[LAUNCHER_SECRET_SIZE];
};

struct launcher_server {
        uv_loop_t *loop;
        const struct launcher_client_ops *ops;
        int fd, port, guests;
        bool closing, listener_closed;
        uv_poll_t watch;
        VEC(struct expected) expected;
        VEC(struct connection *) connections; /* until they are freed */
};

/* ----------------------------------------------------------------------------------------------------- the end */

static void free_if_done(struct launcher_server *s)
{
        if (!s->closing || !s->listener_closed || s->connections.len > 0)
                return;
        vec_deinit(&s->expected);
        vec_deinit(&s->connections);
        free(s);
}

static void connection_closed(uv_handle_t *handle)
{
        struct connection *c = handle->data;
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
        free_if_done(s);
}

static void launcher_server_end(struct connection *c)
{
        if (c->closing)
                return;
        c->closing = true;
        if (!c->client)
                c->server->guests--;
        uv_poll_stop(&c->watch);
        uv_close((uv_handle_t *)&c->watch, connection_closed);
        uv_close((uv_handle_t *)&c->timer, connection_closed);
}

static void end_and_tell(struct connection *c)
{
        void *client = c->closing ? NULL : c->client;
        launcher_server_end(c);
        if (client)
                c->server->ops->left(client);
}

/* ----------------------------------------------------------------------------------------------------- hearing */

/* Takes the same time for every wrong secret of the right length. */
static bool same_secret(const char *expected, const char *said)
{
        unsigned char differ = 0;
        if (strlen(said) != LAUNCHER_SECRET_SIZE - 1)
                return false;
        for (size_t i = 0; i < LAUNCHER_SECRET_SIZE - 1; i++)
                differ |= (unsigned char)(expected[i] ^ said[i]);
        return differ == 0;
}

/* The guest becomes its client's connection; false for a secret that is nobody's. */
static bool launcher_server_admit(struct connection *c, const char *secret)
{
        struct launcher_server *s = c->server;
        for (size_t i = 0; secret && i < s->expected.len; i++) {
                if (!same_secret(s->expected.data[i].secret, secret))
                        continue;
                c->client = s->expected.data[i].client;
                s->expected.data[i] = s->expected.data[--s->expected.len];
                s->guests--;
                uv_timer_stop(&c->timer);
                return true;
        }
        return false;
}

static bool may_say(struct connection *c, const struct launcher_message *m)
{
        if (!c->client)
                return m->kind == LAUNCHER_HELLO && launcher_server_admit(c, m->text);
        return m->kind == LAUNCHER_SET_APP_ID || m->kind == LAUNCHER_SET_STATE;
}

static void launcher_server_hear(uv_poll_t *watch, int status, int events)
{
        struct connection *c = watch->data;
        char data[MAX_LAUNCHER_MESSAGE];
        ssize_t n = recv(c->fd, data, sizeof(data), 0);
        if (n < 0 && (errno == EAGAIN || errno == EINTR))
                return;
        if (n <= 0) {
                end_and_tell(c);
                return;
        }
        launcher_reader_feed(&c->reader, data, (size_t)n);
        struct launcher_message m;
        int r;
        while (!c->closing && (r = launcher_reader_next(&c->reader, &m, NULL)) != 0) {
                if (r > 0 && may_say(c, &m))
                        c->server->ops->said(c->client, &m);
                else
                        end_and_tell(c);
                if (r > 0)
                        launcher_message_deinit(&m);
        }
}

static void too_late(uv_timer_t *timer)
{
        end_and_tell(timer->data);
}

static void launcher_server_make_room(struct launcher_server *s)
{
        for (size_t i = 0; s->guests >= MAX_UNAUTHORIZED_PEERS && i < s->connections.len; i++) {
                struct connection *c = s->connections.data[i];
                if (!c->client && !c->closing)
                        launcher_server_end(c);
        }
}

static void launcher_server_guest(uv_poll_t *watch, int status, int events)
{
        struct launcher_server *s = watch->data;
        int fd = socket_accept(s->fd);
        if (fd < 0)
                return;
        launcher_server_make_room(s);
        struct connection *c = new0(struct connection);
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
        s->guests++;
        vec_push(&s->connections, c);
        uv_poll_start(&c->watch, UV_READABLE, launcher_server_hear);
        uv_timer_start(&c->timer, too_late, HELLO_WITHIN_MS, 0);
}

/* ------------------------------------------------------------------------------------------------- from outside */

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
                return error_set(error, r, "watching the launcher's socket: %s", strerror(-r));
        }
        s->watch.data = s;
        uv_poll_start(&s->watch, UV_READABLE, launcher_server_guest);
        *server = s;
        return 0;
}

static void listener_closed(uv_handle_t *handle)
{
        struct launcher_server *s = handle->data;
        close(s->fd);
        s->listener_closed = true;
        free_if_done(s);
}

void launcher_server_close(struct launcher_server *s)
{
        if (!s)
                return;
        s->closing = true;
        for (size_t i = 0; i < s->connections.len; i++)
                launcher_server_end(s->connections.data[i]);
        uv_poll_stop(&s->watch);
        uv_close((uv_handle_t *)&s->watch, listener_closed);
}

int launcher_server_port(const struct launcher_server *s)
{
        return s->port;
}

int launcher_server_expect(struct launcher_server *s, void *client, char secret[LAUNCHER_SECRET_SIZE])
{
        unsigned char random[(LAUNCHER_SECRET_SIZE - 1) / 2];
        if (getrandom(random, sizeof(random), 0) != (ssize_t)sizeof(random))
                return -errno;
        for (size_t i = 0; i < sizeof(random); i++)
                snprintf(secret + 2 * i, 3, "%02x", random[i]);
        struct expected e = {.client = client};
        memcpy(e.secret, secret, LAUNCHER_SECRET_SIZE);
        vec_push(&s->expected, e);
        return 0;
}

static struct connection *launcher_server_connection_of(struct launcher_server *s, const void *client)
{
        for (size_t i = 0; i < s->connections.len; i++) {
                if (s->connections.data[i]->client == client && !s->connections.data[i]->closing)
                        return s->connections.data[i];
        }
        return NULL;
}

void launcher_server_forget(struct launcher_server *s, void *client)
{
        struct connection *c = launcher_server_connection_of(s, client);
        if (c)
                launcher_server_end(c);
        for (size_t i = 0; i < s->expected.len; i++) {
                if (s->expected.data[i].client == client) {
                        s->expected.data[i] = s->expected.data[--s->expected.len];
                        break;
                }
        }
}

int launcher_server_stop_client(struct launcher_server *s, void *client)
{
        struct connection *c = launcher_server_connection_of(s, client);
        _cleanup_(buf_deinit) struct buf out = BUF_INIT;
        if (!c)
                return -ENOTCONN;
        int r = launcher_writer_put(&c->writer, &(struct launcher_message){.kind = LAUNCHER_STOP}, &out, NULL);
        /* Some hundred bytes: what does not go at once goes to nobody. */
        if (r == 0 && send(c->fd, out.data, out.len, MSG_NOSIGNAL) != (ssize_t)out.len)
                r = -ENOTCONN;
        return r;
}
