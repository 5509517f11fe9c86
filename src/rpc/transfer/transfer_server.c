/*
 * The server of data transfers.
 *
 * Each thread has an epoll loop and its own connections. The first thread also accepts connections and distributes them
 * in turn. This file counts, times and logs connections. transfer_connection handles their contents.
 *
 * A thread without connections sleeps until it gets one. With connections, it checks deadlines a few times per timeout.
 */
#include "rpc/transfer/transfer_server.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/list.h"
#include "base/log.h"
#include "base/mem.h"
#include "net/channel.h"
#include "net/socket.h"
#include "rpc/transfer/transfer_connection.h"

#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#define COMPONENT "TransferServer"
#define SECOND ((int64_t)1000000000)

struct transfer_thread {
        struct transfer_server *server;
        pthread_t thread;
        bool running;
        int epoll, wake;                              /* an eventfd */
        LIST(struct transfer_connection) connections; /* of the thread */
        struct transfer_connection *handed;           /* under the server's lock: new connections for it */
        unsigned char *scratch;                       /* for uploads, allocated on first use */
};

struct transfer_server {
        struct transfer_server_options options;
        struct transfer_rules rules;
        int fd, port;
        int n_workers;
        struct transfer_thread *workers;
        int turn;     /* of the acceptor: thread that gets the next connection */
        int stopping; /* atomic */
        int64_t quiet_until;
        int quieted; /* suppressed lines since then */
        pthread_mutex_t lock;
        struct transfer_server_counters counters; /* under lock */
};

/* Logs a line about an unauthenticated peer, at most ten a second. */
static void transfer_server_complain(struct transfer_server *s, const char *peer, const char *what)
{
        pthread_mutex_lock(&s->lock);
        int64_t now = now_ns();
        int missed = 0;
        s->counters.refused++;
        if (now >= s->quiet_until) {
                missed = MAX(s->quieted - 10, 0);
                s->quiet_until = now + SECOND;
                s->quieted = 0;
        }
        bool quiet = ++s->quieted > 10;
        pthread_mutex_unlock(&s->lock);
        if (missed)
                log_warn(COMPONENT, "closed %d further connections", missed);
        if (!quiet)
                log_warn(COMPONENT, "closed the connection from %s: %s", peer, what);
}

/* ------------------------------------------------------------------------------------------------ connections */

static void transfer_server_drop(struct transfer_thread *w, struct transfer_connection *c)
{
        list_remove(&w->connections, c);
        pthread_mutex_lock(&w->server->lock);
        w->server->counters.open--;
        w->server->counters.exchanges += c->exchanges;
        w->server->counters.bytes_sent += c->sent;
        w->server->counters.bytes_received += c->received;
        pthread_mutex_unlock(&w->server->lock);
        /* Closing does this too, but not if another process has a copy of the descriptor. */
        if (c->events >= 0)
                epoll_ctl(w->epoll, EPOLL_CTL_DEL, channel_fd(c->channel), NULL);
        transfer_connection_free(c);
}

static void transfer_server_wait_for(struct transfer_thread *w, struct transfer_connection *c, int events)
{
        if (events == c->events)
                return;
        struct epoll_event e = {.events = (uint32_t)events, .data.ptr = c};
        epoll_ctl(w->epoll, c->events < 0 ? EPOLL_CTL_ADD : EPOLL_CTL_MOD, channel_fd(c->channel), &e);
        c->events = events;
}

/* Continues a connection. While a reply is sent the peer sends no data, so only an event reports its end. */
static void transfer_server_run(struct transfer_thread *w, struct transfer_connection *c, uint32_t ready)
{
        struct fst_error error = FST_ERROR_INIT;
        int events = 0;
        if (c->phase == PHASE_SENDING && ready & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)) {
                transfer_server_drop(w, c);
                return;
        }
        int r = transfer_connection_run(c, now_ns(), w->scratch, &events, &error);
        if (r == FST_TRANSFER_E_AGAIN) {
                /* Usually both are ready, and the loop returns without waiting. */
                transfer_server_wait_for(w, c, EPOLLIN | EPOLLOUT);
        } else if (r == 0) {
                transfer_server_wait_for(w, c,
                                         (events & POLLIN ? EPOLLIN : 0) | (events & POLLOUT ? EPOLLOUT : 0) |
                                                 (c->phase == PHASE_SENDING ? EPOLLRDHUP : 0));
        } else {
                bool ordinary = r == -ESHUTDOWN || r == -ECONNRESET || r == -EPIPE;
                if (!ordinary)
                        transfer_server_complain(w->server, channel_peer(c->channel), error_message(&error));
                transfer_server_drop(w, c);
        }
        error_deinit(&error);
}

static void transfer_server_adopt(struct transfer_thread *w)
{
        struct transfer_server *s = w->server;
        uint64_t count;
        if (read(w->wake, &count, sizeof(count)) < 0 && errno != EAGAIN)
                log_error(COMPONENT, "reading an eventfd: %s", strerror(errno));
        pthread_mutex_lock(&s->lock);
        struct transfer_connection *c = steal(w->handed);
        pthread_mutex_unlock(&s->lock);
        while (c) {
                struct transfer_connection *next = c->next;
                list_prepend(&w->connections, c);
                transfer_server_run(w, c, 0);
                c = next;
        }
}

/* Closes connections past their deadline. Returns the maximum time to sleep in ms. */
static int transfer_server_expire(struct transfer_thread *w, int64_t *looked)
{
        const struct transfer_rules *rules = &w->server->rules;
        int64_t every = MAX(MIN(MIN(rules->handshake_ns, rules->idle_ns) / 4, 5 * SECOND), SECOND / 100);
        int64_t now = now_ns();
        if (!w->connections.first)
                return -1;
        if (now - *looked >= every) {
                *looked = now;
                for (struct transfer_connection *c = w->connections.first, *next; c; c = next) {
                        const char *why;
                        next = c->next;
                        if (now < transfer_connection_deadline(c, &why))
                                continue;
                        if (why)
                                transfer_server_complain(w->server, channel_peer(c->channel), why);
                        transfer_server_drop(w, c);
                }
        }
        return (int)(every / 1000000) + 1;
}

/* ------------------------------------------------------------------------------------------------ the threads */

static void transfer_server_hand_out(struct transfer_server *s, int fd, const char *peer)
{
        struct channel *channel = NULL;
        struct fst_error error = FST_ERROR_INIT;
        pthread_mutex_lock(&s->lock);
        bool full = s->counters.open >= s->options.max_connections;
        s->counters.connections++;
        s->counters.open += !full;
        pthread_mutex_unlock(&s->lock);
        if (full) {
                transfer_server_complain(s, peer, "there are too many connections");
                close(fd);
                return;
        }
        int r = channel_new(fd, s->options.security, CHANNEL_SERVER, &channel, &error);
        if (r) {
                transfer_server_complain(s, peer, error_message(&error));
                error_deinit(&error);
                pthread_mutex_lock(&s->lock);
                s->counters.open--;
                pthread_mutex_unlock(&s->lock);
                return;
        }
        struct transfer_connection *c = transfer_connection_new(channel, &s->rules, now_ns());
        c->events = -1;
        struct transfer_thread *w = &s->workers[s->turn];
        s->turn = (s->turn + 1) % s->n_workers;
        pthread_mutex_lock(&s->lock);
        c->next = w->handed;
        w->handed = c;
        pthread_mutex_unlock(&s->lock);
        if (eventfd_write(w->wake, 1) < 0)
                log_error(COMPONENT, "waking a thread: %s", strerror(errno));
}

static void accept_all(struct transfer_server *s)
{
        for (int i = 0; i < 64; i++) {
                char peer[64];
                int fd = socket_accept(s->fd);
                if (fd == -EMFILE || fd == -ENFILE || fd == -ENOBUFS || fd == -ENOMEM) {
                        transfer_server_complain(s, "a client", strerror(-fd));
                        poll(NULL, 0, 20); /* the connection still exists: do not spin */
                }
                if (fd < 0)
                        return;
                transfer_server_hand_out(s, fd, socket_name(fd, true, peer, sizeof(peer)));
        }
}

static void *transfer_server_worker_main(void *arg)
{
        struct transfer_thread *w = arg;
        struct transfer_server *s = w->server;
        char name[16];
        int64_t looked = now_ns();
        snprintf(name, sizeof(name), "transfer-%d", (int)(w - s->workers));
        pthread_setname_np(pthread_self(), name);
        while (!__atomic_load_n(&s->stopping, __ATOMIC_ACQUIRE)) {
                struct epoll_event ready[64];
                int n = epoll_wait(w->epoll, ready, ARRAY_SIZE(ready), transfer_server_expire(w, &looked));
                for (int i = 0; i < n; i++)
                        if (ready[i].data.ptr == w)
                                transfer_server_adopt(w);
                        else if (ready[i].data.ptr == s)
                                accept_all(s);
                        else
                                transfer_server_run(w, ready[i].data.ptr, ready[i].events);
        }
        transfer_server_adopt(w);
        while (w->connections.first)
                transfer_server_drop(w, w->connections.first);
        return NULL;
}

/* Prepares the thread @w, which transfer_server_start_thread starts. */
static int transfer_server_prepare_thread(struct transfer_thread *w, struct transfer_server *s, struct fst_error *error)
{
        w->server = s;
        w->scratch = mem_alloc(TRANSFER_SCRATCH);
        w->epoll = epoll_create1(EPOLL_CLOEXEC);
        w->wake = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
        if (w->epoll < 0 || w->wake < 0)
                return error_errno(error, "starting a transfer server");
        epoll_ctl(w->epoll, EPOLL_CTL_ADD, w->wake, &(struct epoll_event){.events = EPOLLIN, .data.ptr = w});
        if (w == s->workers)
                epoll_ctl(w->epoll, EPOLL_CTL_ADD, s->fd, &(struct epoll_event){.events = EPOLLIN, .data.ptr = s});
        return 0;
}

/* Starts a thread. The first one may at once hand connections to every other, so all must be prepared. */
static int transfer_server_start_thread(struct transfer_thread *w, struct fst_error *error)
{
        int r = -pthread_create(&w->thread, NULL, transfer_server_worker_main, w);
        if (r)
                return error_set(error, r, "cannot start a transfer server's thread: %s", strerror(-r));
        w->running = true;
        return 0;
}

/* ------------------------------------------------------------------------------------------------ life and use */

int transfer_server_new(const struct transfer_server_options *options, const struct transfer_handler *handler,
                        void *owner, struct transfer_server **server, struct fst_error *error)
{
        struct transfer_server *s = new0(struct transfer_server);
        s->options = *options;
        s->options.max_connections = options->max_connections ? options->max_connections : 4096;
        s->rules = (struct transfer_rules){
                .handler = handler,
                .owner = owner,
                .app_id = options->app_id ? mem_strdup(options->app_id) : NULL,
                .max_request = options->max_request ? options->max_request : (size_t)8 << 20,
                .handshake_ns = options->handshake_ns ? options->handshake_ns : 30 * SECOND,
                .idle_ns = options->idle_ns ? options->idle_ns : 120 * SECOND,
        };
        pthread_mutex_init(&s->lock, NULL);
        struct listen_options listening = {
                .service = options->service ? options->service
                                            : "org.apache.spark.network.netty.NettyBlockTransferService",
                .host = options->host,
                .port = options->port,
                .max_retries = options->port_retries,
                .backlog = MAX(options->backlog, 0),
        };
        s->fd = socket_listen(&listening, &s->port, error);
        int r = MIN(s->fd, 0);
        s->n_workers = options->threads > 0 ? options->threads : 2;
        s->workers = new_array(struct transfer_thread, (size_t)s->n_workers);
        for (int i = 0; i < s->n_workers; i++)
                s->workers[i].epoll = s->workers[i].wake = -1;
        for (int i = 0; i < s->n_workers && r == 0; i++)
                r = transfer_server_prepare_thread(&s->workers[i], s, error);
        for (int i = 0; i < s->n_workers && r == 0; i++)
                r = transfer_server_start_thread(&s->workers[i], error);
        if (r) {
                transfer_server_free(s);
                return r;
        }
        *server = s;
        return 0;
}

int transfer_server_port(const struct transfer_server *s)
{
        return s->port;
}

void transfer_server_free(struct transfer_server *s)
{
        if (!s)
                return;
        __atomic_store_n(&s->stopping, 1, __ATOMIC_RELEASE);
        for (int i = 0; i < s->n_workers; i++) {
                struct transfer_thread *w = &s->workers[i];
                if (w->running && eventfd_write(w->wake, 1) == 0)
                        pthread_join(w->thread, NULL);
        }
        for (int i = 0; i < s->n_workers; i++) {
                struct transfer_thread *w = &s->workers[i];
                /* Closes connections passed to a thread that had already ended. */
                for (struct transfer_connection *c = w->handed, *next; c; c = next) {
                        next = c->next;
                        transfer_connection_free(c);
                }
                if (w->epoll >= 0)
                        close(w->epoll);
                if (w->wake >= 0)
                        close(w->wake);
                free(w->scratch);
        }
        if (s->fd >= 0)
                close(s->fd);
        pthread_mutex_destroy(&s->lock);
        free((char *)s->rules.app_id);
        free(s->workers);
        free(s);
}

struct transfer_server_counters transfer_server_counters(struct transfer_server *s)
{
        pthread_mutex_lock(&s->lock);
        struct transfer_server_counters counters = s->counters;
        pthread_mutex_unlock(&s->lock);
        return counters;
}
