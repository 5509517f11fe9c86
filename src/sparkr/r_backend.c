/*
 * See r_backend.h.
 *
 * Threads: one accepts, one watches R, one sends signs of life, and each connection has one. `lock` guards the list of
 * connections and `done`. A connection's own lock guards `busy`, so that a sign of life never comes after the answer.
 */
#include "sparkr/r_backend.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "net/secret.h"
#include "net/socket.h"
#include "net/socket_exact.h"
#include "r/r_process.h"

#include <endian.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#define LOOPBACK "127.0.0.1"
#define READ_SIZE ((size_t)1 << 20)
#define MAX_STRANGERS 10

struct r_connection {
        struct r_connection *next;
        struct r_backend *backend;
        int fd;
        pthread_mutex_t lock;
        bool busy;           /* a call runs */
        int64_t silent_from; /* time of the last bytes to R */
};

struct r_backend {
        struct r_world *world;
        char secret[SECRET_TEXT];
        int listener, port;
        int watcher, watch_timeout; /* the listener for R's end; -1: none */
        int64_t heartbeat_ns;
        int stopped; /* atomic */
        pthread_mutex_t lock;
        pthread_cond_t changed; /* done, stopped, or a connection has ended */
        bool done;
        struct r_connection *connections;
        pthread_t accepting, beating, watching;
        bool accepts, beats, watches; /* the threads run */
};

static void r_backend_set_done(struct r_backend *b)
{
        pthread_mutex_lock(&b->lock);
        b->done = true;
        pthread_cond_broadcast(&b->changed);
        pthread_mutex_unlock(&b->lock);
}

/* -------------------------------------------------------------------------------------------------- connections */

static int r_backend_accept_secret(const struct r_backend *b, int fd)
{
        int64_t deadline = now_ns() + R_HANDSHAKE_TIMEOUT * NS_PER_SECOND;
        return socket_accept_secret(fd, b->secret, SECRET_END_NUL, deadline, &b->stopped);
}

static int r_connection_read_message(struct r_connection *c, struct buf *message)
{
        uint32_t big;
        const int *stopped = &c->backend->stopped;
        int r = socket_read_exactly(c->fd, &big, sizeof(big), SOCKET_NO_DEADLINE, stopped);
        if (r)
                return r;
        size_t len = be32toh(big);
        if (len > INT32_MAX)
                return -EBADMSG;
        buf_reset(message);
        while (message->len < len) { /* room comes with the bytes, not with what a length promises */
                size_t part = MIN(len - message->len, READ_SIZE);
                if (!buf_try_reserve(message, part))
                        return -ENOMEM;
                r = socket_read_exactly(c->fd, message->data + message->len, part, SOCKET_NO_DEADLINE, stopped);
                if (r)
                        return r;
                message->len += part;
        }
        buf_reserve(message, 0);
        message->data[message->len] = '\0';
        return 0;
}

static void r_connection_set_busy(struct r_connection *c, bool busy)
{
        pthread_mutex_lock(&c->lock);
        c->busy = busy;
        c->silent_from = now_ns();
        pthread_mutex_unlock(&c->lock);
}

/* Serves one request. Returns 0, or a status at the end of the connection. */
static int r_connection_serve(struct r_connection *c, struct buf *message, struct buf *answer)
{
        struct arena arena = ARENA_INIT;
        struct fst_error error = FST_ERROR_INIT;
        struct r_request request;
        bool stop = false;
        int r = r_connection_read_message(c, message);
        if (r)
                return r;
        buf_reset(answer);
        r_connection_set_busy(c, true);
        r = r_request_read(message->data, message->len, &arena, &request, &error);
        if (r == 0)
                stop = r_world_call(c->backend->world, &request, &arena, answer);
        else
                r_answer_put_error(answer, error_message(&error));
        r_connection_set_busy(c, false);
        r = socket_write_exactly(c->fd, answer->data, answer->len, SOCKET_NO_DEADLINE, &c->backend->stopped);
        error_deinit(&error);
        arena_deinit(&arena);
        if (stop)
                r_backend_set_done(c->backend);
        return r;
}

static void r_connection_free(struct r_connection *c)
{
        struct r_backend *b = c->backend;
        pthread_mutex_lock(&b->lock);
        struct r_connection **at = &b->connections;
        while (*at != c)
                at = &(*at)->next;
        *at = c->next;
        close(c->fd);
        pthread_cond_broadcast(&b->changed);
        pthread_mutex_unlock(&b->lock);
        pthread_mutex_destroy(&c->lock);
        free(c);
}

static void *r_connection_run(void *data)
{
        struct r_connection *c = data;
        struct buf message = BUF_INIT, answer = BUF_INIT;
        int r = r_backend_accept_secret(c->backend, c->fd);
        if (r && r != -ECANCELED)
                log_warn("RBackend", "a connection without the secret was closed");
        while (r == 0) {
                r = r_connection_serve(c, &message, &answer);
                if (message.cap > 2 * READ_SIZE) /* large ones are rare */
                        buf_deinit(&message);
                if (answer.cap > 2 * READ_SIZE)
                        buf_deinit(&answer);
        }
        buf_deinit(&message);
        buf_deinit(&answer);
        r_connection_free(c);
        return NULL;
}

static void r_connection_start(struct r_backend *b, int fd)
{
        pthread_t thread;
        struct r_connection *c = new0(struct r_connection);
        c->backend = b;
        c->fd = fd;
        pthread_mutex_init(&c->lock, NULL);
        pthread_mutex_lock(&b->lock);
        c->next = b->connections;
        b->connections = c;
        pthread_mutex_unlock(&b->lock);
        if (pthread_create(&thread, NULL, r_connection_run, c) != 0) {
                log_error("RBackend", "no thread for a connection of R");
                r_connection_free(c);
        } else {
                pthread_detach(thread);
        }
}

/* ------------------------------------------------------------------------------------------------------- threads */

static void *r_backend_accept(void *data)
{
        struct r_backend *b = data;
        for (;;) {
                int r = socket_wait(b->listener, POLLIN, -1, &b->stopped);
                if (r < 0)
                        return NULL;
                int fd = socket_accept(b->listener);
                if (fd >= 0)
                        r_connection_start(b, fd);
                else if (fd != -EAGAIN)
                        socket_wait(-1, 0, NS_PER_SECOND / 10, &b->stopped);
        }
}

static void r_connection_beat(struct r_connection *c, int64_t now, int64_t interval)
{
        pthread_mutex_lock(&c->lock);
        if (c->busy && now - c->silent_from >= interval) {
                _cleanup_(buf_deinit) struct buf sign = BUF_INIT;
                r_answer_put_waiting(&sign);
                /* A full connection needs no sign. A part of one would not be understood, and 4 bytes are not split. */
                if (send(c->fd, sign.data, sign.len, MSG_NOSIGNAL | MSG_DONTWAIT) > 0)
                        c->silent_from = now;
        }
        pthread_mutex_unlock(&c->lock);
}

static void *r_backend_beat(void *data)
{
        struct r_backend *b = data;
        pthread_mutex_lock(&b->lock);
        while (!__atomic_load_n(&b->stopped, __ATOMIC_RELAXED)) {
                struct timespec until;
                clock_gettime(CLOCK_REALTIME, &until);
                until.tv_sec++;
                pthread_cond_timedwait(&b->changed, &b->lock, &until);
                for (struct r_connection *c = b->connections; c; c = c->next)
                        r_connection_beat(c, now_ns(), b->heartbeat_ns);
        }
        pthread_mutex_unlock(&b->lock);
        return NULL;
}

/* Waits for the connection of R's session, then for its end. */
static void *r_backend_watch(void *data)
{
        struct r_backend *b = data;
        int64_t until = now_ns() + b->watch_timeout * NS_PER_SECOND;
        int fd = -1;
        for (int strangers = 0; fd < 0 && strangers < MAX_STRANGERS && now_ns() < until;) {
                if (socket_wait(b->watcher, POLLIN, NS_PER_SECOND / 10, &b->stopped) < 0)
                        break;
                fd = socket_accept(b->watcher);
                if (fd >= 0 && r_backend_accept_secret(b, fd) != 0) {
                        close(fd);
                        fd = -1;
                        strangers++;
                }
        }
        char byte;
        while (fd >= 0 && socket_wait(fd, POLLIN, -1, &b->stopped) > 0)
                if (recv(fd, &byte, 1, 0) >= 0 || (errno != EAGAIN && errno != EINTR))
                        break;
        if (fd < 0 && !__atomic_load_n(&b->stopped, __ATOMIC_RELAXED))
                log_error("RBackend", "R has not connected within %d s", b->watch_timeout);
        if (fd >= 0)
                close(fd);
        r_backend_set_done(b);
        return NULL;
}

int r_backend_start(struct r_world *world, int heartbeat, struct r_backend **backend, struct fst_error *error)
{
        struct r_backend *b = new0(struct r_backend);
        struct listen_options options = {.service = "RBackend", .host = LOOPBACK};
        b->world = world;
        b->watcher = -1;
        b->heartbeat_ns = heartbeat * NS_PER_SECOND;
        pthread_mutex_init(&b->lock, NULL);
        pthread_cond_init(&b->changed, NULL);
        int r = secret_draw(b->secret, sizeof(b->secret));
        b->listener = r ? r : socket_listen(&options, &b->port, error);
        if (b->listener < 0)
                r = b->listener;
        if (r == 0)
                b->accepts = (r = -pthread_create(&b->accepting, NULL, r_backend_accept, b)) == 0;
        if (r == 0)
                b->beats = (r = -pthread_create(&b->beating, NULL, r_backend_beat, b)) == 0;
        if (r)
                r_backend_stop(b);
        else
                *backend = b;
        return r;
}

int r_backend_port(const struct r_backend *b)
{
        return b->port;
}

const char *r_backend_secret(const struct r_backend *b)
{
        return b->secret;
}

int r_backend_watch_r(struct r_backend *b, int timeout, int *port, struct fst_error *error)
{
        struct listen_options options = {.service = "RBackend's monitor", .host = LOOPBACK};
        b->watcher = socket_listen(&options, port, error);
        if (b->watcher < 0)
                return b->watcher;
        b->watch_timeout = timeout;
        int r = -pthread_create(&b->watching, NULL, r_backend_watch, b);
        b->watches = r == 0;
        return r ? error_set(error, r, "no thread for the end of R") : 0;
}

void r_backend_wait(struct r_backend *b)
{
        pthread_mutex_lock(&b->lock);
        while (!b->done)
                pthread_cond_wait(&b->changed, &b->lock);
        pthread_mutex_unlock(&b->lock);
}

static void r_backend_cancel_jobs(struct r_backend *b)
{
        pthread_mutex_lock(&b->world->lock);
        if (b->world->sc)
                fst_cancel_all_jobs(b->world->sc);
        pthread_mutex_unlock(&b->world->lock);
}

void r_backend_stop(struct r_backend *b)
{
        if (!b)
                return;
        __atomic_store_n(&b->stopped, 1, __ATOMIC_RELAXED);
        if (b->accepts)
                pthread_join(b->accepting, NULL);
        if (b->beats)
                pthread_join(b->beating, NULL);
        if (b->watches)
                pthread_join(b->watching, NULL);
        pthread_mutex_lock(&b->lock);
        for (struct r_connection *c = b->connections; c; c = c->next)
                shutdown(c->fd, SHUT_RDWR);
        while (b->connections) {
                struct timespec until;
                pthread_mutex_unlock(&b->lock);
                r_backend_cancel_jobs(b); /* again and again: a call may have been about to submit its job */
                pthread_mutex_lock(&b->lock);
                clock_gettime(CLOCK_REALTIME, &until);
                until.tv_sec++;
                if (b->connections)
                        pthread_cond_timedwait(&b->changed, &b->lock, &until);
        }
        pthread_mutex_unlock(&b->lock);
        if (b->listener >= 0)
                close(b->listener);
        if (b->watcher >= 0)
                close(b->watcher);
        pthread_mutex_destroy(&b->lock);
        pthread_cond_destroy(&b->changed);
        free(b);
}
