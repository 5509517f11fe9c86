/* Sockets: listening on a port or one of the next, connecting with a timeout, and the text form of hosts and ports.
 *
 * Everything is TCP over IPv4 or IPv6. Descriptors are non-blocking and close-on-exec.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

struct fst_error;

/* The parts of "host:port". */
struct host_port {
        char host[256]; /* a name or an address, without brackets */
        int port;
};

/* Parses "host:port", "192.0.2.7:7077" or "[2001:db8::1]:7077". Returns 0, or -EINVAL with @error naming @text.
 * Refuses an IPv6 address without brackets, whose port would be ambiguous.
 */
int host_port_parse(const char *text, struct host_port *out, struct fst_error *error);

/* Writes "host:port", with brackets around an IPv6 address, into @text of @size bytes, and returns @text. */
const char *host_port_text(const char *host, int port, char *text, size_t size);

/* The address of a socket's other end (@peer) or own end as host_port_text writes it; "socket" for other families. */
const char *socket_name(int fd, bool peer, char *text, size_t size);

struct listen_options {
        const char *service; /* "sparkDriver": named in log lines and errors */
        const char *host;    /* name or address to bind; NULL or "": all addresses */
        int port;            /* spark.port.maxRetries: number of further ports to try if one is in use */
        int max_retries;     /* spark.port.maxRetries: how many further ports are tried when one is taken */
        bool any_port;       /* if all of them are taken, listens on a free one; tries without warnings */
        int backlog;         /* of connections not accepted yet; 0: the system's maximum */
};

/* Listens. If a port is in use, tries the next one (1024 after 65535), at most @max_retries times, with a WARN line
 * each, as Spark does. Returns the descriptor, and the port in *@port; or negative with @error, which names the key
 * to change.
 */
int socket_listen(const struct listen_options *options, int *port, struct fst_error *error);

/* Accepts a connection, without pacing (socket_end_pacing). Returns a descriptor, -EAGAIN if there is none, or negative: after -EMFILE and similar errors
 * the connection stays queued, and the caller should wait before it tries again.
 */
int socket_accept(int listener);

/* True if both ends of a connection have the same address: the peer is on this host. False if it is not connected. */
bool socket_is_within_host(int fd);

/* Takes BBR, if that is the system's congestion control, off a connection within this host: BBR paces what it sends, and
 * loopback then carries a third of the bytes a second, with twice the CPU time of both ends. Errors are ignored.
 */
void socket_end_pacing(int fd);

/* Starts to connect to an address. Returns the descriptor, which becomes writable when the connection is established
 * or has failed (see socket_connected), or negative with @error.
 */
int socket_connect_start(const struct sockaddr *address, socklen_t length, struct fst_error *error);

/* The result of connecting: 0, or a negative errno. */
int socket_connected(int fd);

/* Connects to a host by name or address, trying each of its addresses, and waits; @timeout_ns limits all of them
 * together, negative: the system's limit. Checks *@stopped (atomic, may be NULL) every 20 ms, except while resolving
 * a name. Returns the descriptor, or negative with @error naming host and port: -ETIMEDOUT, -ECANCELED,
 * -ECONNREFUSED, -ENOENT for an unknown name, …
 */
int socket_connect(const char *host, int port, int64_t timeout_ns, const int *stopped, struct fst_error *error);

/* Waits for one of @events (POLLIN, POLLOUT) or a closed peer. Returns 1; 0 after @timeout_ns (negative: never);
 * -ECANCELED when *@stopped was set; or negative. For threads that may block.
 */
int socket_wait(int fd, int events, int64_t timeout_ns, const int *stopped);

/* The name of this host for other hosts, by Spark's rule: SPARK_LOCAL_HOSTNAME, else SPARK_LOCAL_IP, else the address
 * of the host's own name, unless that is a loopback address: then the first address of an interface that is up, IPv4
 * before IPv6. Never NULL; the caller owns it.
 */
char *socket_local_host(void);
