/*
 * A byte stream to a server of http or https, for protocols that a connection is upgraded to: libcurl connects, through
 * proxies, and verifies certificates; the caller writes the request and reads the answer.
 *
 *      r = http_tunnel_open(&(struct http_request){.url = "https://10.0.0.1:6443"}, &tunnel, error);
 *      r = http_tunnel_write(tunnel, text, n, error);
 *      while ((n = http_tunnel_read(tunnel, buffer, sizeof(buffer), error)) == -EAGAIN)
 *              poll(http_tunnel_fd(tunnel), POLLIN);
 *      http_tunnel_close(tunnel);
 *
 * One thread at a time.
 */
#pragma once

#include "net/http/http.h"

#include <sys/types.h>

struct http_tunnel;

/*
 * Connects to the host of the URL. Nothing is sent beyond TLS and the proxy's CONNECT. Of @request, which is borrowed
 * for the call, address, proxy, certificates and the time to connect apply. Errors: those of http_perform.
 */
int http_tunnel_open(const struct http_request *request, struct http_tunnel **out, struct fst_error *error);
void http_tunnel_close(struct http_tunnel *tunnel); /* NULL is allowed */

/* For poll(2). Read until -EAGAIN before: TLS may hold bytes that arrived. */
int http_tunnel_fd(const struct http_tunnel *tunnel);

/* Returns the number of bytes read, 0 at the end of the stream, -EAGAIN if there are none now, or negative with @error.
 */
ssize_t http_tunnel_read(struct http_tunnel *tunnel, void *buffer, size_t n, struct fst_error *error);

/* Writes all. Waits while the server does not read, at most HTTP_STALL_TIMEOUT_MS for a byte: -ETIMEDOUT. */
int http_tunnel_write(struct http_tunnel *tunnel, const void *data, size_t n, struct fst_error *error);
