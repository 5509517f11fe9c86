/* TCP sockets. Ports are retried as in Spark. */
#include "net/socket.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "base/mem.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#define UNPACED "reno"               /* every Linux kernel has it, and allows it to every user */
#define STOP_LOOK_NS (20 * 1000000L) /* interval at which a waiting thread checks its stop flag */

/* Characters invalid in host names and addresses: blanks, control characters, the delimiters of a URI. */
static bool host_has_bad_character(const char *host, size_t length)
{
        for (size_t i = 0; i < length; i++)
                if ((unsigned char)host[i] <= ' ' || host[i] == 127 || strchr("/?#@\"<>\\^`{|}", host[i]))
                        return true;
        return false;
}

int host_port_parse(const char *text, struct host_port *out, struct fst_error *error)
{
        const char *host = text, *end, *colon;
        if (*text == '[') {
                host = text + 1;
                end = strchr(host, ']');
                colon = end ? end + 1 : NULL;
        } else {
                colon = end = strrchr(text, ':');
                if (colon && memchr(text, ':', (size_t)(colon - text)))
                        return error_set(error, -EINVAL, "\"%s\": write an IPv6 address in brackets, as [::1]:7077",
                                         text);
        }
        if (!colon || *colon != ':' || end == host)
                return error_set(error, -EINVAL, "\"%s\" is not of the form host:port", text);
        size_t len = (size_t)(end - host);
        if (host_has_bad_character(host, len))
                return error_set(error, -EINVAL, "\"%s\": the host name has an invalid character", text);
        if (len >= sizeof(out->host))
                return error_set(error, -EINVAL, "\"%.64s…\": the host name is too long", text);
        int port = 0, digits = 0;
        for (const char *p = colon + 1; *p; p++, digits++) {
                if (*p < '0' || *p > '9' || digits == 5)
                        return error_set(error, -EINVAL, "\"%s\": the port must be from 0 to 65535", text);
                port = port * 10 + (*p - '0');
        }
        if (digits == 0 || port > 65535)
                return error_set(error, -EINVAL, "\"%s\": the port must be from 0 to 65535", text);
        memcpy(out->host, host, len);
        out->host[len] = '\0';
        out->port = port;
        return 0;
}

const char *host_port_text(const char *host, int port, char *text, size_t size)
{
        bool brackets = strchr(host, ':') != NULL;
        snprintf(text, size, "%s%s%s:%d", brackets ? "[" : "", host, brackets ? "]" : "", port);
        return text;
}

const char *socket_name(int fd, bool peer, char *text, size_t size)
{
        struct sockaddr_storage address;
        socklen_t length = sizeof(address);
        char host[INET6_ADDRSTRLEN];
        int r = peer ? getpeername(fd, (struct sockaddr *)&address, &length)
                     : getsockname(fd, (struct sockaddr *)&address, &length);
        if (r == 0 && address.ss_family == AF_INET) {
                struct sockaddr_in *in = (struct sockaddr_in *)&address;
                inet_ntop(AF_INET, &in->sin_addr, host, sizeof(host));
                return host_port_text(host, ntohs(in->sin_port), text, size);
        }
        if (r == 0 && address.ss_family == AF_INET6) {
                struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)&address;
                if (IN6_IS_ADDR_V4MAPPED(&in6->sin6_addr))
                        inet_ntop(AF_INET, in6->sin6_addr.s6_addr + 12, host, sizeof(host));
                else
                        inet_ntop(AF_INET6, &in6->sin6_addr, host, sizeof(host));
                return host_port_text(host, ntohs(in6->sin6_port), text, size);
        }
        snprintf(text, size, "socket");
        return text;
}

static int socket_resolve(const char *host, int port, int flags, struct addrinfo **out, struct fst_error *error)
{
        struct addrinfo hints = {
                .ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM, .ai_flags = flags | AI_NUMERICSERV};
        char service[8];
        snprintf(service, sizeof(service), "%d", port);
        int r = getaddrinfo(host, service, &hints, out);
        if (r == 0)
                return 0;
        return error_set(error, r == EAI_AGAIN ? -EAGAIN : -ENOENT, "cannot find the host \"%s\": %s", host ? host : "",
                         gai_strerror(r));
}

/* ------------------------------------------------------------------------------------------------ listening */

static int listen_on(const struct addrinfo *address, int port, int backlog)
{
        int fd = socket(address->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
        if (fd < 0)
                return -errno;
        struct sockaddr_storage bound;
        int one = 1, zero = 0;
        memcpy(&bound, address->ai_addr, address->ai_addrlen);
        if (address->ai_family == AF_INET6) {
                ((struct sockaddr_in6 *)&bound)->sin6_port = htons((uint16_t)port);
                setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &zero, sizeof(zero)); /* "::" listens on IPv4 and IPv6 */
        } else {
                ((struct sockaddr_in *)&bound)->sin_port = htons((uint16_t)port);
        }
        setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
        if (bind(fd, (struct sockaddr *)&bound, address->ai_addrlen) < 0 || listen(fd, backlog) < 0) {
                int r = -errno;
                close(fd);
                return r;
        }
        return fd;
}

/* Returns the port of attempt @i. As in Spark, it wraps to the first unprivileged port after the last one. */
static int port_of_attempt(int port, int i)
{
        return port == 0 ? 0 : i == 0 ? port : (port + i - 1024) % (65536 - 1024) + 1024;
}

static int bound_port(int fd)
{
        struct sockaddr_storage address;
        socklen_t length = sizeof(address);
        if (getsockname(fd, (struct sockaddr *)&address, &length) < 0)
                return -errno;
        return ntohs(address.ss_family == AF_INET6 ? ((struct sockaddr_in6 *)&address)->sin6_port
                                                   : ((struct sockaddr_in *)&address)->sin_port);
}

static int listen_attempts(const struct listen_options *o, const struct addrinfo *addresses, struct fst_error *error)
{
        int backlog = o->backlog > 0 ? o->backlog : SOMAXCONN, r = -EADDRNOTAVAIL;
        const char *host = o->host && *o->host ? o->host : "all addresses";
        for (int i = 0; i <= o->max_retries; i++) {
                int port = port_of_attempt(o->port, i);
                for (const struct addrinfo *a = addresses; a; a = a->ai_next) {
                        r = listen_on(a, port, backlog);
                        if (r >= 0)
                                return r;
                        if (r == -EADDRINUSE)
                                break;
                }
                if (r != -EADDRINUSE)
                        break; /* another port would fail too */
                if (i < o->max_retries && o->port != 0)
                        log_at(o->any_port ? LOG_INFO : LOG_WARN, "Utils",
                               "Service '%s' could not bind on port %d. Attempting port %d.", o->service, port,
                               port_of_attempt(o->port, i + 1));
        }
        if (r == -EADDRINUSE && o->any_port && o->port != 0) {
                const struct listen_options any = {.service = o->service, .host = o->host, .backlog = o->backlog};
                return listen_attempts(&any, addresses, error);
        }
        if (r == -EADDRINUSE)
                return error_set(error, r,
                                 "Service '%s' failed after %d retries (starting from %d): the ports of %s are in use. "
                                 "Set another port for it, or raise spark.port.maxRetries.",
                                 o->service, o->max_retries, o->port, host);
        if (r == -EACCES)
                return error_set(error, r, "Service '%s' may not listen on port %d: ports below 1024 are privileged",
                                 o->service, o->port);
        if (r == -EADDRNOTAVAIL)
                return error_set(
                        error, r,
                        "Service '%s' cannot listen on %s: that is not an address of this host. Set another one "
                        "(--host of a daemon, spark.driver.bindAddress of a driver, or SPARK_LOCAL_IP).",
                        o->service, host);
        return error_set(error, r, "Service '%s' cannot listen on %s port %d: %s", o->service, host, o->port,
                         strerror(-r));
}

int socket_listen(const struct listen_options *options, int *port, struct fst_error *error)
{
        struct addrinfo *addresses = NULL;
        struct sockaddr_in6 any6 = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_ANY_INIT};
        struct sockaddr_in any4 = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_ANY)};
        struct addrinfo second = {
                .ai_family = AF_INET, .ai_addr = (struct sockaddr *)&any4, .ai_addrlen = sizeof(any4)};
        struct addrinfo first = {.ai_family = AF_INET6,
                                 .ai_addr = (struct sockaddr *)&any6,
                                 .ai_addrlen = sizeof(any6),
                                 .ai_next = &second};
        bool all = !options->host || !*options->host;
        int r = all ? 0 : socket_resolve(options->host, options->port, AI_PASSIVE, &addresses, error);
        if (r < 0)
                return error_wrap(error, r, "Service '%s' cannot listen", options->service);
        int fd = listen_attempts(options, all ? &first : addresses, error);
        if (addresses)
                freeaddrinfo(addresses);
        if (fd < 0)
                return fd;
        *port = bound_port(fd);
        return fd;
}

bool socket_is_within_host(int fd)
{
        struct sockaddr_storage own = {0}, peer = {0};
        socklen_t own_len = sizeof(own), peer_len = sizeof(peer);
        if (getsockname(fd, (struct sockaddr *)&own, &own_len) ||
            getpeername(fd, (struct sockaddr *)&peer, &peer_len) || own.ss_family != peer.ss_family)
                return false;
        if (own.ss_family == AF_INET)
                return ((struct sockaddr_in *)&own)->sin_addr.s_addr == ((struct sockaddr_in *)&peer)->sin_addr.s_addr;
        return own.ss_family == AF_INET6 &&
               memcmp(&((struct sockaddr_in6 *)&own)->sin6_addr, &((struct sockaddr_in6 *)&peer)->sin6_addr,
                      sizeof(struct in6_addr)) == 0;
}

void socket_end_pacing(int fd)
{
        char name[16] = ""; /* TCP_CA_NAME_MAX */
        socklen_t length = sizeof(name) - 1;
        if (getsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, name, &length) == 0 && strncmp(name, "bbr", 3) == 0 &&
            socket_is_within_host(fd))
                (void)setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, UNPACED, strlen(UNPACED));
}

int socket_accept(int listener)
{
        for (;;) {
                int fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
                if (fd >= 0) {
                        socket_end_pacing(fd);
                        return fd;
                }
                /* these errors concern a single, lost connection */
                if (errno != EINTR && errno != ECONNABORTED && errno != EPROTO && errno != ENETDOWN &&
                    errno != ENOPROTOOPT && errno != EHOSTDOWN && errno != ENONET && errno != EHOSTUNREACH &&
                    errno != EOPNOTSUPP && errno != ENETUNREACH)
                        return errno == EWOULDBLOCK ? -EAGAIN : -errno;
        }
}

/* ----------------------------------------------------------------------------------------------- connecting */

int socket_connect_start(const struct sockaddr *address, socklen_t length, struct fst_error *error)
{
        int fd = socket(address->sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
        if (fd < 0)
                return error_errno(error, "cannot make a socket");
        int r;
        do
                r = connect(fd, address, length);
        while (r < 0 && errno == EINTR);
        if (r < 0 && errno != EINPROGRESS) {
                r = error_errno(error, "cannot connect");
                close(fd);
                return r;
        }
        return fd;
}

int socket_connected(int fd)
{
        int code = 0;
        socklen_t length = sizeof(code);
        if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &code, &length) < 0)
                return -errno;
        return -code;
}

int socket_wait(int fd, int events, int64_t timeout_ns, const int *stopped)
{
        int64_t end = timeout_ns < 0 ? INT64_MAX : now_ns() + timeout_ns;
        for (;;) {
                if (stopped && __atomic_load_n(stopped, __ATOMIC_RELAXED))
                        return -ECANCELED;
                int64_t left = timeout_ns < 0 ? INT64_MAX : end - now_ns();
                if (left < 0)
                        left = 0;
                int64_t slice = stopped && left > STOP_LOOK_NS ? STOP_LOOK_NS : left;
                struct timespec wait = timespec_of_ns(slice);
                struct pollfd p = {.fd = fd, .events = (short)events};
                int r = ppoll(&p, 1, slice == INT64_MAX ? NULL : &wait, NULL);
                if (r > 0)
                        return 1;
                if (r < 0 && errno != EINTR)
                        return -errno;
                if (r == 0 && slice == left)
                        return 0;
        }
}

/* Connects to one address until @end. Returns the descriptor, or a negative error without a message. */
static int connect_one(const struct addrinfo *address, int64_t end, const int *stopped)
{
        int fd = socket_connect_start(address->ai_addr, address->ai_addrlen, NULL);
        if (fd < 0)
                return fd;
        int64_t left = end == INT64_MAX ? -1 : MAX(end - now_ns(), 0);
        int r = socket_wait(fd, POLLOUT, left, stopped);
        r = r == 0 ? -ETIMEDOUT : r < 0 ? r : socket_connected(fd);
        if (r < 0) {
                close(fd);
                return r;
        }
        return fd;
}

int socket_connect(const char *host, int port, int64_t timeout_ns, const int *stopped, struct fst_error *error)
{
        struct addrinfo *addresses = NULL;
        int64_t end = timeout_ns < 0 ? INT64_MAX : now_ns() + timeout_ns;
        int r = socket_resolve(host, port, 0, &addresses, error);
        if (r < 0)
                return r;
        for (const struct addrinfo *a = addresses; a; a = a->ai_next) {
                r = connect_one(a, end, stopped);
                if (r >= 0 || r == -ECANCELED)
                        break;
        }
        freeaddrinfo(addresses);
        if (r >= 0)
                return r;
        char name[300];
        return error_set(error, r, "cannot connect to %s: %s", host_port_text(host, port, name, sizeof(name)),
                         r == -ECANCELED ? "stopped" : strerror(-r));
}

/* ------------------------------------------------------------------------------------------------- own name */

static bool socket_is_loopback(const struct sockaddr *address)
{
        if (address->sa_family == AF_INET)
                return (ntohl(((const struct sockaddr_in *)address)->sin_addr.s_addr) >> 24) == 127;
        return IN6_IS_ADDR_LOOPBACK(&((const struct sockaddr_in6 *)address)->sin6_addr);
}

static char *address_text(const struct sockaddr *address)
{
        char text[INET6_ADDRSTRLEN];
        const void *at = address->sa_family == AF_INET
                                 ? (const void *)&((const struct sockaddr_in *)address)->sin_addr
                                 : (const void *)&((const struct sockaddr_in6 *)address)->sin6_addr;
        return mem_strdup(inet_ntop(address->sa_family, at, text, sizeof(text)) ? text : "127.0.0.1");
}

/* Returns the first address of an interface that other machines can reach, or NULL. */
static char *interface_address(void)
{
        struct ifaddrs *all = NULL;
        char *found[2] = {NULL, NULL}; /* IPv4, IPv6 */
        if (getifaddrs(&all) < 0)
                return NULL;
        for (struct ifaddrs *i = all; i; i = i->ifa_next) {
                if (!i->ifa_addr || !(i->ifa_flags & IFF_UP) || (i->ifa_flags & IFF_LOOPBACK))
                        continue;
                if (i->ifa_addr->sa_family == AF_INET && !found[0])
                        found[0] = address_text(i->ifa_addr);
                else if (i->ifa_addr->sa_family == AF_INET6 && !found[1] &&
                         !IN6_IS_ADDR_LINKLOCAL(&((struct sockaddr_in6 *)i->ifa_addr)->sin6_addr))
                        found[1] = address_text(i->ifa_addr);
        }
        freeifaddrs(all);
        if (found[0])
                free(steal(found[1]));
        return found[0] ? found[0] : found[1];
}

char *socket_local_host(void)
{
        const char *given = getenv("SPARK_LOCAL_HOSTNAME");
        if (!given || !*given)
                given = getenv("SPARK_LOCAL_IP");
        if (given && *given)
                return mem_strdup(given);
        char name[256] = "";
        struct addrinfo *addresses = NULL;
        char *result = NULL;
        if (gethostname(name, sizeof(name) - 1) == 0 && socket_resolve(name, 0, 0, &addresses, NULL) == 0) {
                for (const struct addrinfo *a = addresses; a && !result; a = a->ai_next)
                        if (!socket_is_loopback(a->ai_addr))
                                result = address_text(a->ai_addr);
                freeaddrinfo(addresses);
        }
        if (!result)
                result = interface_address();
        return result ? result : mem_strdup("127.0.0.1");
}
