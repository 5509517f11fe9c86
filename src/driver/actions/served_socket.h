/*
 * A socket on which the driver serves rows to one client of the same machine, such as the driver program of a binding.
 *
 * Protocol: over TCP on the loopback interface, the client first sends the secret with its length (int32, big-endian);
 * the answer is "ok" or "err" with its length. After "err" the connection is closed, and the server accepts the next
 * one. A Unix socket has mode 0600 and no handshake. As in Spark's SocketAuthServer and pyspark.
 *
 * Threads: one, which may block. Waits end with -ECANCELED when *stopped is set.
 */
#pragma once

#include "base/error.h"
#include "net/secret.h"

#include <stddef.h>
#include <stdint.h>

struct page;

struct served_socket {
        int listener, fd;         /* -1: none */
        int port;                 /* TCP */
        char secret[SECRET_TEXT]; /* TCP; hexadecimal */
        char *path;               /* Unix socket; NULL: TCP */
        const int *stopped;       /* atomic */
        char *buffer;             /* bytes to send */
        size_t used;
};

/* Listens in directory @dir, or on a free TCP port if @dir is NULL. Returns 0, or negative with @error. */
int served_socket_open(struct served_socket *s, const char *dir, const int *stopped, struct fst_error *error);

/* Waits at most @timeout_ms for an authenticated client, then stops listening. Returns 0, or negative with @error. */
int served_socket_accept(struct served_socket *s, int64_t timeout_ms, struct fst_error *error);

/* Reads an int32. Returns 0, -EPIPE if the client has closed, or negative. */
int served_socket_read_int(struct served_socket *s, int32_t *value);

/* Append to the buffer, and send what is full. Return 0, or negative: -EPIPE or -ECONNRESET if the client has gone. */
int served_socket_put(struct served_socket *s, const void *data, size_t len);
int served_socket_put_int(struct served_socket *s, int32_t value);

/* Appends the bytes of all rows of BYTES in the list *@pages, and frees each page that was sent. Returns as put. */
int served_socket_put_rows(struct served_socket *s, struct page **pages);

/* Sends the buffer. Returns as put. */
int served_socket_flush(struct served_socket *s);

/* Closes everything and removes the path. Keeps the texts until served_socket_deinit. */
void served_socket_close(struct served_socket *s);
void served_socket_deinit(struct served_socket *s);
