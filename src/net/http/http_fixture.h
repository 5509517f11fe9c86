/*
 * An HTTP/1.1 server on loopback for tests. The test's function replies to requests, on the server's threads.
 *
 *      static void serve(struct fixture_exchange *x) { fixture_answer(x, 200, "X-A: b\r\n", "hello"); }
 *      struct http_fixture server;
 *      http_fixture_start(&server, serve);      // its address is server.url, "http://127.0.0.1:PORT"
 *      http_fixture_stop(&server);
 *
 * Each of at most HTTP_FIXTURE_CONNECTIONS connections has its own thread, so several threads may call the function at
 * once.
 */
#pragma once

#include "base/buf.h"
#include "base/mem.h"

#include <arpa/inet.h>
#include <pthread.h>
#include <stdio.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#ifndef HTTP_FIXTURE_CONNECTIONS
#define HTTP_FIXTURE_CONNECTIONS 64
#endif

struct http_fixture;

struct fixture_exchange {
        struct http_fixture *server;
        char method[16], target[2048]; /* "GET", "/path?query" */
        const char *head;              /* request line and headers */
        const char *body;              /* with an uncounted final NUL */
        size_t body_len;
        struct buf out; /* the reply */
        bool close;     /* closes the connection after this reply */
};

typedef void (*fixture_fn)(struct fixture_exchange *x);

struct http_fixture {
        char url[64];
        int port, listening, connections;
        _Atomic int requests; /* also read by the test */
        fixture_fn serve;
        void *context;
        pthread_t thread;
        struct fixture_connection {
                struct http_fixture *server;
                int fd;
                pthread_t thread;
        } connection[HTTP_FIXTURE_CONNECTIONS];
};

/* Replies. @headers has lines that end in "\r\n", or is "". */
static inline void fixture_answer_bytes(struct fixture_exchange *x, int status, const char *headers, const void *body,
                                        size_t len)
{
        buf_printf(&x->out, "HTTP/1.1 %d Said So\r\nContent-Length: %zu\r\n%s\r\n", status, len, headers);
        if (strcmp(x->method, "HEAD") != 0)
                buf_append(&x->out, body, len);
}

static inline void fixture_answer(struct fixture_exchange *x, int status, const char *headers, const char *body)
{
        fixture_answer_bytes(x, status, headers, body, strlen(body));
}

/* Copies the value of a request's header to @value. Returns false if it is missing. */
static inline bool fixture_header(const struct fixture_exchange *x, const char *name, char *value, size_t size)
{
        size_t n = strlen(name);
        for (const char *line = x->head; line && *line; line = strchr(line, '\n'), line = line ? line + 1 : NULL) {
                if (strncasecmp(line, name, n) == 0 && line[n] == ':') {
                        const char *start = line + n + 1 + strspn(line + n + 1, " ");
                        snprintf(value, size, "%.*s", (int)strcspn(start, "\r\n"), start);
                        return true;
                }
        }
        return false;
}

/* Reads until @in has @need bytes, or a complete head if @need is 0. Returns the length, or 0 at the end of stream. */
static inline size_t fixture_read(int fd, struct buf *in, size_t need)
{
        char piece[4096];
        for (;;) {
                const char *end = need ? NULL : strstr(buf_text(in), "\r\n\r\n");
                if (end || (need && in->len >= need))
                        return need ? need : (size_t)(end + 4 - in->data);
                ssize_t n = recv(fd, piece, sizeof(piece), 0);
                if (n <= 0)
                        return 0;
                buf_append(in, piece, (size_t)n);
        }
}

/*
 * Reads the chunks of a body from @at into *@body. Returns the position of their end in @in, or 0 at the end of stream.
 */
static inline size_t fixture_read_chunks(int fd, struct buf *in, size_t at, struct buf *body)
{
        for (;;) {
                while (!memmem(in->data + at, in->len - at, "\r\n", 2))
                        if (fixture_read(fd, in, in->len + 1) == 0)
                                return 0;
                size_t n = strtoul(in->data + at, NULL, 16);
                at = (size_t)((char *)memmem(in->data + at, in->len - at, "\r\n", 2) + 2 - in->data);
                if (fixture_read(fd, in, at + n + 2) == 0)
                        return 0;
                buf_append(body, in->data + at, n);
                at += n + 2;
                if (n == 0)
                        return at;
        }
}

static inline void fixture_serve(struct http_fixture *server, int fd)
{
        _cleanup_(buf_deinit) struct buf in = BUF_INIT;
        for (bool done = false; !done;) {
                size_t head = fixture_read(fd, &in, 0);
                if (head == 0)
                        return;
                struct fixture_exchange x = {.server = server};
                _cleanup_free_ char *head_text = mem_strndup(in.data, head);
                char length[32];
                x.head = head_text;
                sscanf(head_text, "%15s %2047s", x.method, x.target);
                if (fixture_header(&x, "Content-Length", length, sizeof(length)))
                        x.body_len = strtoul(length, NULL, 10);
                _cleanup_(buf_deinit) struct buf body = BUF_INIT;
                bool chunked = fixture_header(&x, "Transfer-Encoding", length, sizeof(length));
                size_t end =
                        chunked ? fixture_read_chunks(fd, &in, head, &body) : fixture_read(fd, &in, head + x.body_len);
                if (end == 0)
                        return;
                if (!chunked)
                        buf_append(&body, in.data + head, x.body_len);
                x.body = buf_text(&body);
                x.body_len = body.len;
                memmove(in.data, in.data + end, in.len - end);
                buf_truncate(&in, in.len - end);
                server->requests++;
                server->serve(&x);
                for (size_t sent = 0; sent < x.out.len;) {
                        ssize_t n = send(fd, x.out.data + sent, x.out.len - sent, MSG_NOSIGNAL);
                        if (n <= 0)
                                break;
                        sent += (size_t)n;
                }
                done = x.close;
                buf_deinit(&x.out);
        }
}

static inline void *fixture_connection_main(void *argument)
{
        struct fixture_connection *c = argument;
        fixture_serve(c->server, c->fd);
        shutdown(c->fd, SHUT_RDWR); /* closed when the server stops */
        return NULL;
}

static inline void *fixture_main(void *argument)
{
        struct http_fixture *server = argument;
        int fd;
        while (server->connections < (int)ARRAY_SIZE(server->connection) &&
               (fd = accept4(server->listening, NULL, NULL, SOCK_CLOEXEC)) >= 0) {
                struct fixture_connection *c = &server->connection[server->connections];
                *c = (struct fixture_connection){.server = server, .fd = fd};
                /* Count first, because a client with a reply may read the count. */
                __atomic_add_fetch(&server->connections, 1, __ATOMIC_SEQ_CST);
                if (pthread_create(&c->thread, NULL, fixture_connection_main, c) != 0)
                        abort();
        }
        return NULL;
}

/* Listens at a free port of 127.0.0.1. Aborts if that fails. */
static inline int fixture_listen(int *port)
{
        struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
        socklen_t len = sizeof(address);
        int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (fd < 0 || bind(fd, (struct sockaddr *)&address, len) < 0 || listen(fd, 16) < 0 ||
            getsockname(fd, (struct sockaddr *)&address, &len) < 0) {
                perror("fixture");
                abort();
        }
        *port = ntohs(address.sin_port);
        return fd;
}

static inline void http_fixture_start(struct http_fixture *server, fixture_fn serve)
{
        *server = (struct http_fixture){.serve = serve};
        server->listening = fixture_listen(&server->port);
        if (pthread_create(&server->thread, NULL, fixture_main, server) != 0)
                abort();
        snprintf(server->url, sizeof(server->url), "http://127.0.0.1:%d", server->port);
}

static inline void http_fixture_stop(struct http_fixture *server)
{
        shutdown(server->listening, SHUT_RDWR); /* ends accept */
        pthread_join(server->thread, NULL);
        close(server->listening);
        for (int i = 0; i < server->connections; i++) {
                shutdown(server->connection[i].fd, SHUT_RDWR);
                pthread_join(server->connection[i].thread, NULL);
                close(server->connection[i].fd);
        }
}
