/*
 * The server; see server.h.
 *
 * Each connection has one thread, which reads and executes its commands. While a command runs, the thread leaves the
 * connection to the watcher, a thread that looks at busy connections every WATCH_MS and executes what they send.
 * `lock` of a connection guards its buffer, scanner and socket; the owner gives it up only while it executes.
 */
#include "py4j/server.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "base/mem.h"
#include "net/secret.h"
#include "net/socket.h"
#include "py4j/command.h"
#include "py4j/gateway.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#define GREETING_TIMEOUT_NS (15 * (int64_t)1000000000)
#define WATCH_MS 100

/* How long one connection that reads no answers may hold up the watcher. */
#define WATCHED_WRITE_TIMEOUT_NS (2 * (int64_t)1000000000)

#define MAX_CONNECTIONS 4096
#define READ_SIZE 65536

struct connection {
        struct connection *next, **link; /* in the list of all */
        struct py4j_server *server;
        pthread_mutex_t lock;
        struct buf in;
        struct py4j_scanner scanner;
        int fd;
        bool busy; /* its thread executes a command */
        bool ended;
        /* under the lock of the server */
        bool watched;     /* the watcher uses it, without that lock */
        bool running;     /* its thread executes a command; like `busy`, which the watcher needs */
        bool interrupted; /* the program closed it while a command ran, which the gateway was told */
};

struct py4j_server {
        struct py4j_gateway *gateway;
        char *secret;
        int listener;
        int stopping; /* atomic */
        pthread_t acceptor, watcher;
        pthread_mutex_t lock; /* guards the fields below */
        pthread_cond_t left, has_busy;
        bool watching; /* the watcher is not asleep */
        size_t busy;   /* connections that execute a command */
        struct connection *first;
        size_t connections;
};

/* --------------------------------------------------------------------------------------------------- reading */

/* Reads what there is, without waiting. Returns the number of bytes, 0 at the end, -EAGAIN, or another negative. */
static ssize_t connection_read(struct connection *c)
{
        if (c->in.len >= PY4J_MAX_COMMAND || !buf_try_reserve(&c->in, READ_SIZE))
                return -EFBIG;
        ssize_t n = recv(c->fd, c->in.data + c->in.len, c->in.cap - c->in.len - 1, MSG_DONTWAIT);
        if (n < 0)
                return errno == EWOULDBLOCK || errno == EINTR ? -EAGAIN : -errno;
        c->in.len += (size_t)n;
        c->in.data[c->in.len] = 0;
        return n;
}

/* Moves the first @n bytes out of the buffer, which keeps its memory unless it is large. */
static char *connection_take(struct connection *c, size_t n)
{
        char *text = mem_alloc(n + 1); /* with NULs, if the program sends some */
        memcpy(text, c->in.data, n);
        text[n] = 0;
        size_t rest = c->in.len - n;
        memmove(c->in.data, c->in.data + n, rest);
        c->in.len = rest;
        c->scanner = (struct py4j_scanner){0};
        if (c->in.cap > 16 * READ_SIZE && rest == 0)
                buf_deinit(&c->in);
        return text;
}

/* Returns -ETIMEDOUT, and ends the connection, if the program reads nothing for @timeout_ns (negative: any time). */
static int connection_write(struct connection *c, const struct buf *answer, int64_t timeout_ns)
{
        for (size_t at = 0; at < answer->len;) {
                ssize_t n = send(c->fd, answer->data + at, answer->len - at, MSG_NOSIGNAL);
                if (n >= 0)
                        at += (size_t)n;
                else if (errno == EAGAIN) {
                        if (socket_wait(c->fd, POLLOUT, timeout_ns, NULL) == 0) {
                                shutdown(c->fd, SHUT_RDWR);
                                return -ETIMEDOUT;
                        }
                } else if (errno != EINTR)
                        return -errno;
        }
        return 0;
}

/* ------------------------------------------------------------------------------------------------- commands */

/* Executes a command, without the lock. Returns negative if the connection must close. */
static int connection_execute(struct connection *c, char *text, size_t len, struct buf *answer)
{
        _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
        struct py4j_command command;
        int r = py4j_command_parse(text, len, &command, &error);
        if (r < 0) {
                buf_puts(answer, "!xspy4j.Py4JException: ");
                py4j_escape(answer, error_message(&error), strlen(error_message(&error)));
                buf_putc(answer, '\n');
        } else {
                py4j_gateway_execute(c->server->gateway, &command, answer);
                r = command.letter == 's' ? -ECANCELED : 0;
        }
        py4j_command_deinit(&command);
        return r;
}

static void connection_count_busy(struct connection *c, bool begins)
{
        struct py4j_server *server = c->server;
        pthread_mutex_lock(&server->lock);
        c->running = begins;
        server->busy += begins ? 1 : (size_t)-1;
        if (begins && !server->watching)
                pthread_cond_signal(&server->has_busy);
        pthread_mutex_unlock(&server->lock);
}

/* Executes the command of @len bytes at the start of the buffer, and answers. The caller holds the lock. */
static int connection_serve(struct connection *c, size_t len, bool is_owner)
{
        _cleanup_(buf_deinit) struct buf answer = BUF_INIT;
        _cleanup_free_ char *text = connection_take(c, len);
        if (is_owner) {
                c->busy = true;
                pthread_mutex_unlock(&c->lock);
                connection_count_busy(c, true);
        }
        int r = connection_execute(c, text, len, &answer);
        if (is_owner) {
                connection_count_busy(c, false);
                pthread_mutex_lock(&c->lock);
                c->busy = false;
        }
        int w = connection_write(c, &answer, is_owner ? -1 : WATCHED_WRITE_TIMEOUT_NS);
        return r < 0 ? r : w;
}

/* Reads "A", the secret. */
static int connection_authenticate(struct connection *c)
{
        int64_t end = now_ns() + GREETING_TIMEOUT_NS;
        static const struct buf accepted = {.data = (char *)"!yv\n", .len = 4},
                                refused = {.data = (char *)"!xsPy4J: the connection did not prove the secret\n",
                                           .len = 50};
        for (;;) {
                char *first = memchr(c->in.len ? c->in.data : "", '\n', c->in.len);
                char *second = first ? memchr(first + 1, '\n', c->in.len - (size_t)(first + 1 - c->in.data)) : NULL;
                bool wrong = c->in.len && c->in.data[0] != 'A';
                if (second && !wrong && first == c->in.data + 1 &&
                    secret_equals(first + 1, (size_t)(second - first - 1), c->server->secret)) {
                        free(connection_take(c, (size_t)(second + 1 - c->in.data)));
                        return connection_write(c, &accepted, GREETING_TIMEOUT_NS);
                }
                if (second || wrong || c->in.len > PY4J_MAX_GREETING) {
                        log_warn("Py4JServer", "A connection without the secret was refused");
                        connection_write(c, &refused, GREETING_TIMEOUT_NS);
                        return -EACCES;
                }
                int r = socket_wait(c->fd, POLLIN, MAX(end - now_ns(), (int64_t)0), NULL);
                ssize_t n = r == 1 ? connection_read(c) : r == 0 ? -ETIMEDOUT : r;
                if (n <= 0 && n != -EAGAIN)
                        return n < 0 ? (int)n : -EPIPE;
        }
}

/* Serves commands until the program closes the connection. */
static int connection_run(struct connection *c)
{
        int r = connection_authenticate(c);
        while (r == 0) {
                size_t len = c->in.len ? py4j_scan(&c->scanner, c->in.data, c->in.len) : 0;
                if (len) {
                        r = connection_serve(c, len, true);
                        continue;
                }
                pthread_mutex_unlock(&c->lock);
                int ready = socket_wait(c->fd, POLLIN, -1, NULL);
                pthread_mutex_lock(&c->lock);
                ssize_t n = ready == 1 ? connection_read(c) : ready;
                if (n <= 0 && n != -EAGAIN)
                        r = n < 0 ? (int)n : -EPIPE;
        }
        return r;
}

static void *connection_thread(void *argument)
{
        struct connection *c = argument;
        struct py4j_server *server = c->server;
        pthread_mutex_lock(&c->lock);
        connection_run(c);
        pthread_mutex_unlock(&c->lock);
        pthread_mutex_lock(&server->lock);
        while (c->watched)
                pthread_cond_wait(&server->left, &server->lock);
        *c->link = c->next;
        if (c->next)
                c->next->link = c->link;
        server->connections--;
        pthread_cond_broadcast(&server->left);
        pthread_mutex_unlock(&server->lock);
        close(c->fd);
        pthread_mutex_destroy(&c->lock);
        buf_deinit(&c->in);
        free(c);
        return NULL;
}

/* --------------------------------------------------------------------------------------------------- threads */

/*
 * Tells the gateway if the program has closed a connection whose command runs. The acceptor calls this before it adds a
 * connection, so that what an interrupted program does next comes after. The caller holds the server's lock.
 */
static void server_notice_interrupt(struct py4j_server *server)
{
        bool found = false;
        for (struct connection *c = server->first; c; c = c->next) {
                struct pollfd at = {.fd = c->fd, .events = POLLRDHUP};
                if (!c->running || c->interrupted || poll(&at, 1, 0) <= 0)
                        continue;
                c->interrupted = found = true;
        }
        if (found)
                py4j_gateway_interrupt(server->gateway);
}

/* Executes the commands that a busy connection has sent. */
static void server_watch(struct connection *c)
{
        if (pthread_mutex_trylock(&c->lock) != 0)
                return;
        if (c->busy && !c->ended) {
                ssize_t n = connection_read(c);
                size_t len;
                c->ended = n <= 0 && n != -EAGAIN;
                while (c->busy && c->in.len && (len = py4j_scan(&c->scanner, c->in.data, c->in.len)) > 0)
                        if (connection_serve(c, len, false) < 0)
                                break;
        }
        pthread_mutex_unlock(&c->lock);
}

static void *server_watcher_thread(void *argument)
{
        struct py4j_server *server = argument;
        pthread_mutex_lock(&server->lock);
        while (!__atomic_load_n(&server->stopping, __ATOMIC_RELAXED)) {
                server->watching = server->busy > 0;
                if (!server->watching) {
                        pthread_cond_wait(&server->has_busy, &server->lock);
                        continue;
                }
                pthread_mutex_unlock(&server->lock);
                poll(NULL, 0, WATCH_MS);
                pthread_mutex_lock(&server->lock);
                server_notice_interrupt(server);
                for (struct connection *c = server->first; c;) {
                        c->watched = true; /* stays in the list */
                        pthread_mutex_unlock(&server->lock);
                        server_watch(c);
                        pthread_mutex_lock(&server->lock);
                        c->watched = false;
                        pthread_cond_broadcast(&server->left);
                        c = c->next;
                }
        }
        pthread_mutex_unlock(&server->lock);
        return NULL;
}

static int server_add(struct py4j_server *server, int fd)
{
        struct connection *c = new0(struct connection);
        pthread_attr_t attributes;
        pthread_t thread;
        int one = 1;
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
        c->server = server;
        c->fd = fd;
        pthread_mutex_init(&c->lock, NULL);
        pthread_attr_init(&attributes);
        pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
        pthread_mutex_lock(&server->lock);
        server_notice_interrupt(server);
        int r = server->connections < MAX_CONNECTIONS ? -pthread_create(&thread, &attributes, connection_thread, c)
                                                      : -EMFILE;
        if (r == 0) {
                c->next = server->first;
                c->link = &server->first;
                if (c->next)
                        c->next->link = &c->next;
                server->first = c;
                server->connections++;
        }
        pthread_mutex_unlock(&server->lock);
        pthread_attr_destroy(&attributes);
        if (r < 0) {
                log_warn("Py4JServer", "A connection was closed: %s", strerror(-r));
                close(fd);
                pthread_mutex_destroy(&c->lock);
                free(c);
        }
        return r;
}

static void *server_acceptor_thread(void *argument)
{
        struct py4j_server *server = argument;
        while (!__atomic_load_n(&server->stopping, __ATOMIC_RELAXED)) {
                if (socket_wait(server->listener, POLLIN, -1, NULL) != 1)
                        break;
                int fd = socket_accept(server->listener);
                if (fd >= 0)
                        server_add(server, fd);
                else if (fd != -EAGAIN)
                        poll(NULL, 0, WATCH_MS);
        }
        return NULL;
}

int py4j_server_start(struct py4j_gateway *gateway, const char *secret, struct py4j_server **out, int *port,
                      struct fst_error *error)
{
        struct py4j_server *server = new0(struct py4j_server);
        server->gateway = gateway;
        server->listener =
                socket_listen(&(struct listen_options){.service = "Py4JServer", .host = "127.0.0.1"}, port, error);
        if (server->listener < 0) {
                int r = server->listener;
                free(server);
                return r;
        }
        server->secret = mem_strdup(secret);
        pthread_mutex_init(&server->lock, NULL);
        pthread_cond_init(&server->left, NULL);
        pthread_cond_init(&server->has_busy, NULL);
        if (pthread_create(&server->acceptor, NULL, server_acceptor_thread, server) != 0 ||
            pthread_create(&server->watcher, NULL, server_watcher_thread, server) != 0)
                return error_set(error, -EAGAIN, "the threads of the Py4J server could not be started");
        *out = server;
        return 0;
}

void py4j_server_stop(struct py4j_server *server)
{
        if (!server)
                return;
        __atomic_store_n(&server->stopping, 1, __ATOMIC_RELAXED);
        shutdown(server->listener, SHUT_RDWR);
        pthread_mutex_lock(&server->lock);
        pthread_cond_signal(&server->has_busy);
        pthread_mutex_unlock(&server->lock);
        pthread_join(server->acceptor, NULL);
        pthread_join(server->watcher, NULL);
        pthread_mutex_lock(&server->lock);
        for (struct connection *c = server->first; c; c = c->next)
                shutdown(c->fd, SHUT_RDWR);
        while (server->connections)
                pthread_cond_wait(&server->left, &server->lock);
        pthread_mutex_unlock(&server->lock);
        close(server->listener);
        pthread_mutex_destroy(&server->lock);
        pthread_cond_destroy(&server->left);
        pthread_cond_destroy(&server->has_busy);
        free(server->secret);
        free(server);
}
