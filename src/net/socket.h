/*
 * Sockets: listening on a port or one of the next ones, connecting within a time, and how hosts and ports are written.
 *
 * Everything is TCP over IPv4 or IPv6. Descriptors are non-blocking and close-on-exec.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

struct fst_error;

/* "host:port" in parts. */
struct host_port {
        char host[256]; /* a name or an address, without brackets */
        int port;
};

/*
 * Read "host:port", "192.0.2.7:7077" or "[2001:db8::1]:7077". 0, or -EINVAL with @error naming @text. An IPv6 address
 * without brackets is refused, because where its port begins could not be told.
 */
int host_port_parse(const char *text, struct host_port *out, struct fst_error *error);

/* "host:port", with brackets around an IPv6 address, into @text of @size bytes, which is what is returned. */
const char *host_port_text(const char *host, int port, char *text, size_t size);

/* The address of a socket's other end (@peer) or own end as host_port_text writes it; "socket" for other families. */
const char *socket_name(int fd, bool peer, char *text, size_t size);

struct listen_options {
        const char *service; /* "sparkDriver": named in log lines and errors */
        const char *host;    /* name or address to bind; NULL or "": all addresses */
        int port;            /* 0: any */
        int max_retries;     /* spark.port.maxRetries: how many further ports are tried when one is taken */
        int backlog;         /* of connections that were not accepted yet; 0: the system's most */
};

/*
 * Listen. A port that is taken is followed by the next one, after 65535 by 1024, at most @max_retries times, with a
 * WARN line each, as Spark does. Returns the descriptor, the port in *@port; or negative with @error set, which says
 * which key to change.
 */
int socket_listen(const struct listen_options *options, int *port, struct fst_error *error);

/*
 * Accept one connection: a descriptor, -EAGAIN if there is none, or negative: with -EMFILE and the like the connection
 * stays where it is, and the caller waits a little before it asks again.
 */
int socket_accept(int listener);

/*
 * Begin to connect to an address: the descriptor, which becomes writable when the connection stands or has failed
 * (socket_connected tells), or negative with @error set.
 */
int socket_connect_start(const struct sockaddr *address, socklen_t length, struct fst_error *error);

/* What became of it: 0, or a negative errno. */
int socket_connected(int fd);

/*
 * Connect to a host by name or address, trying each of its addresses, and wait for it; @timeout_ns is for all of them
 * together, negative: the system's. Looks at *@stopped (atomic, may be NULL) every 20 ms, though not while a name is
 * resolved. Returns the descriptor, or negative with @error naming host and port: -ETIMEDOUT, -ECANCELED,
 * -ECONNREFUSED, -ENOENT for an unknown name, …
 */
int socket_connect(const char *host, int port, int64_t timeout_ns, const int *stopped, struct fst_error *error);

/*
 * Wait until one of @events (POLLIN, POLLOUT) is there or the other end is gone: 1; 0 after @timeout_ns (negative:
 * never); -ECANCELED when *@stopped was set; or negative. For threads that block.
 */
int socket_wait(int fd, int events, int64_t timeout_ns, const int *stopped);

/*
 * The name under which other hosts may reach this one, as Spark finds it: SPARK_LOCAL_HOSTNAME, else SPARK_LOCAL_IP,
 * else the address that the host's own name stands for, unless that is of the loopback, then the first address of an
 * interface that is up, IPv4 before IPv6. Never NULL; the caller owns it.
 */
char *socket_local_host(void);
