/*
 * See http_plain_multi.h.
 *
 * A connection resolves its server's name, connects, and is open until an error, the server, or the end of a stream
 * closes it. Its requests are in the order in which they are sent; answers come in the same order. A cancelled request
 * whose connection has others stays in that order without a receiver, and its answer is discarded.
 *
 * A receiver may cancel requests and free the client, which http_async.c then does later: while multi_act runs, no
 * request ends by multi_end. So the functions below need to watch only for what they end themselves. Those that may
 * free the connection return false if they did.
 */
#include "net/http/http_plain_multi.h"

#include "base/base64.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/list.h"
#include "base/mem.h"
#include "net/http/http_reader.h"
#include "net/socket.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <strings.h>
#include <sys/un.h>
#include <unistd.h>
#include <uv.h>

#define READ_SIZE 65536
#define MAX_READS 16 /* of one connection before others have their turn */
#define SCHEME "http://"
#define NEVER INT64_MAX

struct plain_connection;

struct plain_request {
        struct plain_multi *multi;
        struct plain_request *prev, *next;
        struct plain_connection *connection; /* NULL: it has ended, and is in `finished` */
        struct http_receiver *receiver;      /* NULL: cancelled */
        void *owner;
        uint64_t begin;   /* its first byte, counted from the connection's first one */
        int64_t deadline; /* of the request; NEVER: none */
        int64_t stall_ns; /* without any byte; NEVER: no limit */
        int result;
        char message[200];
};

struct plain_lookup {
        uv_getaddrinfo_t request;
        struct plain_connection *connection; /* NULL: it has ended */
};

enum plain_state { PLAIN_RESOLVING, PLAIN_CONNECTING, PLAIN_OPEN };

struct plain_connection {
        struct plain_multi *multi;
        struct plain_connection *prev, *next;
        enum plain_state state;
        struct host_port server;
        char *unix_socket;                    /* connects there instead; NULL: none */
        struct plain_lookup *lookup;          /* NULL while resolving: it has ended */
        struct addrinfo *addresses, *address; /* all; the next one to try */
        int fd, events, error;                /* error: why the last address failed */
        void *slot;                           /* of the watch hook */
        int64_t connect_deadline, active;     /* active: when the last byte moved */
        LIST(struct plain_request) requests;
        struct buf out; /* not yet sent from `written` on */
        size_t written;
        uint64_t sent; /* bytes since it is open */
        struct http_reader reader;
        bool stream; /* of one request only */
};

struct plain_multi {
        struct http_hooks hooks;
        void *context;
        LIST(struct plain_connection) connections;
        LIST(struct plain_request) finished;
        char bytes[READ_SIZE];
};

/* The types of the interface are opaque: here they stand for plain_multi and plain_request. */
static struct plain_multi *plain_multi_of(struct http_multi *multi)
{
        return (struct plain_multi *)multi;
}

static struct http_multi *plain_multi_new(const struct http_hooks *hooks, void *context)
{
        struct plain_multi *m = calloc(1, sizeof(*m));

        if (m) {
                m->hooks = *hooks;
                m->context = context;
        }
        return (struct http_multi *)m;
}

/* ----------------------------------------------------------------------------------------------------- connections */

static void plain_connection_watch(struct plain_connection *k, int events)
{
        if (events == k->events)
                return;
        k->slot = k->multi->hooks.watch(k->multi->context, k->fd, events, k->slot);
        k->events = events;
}

static void plain_connection_close(struct plain_connection *k)
{
        if (k->fd < 0)
                return;
        plain_connection_watch(k, 0);
        close(k->fd);
        k->fd = -1;
}

/* Its requests have ended. */
static void plain_connection_free(struct plain_connection *k)
{
        plain_connection_close(k);
        list_remove(&k->multi->connections, k);
        if (k->lookup) {
                k->lookup->connection = NULL;
                uv_cancel((uv_req_t *)&k->lookup->request);
        }
        if (k->addresses)
                freeaddrinfo(k->addresses);
        free(k->unix_socket);
        buf_deinit_secret(&k->out);
        http_reader_deinit(&k->reader);
        free(k);
}

/* Ends the first request. */
static void plain_connection_finish_first(struct plain_connection *k, int result, const char *message)
{
        struct plain_request *e = list_pop(&k->requests);

        e->connection = NULL;
        if (!e->receiver) {
                free(e);
                return;
        }
        e->result = result;
        snprintf(e->message, sizeof(e->message), "%s", message);
        list_append(&k->multi->finished, e);
}

/* Ends all requests and the connection. Once it is open, the first of them is the cause. Always returns false. */
static bool plain_connection_fail(struct plain_connection *k, int result, const char *message)
{
        const bool open = k->state == PLAIN_OPEN;

        for (bool first = true; k->requests.first; first = false)
                if (first || !open)
                        plain_connection_finish_first(k, result, message);
                else
                        plain_connection_finish_first(k, -ECONNABORTED, "an earlier request ended the connection");
        plain_connection_free(k);
        return false;
}

static int plain_on_header(void *context, const char *line, size_t n)
{
        const struct plain_connection *k = context;
        struct http_receiver *receiver = k->requests.first->receiver;

        return receiver ? receiver->header(receiver->context, line, n) : 0;
}

static int plain_on_body(void *context, const char *data, size_t n)
{
        const struct plain_connection *k = context;
        struct http_receiver *receiver = k->requests.first->receiver;

        return receiver ? receiver->body(receiver->context, k->reader.status, data, n) : 0;
}

static void plain_connection_expect_answer(struct plain_connection *k)
{
        http_reader_begin(&k->reader, SIZE_MAX);
        k->reader.on_header = plain_on_header;
        k->reader.on_body = plain_on_body;
        k->reader.context = k;
}

/* Begins to connect to the Unix socket. Returns the descriptor or a negative errno. */
static int plain_connection_start_unix(const struct plain_connection *k)
{
        struct sockaddr_un address = {.sun_family = AF_UNIX};

        if (strlen(k->unix_socket) >= sizeof(address.sun_path))
                return -ENAMETOOLONG;
        strcpy(address.sun_path, k->unix_socket);
        return socket_connect_start((const struct sockaddr *)&address, sizeof(address), NULL);
}

/* Tries the addresses that are left. */
static bool plain_connection_connect(struct plain_connection *k)
{
        static const int one = 1, idle_s = 30, interval_s = 10;
        char message[120];

        plain_connection_close(k);
        if (k->unix_socket && k->error == 0) {
                k->fd = plain_connection_start_unix(k);
                k->error = MIN(k->fd, 0);
        }
        if (k->fd >= 0) {
                k->state = PLAIN_CONNECTING;
                plain_connection_watch(k, HTTP_WRITE);
                return true;
        }
        while (k->address) {
                const struct addrinfo *a = k->address;
                k->address = a->ai_next;
                k->fd = socket_connect_start(a->ai_addr, a->ai_addrlen, NULL);
                if (k->fd < 0) {
                        k->error = k->fd;
                        continue;
                }
                /* As libcurl's requests: detects a dead peer after about two minutes. */
                setsockopt(k->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
                setsockopt(k->fd, SOL_SOCKET, SO_KEEPALIVE, &one, sizeof(one));
                setsockopt(k->fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle_s, sizeof(idle_s));
                setsockopt(k->fd, IPPROTO_TCP, TCP_KEEPINTVL, &interval_s, sizeof(interval_s));
                k->state = PLAIN_CONNECTING;
                plain_connection_watch(k, HTTP_WRITE);
                return true;
        }
        snprintf(message, sizeof(message), "cannot connect: %s", strerror(-k->error));
        return plain_connection_fail(k, k->error, message);
}

static void plain_on_resolved(uv_getaddrinfo_t *request, int status, struct addrinfo *addresses)
{
        struct plain_lookup *lookup = request->data;
        struct plain_connection *k = lookup->connection;

        free(lookup);
        if (!k) {
                if (addresses)
                        freeaddrinfo(addresses);
                return;
        }
        k->lookup = NULL;
        k->addresses = k->address = addresses;
        k->error = status < 0 ? -EHOSTUNREACH : 0;
        k->multi->hooks.timer(k->multi->context, 0); /* multi_act goes on with it */
}

/* Returns 0, or negative if the name cannot be looked up. */
static int plain_connection_resolve(struct plain_connection *k)
{
        struct addrinfo hints = {
                .ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV | AI_NUMERICHOST};
        char port[8];

        if (k->unix_socket)
                return 0;
        snprintf(port, sizeof(port), "%d", k->server.port);
        if (getaddrinfo(k->server.host, port, &hints, &k->addresses) == 0) {
                k->address = k->addresses;
                return 0;
        }
        k->addresses = NULL;
        hints.ai_flags = AI_NUMERICSERV;
        k->lookup = new0(struct plain_lookup);
        k->lookup->connection = k;
        k->lookup->request.data = k->lookup;
        int r = uv_getaddrinfo(k->multi->hooks.loop, &k->lookup->request, plain_on_resolved, k->server.host, port,
                               &hints);
        if (r < 0)
                free(steal(k->lookup));
        return r < 0 ? -EHOSTUNREACH : 0;
}

/* --------------------------------------------------------------------------------------------------- bytes in and out
 */

static bool plain_connection_flush(struct plain_connection *k)
{
        while (k->written < k->out.len) {
                ssize_t n = send(k->fd, k->out.data + k->written, k->out.len - k->written, MSG_NOSIGNAL);
                if (n < 0 && errno == EINTR)
                        continue;
                if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
                        break;
                if (n < 0)
                        return plain_connection_fail(k, -ECONNRESET, "the connection broke");
                k->written += (size_t)n;
                k->sent += (uint64_t)n;
                k->active = now_ns();
                for (struct plain_request *e = k->requests.first; e && e->begin < k->sent; e = e->next)
                        if (e->receiver)
                                e->receiver->sent = true;
        }
        bool rest = k->written < k->out.len;
        if (!rest) {
                buf_reset(&k->out);
                k->written = 0;
        }
        plain_connection_watch(k, rest ? HTTP_READ | HTTP_WRITE : HTTP_READ);
        return true;
}

/* The answer to the first request is complete. */
static bool plain_connection_answered(struct plain_connection *k)
{
        const bool close = k->reader.close || k->stream;
        struct http_receiver *receiver = k->requests.first->receiver;

        if (receiver)
                receiver->status = k->reader.status;
        plain_connection_finish_first(k, 0, "");
        if (close)
                return plain_connection_fail(k, -ECONNRESET, "the server closed the connection");
        plain_connection_expect_answer(k);
        return true;
}

static bool plain_connection_feed(struct plain_connection *k, const char *data, size_t n)
{
        _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;

        while (n > 0) {
                if (!k->requests.first) /* more than answers: nothing after it can be trusted */
                        return plain_connection_fail(k, -EIO, "");
                ssize_t used = http_reader_take(&k->reader, data, n, &error);
                if (used < 0)
                        return plain_connection_fail(k, -EIO, error_message(&error));
                data += used;
                n -= (size_t)used;
                if (k->reader.done && !plain_connection_answered(k))
                        return false;
        }
        return true;
}

static bool plain_connection_ended(struct plain_connection *k, int r)
{
        _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;

        if (!k->requests.first)
                return plain_connection_fail(k, -EIO, "");
        if (r == 0) {
                k->reader.close = true;
                r = http_reader_end(&k->reader, &error);
                if (r == 0)
                        return plain_connection_answered(k);
        } else {
                error_set(&error, r, "the connection broke");
        }
        return plain_connection_fail(k, r == -ENODATA ? -EIO : -ECONNRESET, error_message(&error));
}

static bool plain_connection_read(struct plain_connection *k)
{
        char *bytes = k->multi->bytes;

        for (int i = 0; i < MAX_READS; i++) {
                ssize_t n = recv(k->fd, bytes, READ_SIZE, 0);
                if (n < 0 && errno == EINTR)
                        continue;
                if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
                        return true;
                if (n <= 0)
                        return plain_connection_ended(k, n < 0 ? -errno : 0);
                k->active = now_ns();
                if (!plain_connection_feed(k, bytes, (size_t)n))
                        return false;
        }
        return true;
}

static void plain_connection_act(struct plain_connection *k, int events)
{
        if (k->state == PLAIN_CONNECTING) {
                k->error = socket_connected(k->fd);
                if (k->error < 0) {
                        plain_connection_connect(k);
                        return;
                }
                k->state = PLAIN_OPEN;
                k->active = now_ns();
                events = HTTP_WRITE;
        }
        if ((events & HTTP_WRITE) && !plain_connection_flush(k))
                return;
        if (events & (HTTP_READ | HTTP_FAILED))
                plain_connection_read(k);
}

/* ----------------------------------------------------------------------------------------------------------- time */

/* When its first expiring request expires. */
static int64_t plain_connection_deadline(const struct plain_connection *k)
{
        int64_t deadline = NEVER;

        if (k->state == PLAIN_RESOLVING && !k->lookup)
                return 0;
        for (const struct plain_request *e = k->requests.first; e; e = e->next) {
                deadline = MIN(deadline, e->deadline);
                if (k->state == PLAIN_OPEN && e->stall_ns < NEVER)
                        deadline = MIN(deadline, k->active + e->stall_ns);
        }
        return k->state == PLAIN_OPEN ? deadline : MIN(deadline, k->connect_deadline);
}

/* Goes on after the name is resolved, and ends a connection of which a request has expired. */
static void plain_connection_check(struct plain_connection *k, int64_t now)
{
        if (k->state == PLAIN_RESOLVING && !k->lookup) {
                if (k->error < 0)
                        plain_connection_fail(k, k->error, "the host is not known");
                else
                        plain_connection_connect(k);
        } else if (plain_connection_deadline(k) <= now) {
                plain_connection_fail(k, -ETIMEDOUT,
                                      k->state == PLAIN_OPEN ? "no answer in time" : "cannot connect in time");
        }
}

static void plain_multi_set_timer(struct plain_multi *m)
{
        int64_t deadline = m->finished.first ? 0 : NEVER, now = now_ns();

        for (const struct plain_connection *k = m->connections.first; k && deadline > 0; k = k->next)
                deadline = MIN(deadline, plain_connection_deadline(k));
        m->hooks.timer(m->context, deadline == NEVER ? -1 : deadline <= now ? 0 : (deadline - now) / 1000000 + 1);
}

/* -------------------------------------------------------------------------------------------------------- requests */

/* Returns a sentence about what is not supported, or NULL. */
static const char *plain_refusal(const struct http_request *q)
{
        const char *url = q->url && *q->url ? q->url : NULL;

        if (!url)
                return "a request needs a URL";
        if (strncasecmp(url, SCHEME, strlen(SCHEME)) != 0)
                return "a plain client supports only http://";
        for (const char *c = url; *c; c++)
                if ((unsigned char)*c <= ' ')
                        return "this is not a URL";
        if (q->follow || q->negotiate || q->aws_sigv4 || q->proxy || q->progress ||
            (q->method && strcmp(q->method, "HEAD") == 0))
                return "a plain client does not support this kind of request";
        for (const char *const *h = q->headers; h && *h; h++)
                if (strpbrk(*h, "\r\n"))
                        return "a header has a line end in it";
        return NULL;
}

/* Parses the URL. Returns the target after the server's name, or NULL if there is no valid server. */
static const char *plain_target(const char *url, struct host_port *server)
{
        const char *at = url + strlen(SCHEME);
        const size_t n = strcspn(at, "/?#");
        const char *bracket = memrchr(at, ']', n), *from = bracket ? bracket : at;
        const bool has_port = memchr(from, ':', n - (size_t)(from - at)) != NULL;
        _cleanup_free_ char *authority = mem_printf("%.*s%s", (int)n, at, has_port ? "" : ":80");

        if (memchr(at, '@', n) || host_port_parse(authority, server, NULL) < 0)
                return NULL;
        return at + n;
}

static void plain_put_request(struct buf *out, const struct http_request *q, const struct host_port *server,
                              const char *target)
{
        char host[300];
        const char *method = q->method ? q->method : q->body || q->body_len ? "POST" : "GET";

        buf_printf(out, "%s %s%.*s HTTP/1.1\r\nHost: %s\r\nUser-Agent: Firesteel\r\n", method,
                   *target == '/' ? "" : "/", (int)strcspn(target, "#"), target,
                   host_port_text(server->host, server->port, host, sizeof(host)));
        for (const char *const *h = q->headers; h && *h; h++)
                buf_printf(out, "%s\r\n", *h);
        if (q->bearer) {
                buf_printf(out, "Authorization: Bearer %s\r\n", q->bearer);
        } else if (q->user_password) {
                buf_puts(out, "Authorization: Basic ");
                base64_put(out, q->user_password, strlen(q->user_password));
                buf_puts(out, "\r\n");
        }
        if (q->body || q->body_len || method[0] == 'P')
                buf_printf(out, "Content-Length: %zu\r\n", q->body_len);
        buf_puts(out, "\r\n");
        if (q->body_len)
                buf_append(out, q->body, q->body_len);
}

static struct plain_connection *plain_connection_new(struct plain_multi *m, const struct host_port *server,
                                                     const struct http_request *q)
{
        struct plain_connection *k = new0(struct plain_connection);

        k->multi = m;
        k->server = *server;
        k->unix_socket = mem_strdup_if(q->unix_socket);
        k->fd = -1;
        k->stream = q->sink || q->fresh;
        k->connect_deadline =
                now_ns() + (q->connect_timeout_ms ? q->connect_timeout_ms : HTTP_CONNECT_TIMEOUT_MS) * 1000000;
        plain_connection_expect_answer(k);
        list_append(&m->connections, k);
        return k;
}

static bool plain_connection_leads_to(const struct plain_connection *k, const struct host_port *server,
                                      const char *unix_socket)
{
        if (unix_socket || k->unix_socket)
                return unix_socket && k->unix_socket && strcmp(unix_socket, k->unix_socket) == 0;
        return k->server.port == server->port && strcmp(k->server.host, server->host) == 0;
}

/* A connection that may take the request now, or NULL. */
static struct plain_connection *plain_multi_find(const struct plain_multi *m, const struct host_port *server,
                                                 const struct http_request *q, bool pipeline)
{
        for (struct plain_connection *k = m->connections.first; k; k = k->next)
                if (!k->stream && plain_connection_leads_to(k, server, q->unix_socket) &&
                    (pipeline || (k->state == PLAIN_OPEN && !k->requests.first)))
                        return k;
        return NULL;
}

/* Opens a connection. NULL: that failed at once, with *@result. */
static struct plain_connection *plain_multi_connect(struct plain_multi *m, const struct host_port *server,
                                                    const struct http_request *q, int *result)
{
        struct plain_connection *k = plain_connection_new(m, server, q);

        *result = plain_connection_resolve(k);
        if (*result == 0)
                return k;
        plain_connection_free(k);
        return NULL;
}

static int plain_multi_begin(struct http_multi *multi, const struct http_request *q, struct http_receiver *receiver,
                             unsigned how, void *owner, struct http_easy **out, char *message, size_t size)
{
        struct plain_multi *m = plain_multi_of(multi);
        const char *refusal = plain_refusal(q);
        struct host_port server;
        const char *target = refusal ? NULL : plain_target(q->url, &server);
        int r = 0;

        if (!target) {
                snprintf(message, size, "%s", refusal ? refusal : "this is not a URL of a server");
                return -EINVAL;
        }
        struct plain_connection *k =
                q->sink || q->fresh ? NULL : plain_multi_find(m, &server, q, (how & HTTP_PIPELINE) != 0);
        receiver->connections = k ? 0 : 1;
        if (!k && !(k = plain_multi_connect(m, &server, q, &r))) {
                snprintf(message, size, "the host cannot be looked up");
                return r;
        }
        struct plain_request *e = new0(struct plain_request);
        *e = (struct plain_request){
                .multi = m,
                .connection = k,
                .receiver = receiver,
                .owner = owner,
                .begin = k->sent + (k->out.len - k->written),
                .deadline = q->timeout_ms > 0 ? now_ns() + q->timeout_ms * 1000000 : NEVER,
                .stall_ns = q->stall_timeout_ms < 0
                                    ? NEVER
                                    : (q->stall_timeout_ms ? q->stall_timeout_ms : HTTP_STALL_TIMEOUT_MS) * 1000000};
        if (!k->requests.first)
                k->active = now_ns();
        list_append(&k->requests, e);
        plain_put_request(&k->out, q, &server, target);
        if (k->state == PLAIN_OPEN)
                plain_connection_flush(k);
        plain_multi_set_timer(m);
        *out = (struct http_easy *)e;
        return 0;
}

static void plain_multi_end(struct http_easy *easy)
{
        struct plain_request *e = (struct plain_request *)easy;
        struct plain_multi *m = e->multi;
        struct plain_connection *k = e->connection;

        if (!k) {
                list_remove(&m->finished, e);
                free(e);
        } else if (k->requests.first == k->requests.last) {
                list_remove(&k->requests, e);
                free(e);
                plain_connection_free(k);
        } else {
                e->receiver = NULL;
                e->deadline = e->stall_ns = NEVER;
        }
        plain_multi_set_timer(m);
}

static void plain_multi_act(struct http_multi *multi, int fd, int events)
{
        struct plain_multi *m = plain_multi_of(multi);
        const int64_t now = now_ns();

        for (struct plain_connection *k = m->connections.first, *next; k; k = next) {
                next = k->next;
                if (fd < 0) {
                        plain_connection_check(k, now);
                } else if (k->fd == fd) {
                        plain_connection_act(k, events);
                        break;
                }
        }
        plain_multi_set_timer(m);
}

static bool plain_multi_next(struct http_multi *multi, void **owner, int *result, char *message, size_t size)
{
        struct plain_request *e = list_pop(&plain_multi_of(multi)->finished);

        if (!e)
                return false;
        *owner = e->owner;
        *result = e->result;
        snprintf(message, size, "%s", e->message);
        free(e);
        return true;
}

/* All requests that have a receiver have ended. */
static void plain_multi_free(struct http_multi *multi)
{
        struct plain_multi *m = plain_multi_of(multi);

        while (m->connections.first)
                plain_connection_fail(m->connections.first, -ECANCELED, "");
        free(m);
}

const struct http_ops http_plain_multi_ops = {
        .abi = HTTP_ABI,
        .multi_new = plain_multi_new,
        .multi_free = plain_multi_free,
        .multi_begin = plain_multi_begin,
        .multi_end = plain_multi_end,
        .multi_act = plain_multi_act,
        .multi_next = plain_multi_next,
};
