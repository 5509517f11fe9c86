/*
 * A minimal HTTP/2 server without TLS (behind net/tls_fixture.h) for tests of concurrent requests on one connection. It
 * ignores the compressed headers. The body of a request selects the reply, which repeats the body:
 *
 *      "…"            replies at once, with "ok" to a request without a body
 *      "together N"   replies when N of these requests are pending
 *      "reset"        resets the stream
 *      "refused"      resets the stream, and reports the request as unprocessed
 *      "away"         sends GOAWAY and closes the connection
 *      "never"        does not reply
 *
 * Serves at most 64 connections in all, each on its own thread.
 */
#pragma once

#include "base/buf.h"
#include "base/mem.h"
#include "net/http/http_fixture.h"

#include <arpa/inet.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#define HTTP2_FIXTURE_STREAMS 4096

struct http2_fixture {
        int port, listening, connections, most; /* requests pending at the same time */
        _Atomic int requests;                   /* also read by the test */
        pthread_t thread;
        struct http2_connection {
                struct http2_fixture *server;
                int fd;
                pthread_t thread;
                struct buf in, body[HTTP2_FIXTURE_STREAMS]; /* by half of the stream id */
                unsigned waiting[HTTP2_FIXTURE_STREAMS], n_waiting;
        } * connection[64];
};

static inline bool http2_send(int fd, unsigned type, unsigned flags, unsigned stream, const void *data, size_t n)
{
        unsigned char head[9] = {
                (unsigned char)(n >> 16),      (unsigned char)(n >> 8),      (unsigned char)n,
                (unsigned char)type,           (unsigned char)flags,         (unsigned char)(stream >> 24),
                (unsigned char)(stream >> 16), (unsigned char)(stream >> 8), (unsigned char)stream};
        _cleanup_(buf_deinit) struct buf out = BUF_INIT;
        buf_append(&out, head, sizeof(head));
        buf_append(&out, data, n);
        for (size_t sent = 0; sent < out.len;) {
                ssize_t w = send(fd, out.data + sent, out.len - sent, MSG_NOSIGNAL);
                if (w <= 0)
                        return false;
                sent += (size_t)w;
        }
        return true;
}

static inline void http2_answer(struct http2_connection *c, unsigned stream)
{
        struct buf *body = &c->body[stream / 2 % HTTP2_FIXTURE_STREAMS];
        const char *text = body->len ? body->data : "ok";
        http2_send(c->fd, 1, 4, stream, "\x88", 1); /* :status 200 */
        http2_send(c->fd, 0, 1, stream, text, strlen(text));
        buf_deinit(body);
}

static inline bool http2_request(struct http2_connection *c, unsigned stream)
{
        const char *text = buf_text(&c->body[stream / 2 % HTTP2_FIXTURE_STREAMS]);
        unsigned n;
        c->server->requests++;
        if (sscanf(text, "together %u", &n) == 1) {
                c->waiting[c->n_waiting++] = stream;
                if ((int)c->n_waiting > c->server->most)
                        c->server->most = (int)c->n_waiting;
                if (c->n_waiting == n) {
                        for (unsigned i = 0; i < n; i++)
                                http2_answer(c, c->waiting[i]);
                        c->n_waiting = 0;
                }
        } else if (strcmp(text, "reset") == 0 || strcmp(text, "refused") == 0) {
                return http2_send(c->fd, 3, 0, stream, text[2] == 's' ? "\0\0\0\2" : "\0\0\0\7", 4);
        } else if (strcmp(text, "away") == 0) {
                http2_send(c->fd, 7, 0, 0, "\0\0\0\0\0\0\0\0", 8);
                return false;
        } else if (strcmp(text, "never") != 0) {
                http2_answer(c, stream);
        }
        return true;
}

static inline bool http2_frame(struct http2_connection *c, unsigned type, unsigned flags, unsigned stream,
                               const char *data, size_t n)
{
        if (type == 4 && !(flags & 1))
                return http2_send(c->fd, 4, 1, 0, NULL, 0);
        if (type == 6 && !(flags & 1))
                return http2_send(c->fd, 6, 1, 0, data, n);
        if (type == 0 && n > 0) { /* send a window update for these bytes */
                unsigned char more[4] = {0, (unsigned char)(n >> 16), (unsigned char)(n >> 8), (unsigned char)n};
                buf_append(&c->body[stream / 2 % HTTP2_FIXTURE_STREAMS], data, n);
                http2_send(c->fd, 8, 0, 0, more, 4);
                http2_send(c->fd, 8, 0, stream, more, 4);
        }
        return (type != 0 && type != 1) || !(flags & 1) || http2_request(c, stream);
}

static inline void *http2_connection_main(void *argument)
{
        struct http2_connection *c = argument;
        size_t at = 24; /* after the preface */
        char piece[16384];
        http2_send(c->fd, 4, 0, 0, NULL, 0);
        for (bool on = true; on;) {
                ssize_t got = recv(c->fd, piece, sizeof(piece), 0);
                if (got <= 0)
                        break;
                buf_append(&c->in, piece, (size_t)got);
                while (on && c->in.len >= at + 9) {
                        const unsigned char *h = (const unsigned char *)c->in.data + at;
                        size_t n = (size_t)h[0] << 16 | (size_t)h[1] << 8 | h[2];
                        if (c->in.len < at + 9 + n)
                                break;
                        unsigned stream = (unsigned)h[5] << 24 | (unsigned)h[6] << 16 | (unsigned)h[7] << 8 | h[8];
                        on = http2_frame(c, h[3], h[4], stream, (const char *)h + 9, n);
                        at += 9 + n;
                }
        }
        shutdown(c->fd, SHUT_RDWR);
        return NULL;
}

static inline void *http2_fixture_main(void *argument)
{
        struct http2_fixture *server = argument;
        int fd;
        while (server->connections < (int)ARRAY_SIZE(server->connection) &&
               (fd = accept4(server->listening, NULL, NULL, SOCK_CLOEXEC)) >= 0) {
                struct http2_connection *c = new0(struct http2_connection);
                c->server = server;
                c->fd = fd;
                server->connection[server->connections] = c;
                if (pthread_create(&c->thread, NULL, http2_connection_main, c) != 0)
                        abort();
                __atomic_add_fetch(&server->connections, 1, __ATOMIC_SEQ_CST);
        }
        return NULL;
}

static inline void http2_fixture_start(struct http2_fixture *server)
{
        *server = (struct http2_fixture){0};
        server->listening = fixture_listen(&server->port);
        if (pthread_create(&server->thread, NULL, http2_fixture_main, server) != 0)
                abort();
}

static inline void http2_fixture_stop(struct http2_fixture *server)
{
        shutdown(server->listening, SHUT_RDWR);
        pthread_join(server->thread, NULL);
        close(server->listening);
        for (int i = 0; i < server->connections; i++) {
                struct http2_connection *c = server->connection[i];
                shutdown(c->fd, SHUT_RDWR);
                pthread_join(c->thread, NULL);
                close(c->fd);
                for (size_t j = 0; j < HTTP2_FIXTURE_STREAMS; j++)
                        buf_deinit(&c->body[j]);
                buf_deinit(&c->in);
                free(c);
        }
}
