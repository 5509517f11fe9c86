/* See served_socket.h. Small rows are gathered in a buffer; a large row is sent from its page, behind the buffer. */
#include "driver/actions/served_socket.h"

#include "base/clock.h"
#include "base/fs.h"
#include "base/mem.h"
#include "net/socket.h"
#include "net/socket_exact.h"
#include "store/page.h"

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <unistd.h>

#define BUFFER_SIZE ((size_t)64 << 10)

/* A row of this size is not copied to the buffer. */
#define LARGE_ROW ((size_t)8 << 10)

/* ------------------------------------------------------------------------------------------------- listening */

static int served_listen_tcp(struct served_socket *s, struct fst_error *error)
{
        struct listen_options options = {
                .service = "the socket of results", .host = "127.0.0.1", .any_port = true, .backlog = 4};
        if (secret_draw(s->secret, sizeof(s->secret)))
                return error_set(error, -EIO, "the system gives no random bytes for a secret");
        s->listener = socket_listen(&options, &s->port, error);
        return MIN(s->listener, 0);
}

static int served_listen_unix(struct served_socket *s, const char *dir, struct fst_error *error)
{
        struct sockaddr_un address = {.sun_family = AF_UNIX};
        char uuid[UUID_TEXT];
        uuid_draw(uuid);
        s->path = mem_printf("%s/.%s.sock", dir, uuid);
        if (strlen(s->path) >= sizeof(address.sun_path))
                return error_set(error, -ENAMETOOLONG,
                                 "the path %s of a Unix socket has more than %zu bytes: set "
                                 "spark.python.unix.domain.socket.dir to a shorter directory",
                                 s->path, sizeof(address.sun_path) - 1);
        memcpy(address.sun_path, s->path, strlen(s->path) + 1);
        s->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        if (s->listener < 0 || fchmod(s->listener, 0600) ||
            bind(s->listener, (struct sockaddr *)&address, sizeof(address)) || chmod(s->path, 0600) ||
            listen(s->listener, 4))
                return error_set(error, -errno, "%s: no Unix socket can be made: %m", s->path);
        return 0;
}

int served_socket_open(struct served_socket *s, const char *dir, const int *stopped, struct fst_error *error)
{
        *s = (struct served_socket){.listener = -1, .fd = -1, .stopped = stopped};
        int r = dir ? served_listen_unix(s, dir, error) : served_listen_tcp(s, error);
        if (r) {
                served_socket_deinit(s);
                return r;
        }
        s->buffer = mem_alloc(BUFFER_SIZE);
        return 0;
}

static void served_close_fd(int *fd)
{
        if (*fd >= 0)
                close(*fd);
        *fd = -1;
}

static void served_stop_listening(struct served_socket *s)
{
        if (s->listener >= 0 && s->path)
                unlink(s->path);
        served_close_fd(&s->listener);
}

/* -------------------------------------------------------------------------------------------------- handshake */

/* Accepts one client. Returns 0, -EAGAIN after a client that was refused, -ETIMEDOUT, or negative. */
static int served_accept_one(struct served_socket *s, int64_t end)
{
        int r = socket_wait(s->listener, POLLIN, MAX(end - now_ns(), 0), s->stopped);
        if (r <= 0)
                return r ? r : -ETIMEDOUT;
        int fd = socket_accept(s->listener);
        if (fd < 0)
                return fd;
        s->fd = fd;
        if (s->path)
                return 0;
        (void)setsockopt(s->fd, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int));
        r = socket_accept_secret(s->fd, s->secret, SECRET_END_NONE, end, s->stopped);
        if (r == 0)
                return 0;
        served_close_fd(&s->fd);
        return r == -ECANCELED || r == -ETIMEDOUT ? r : -EAGAIN;
}

int served_socket_accept(struct served_socket *s, int64_t timeout_ms, struct fst_error *error)
{
        int64_t end = now_ns() + timeout_ms * 1000000;
        int r;
        do {
                r = served_accept_one(s, end);
        } while (r == -EAGAIN);
        served_stop_listening(s);
        if (r == -ETIMEDOUT)
                return error_set(error, r,
                                 "Accept timed out: no client connected and sent the secret within %lld ms "
                                 "(spark.python.authenticate.socketTimeout)",
                                 (long long)timeout_ms);
        return r ? error_set(error, r, "no client could be accepted: %s", strerror(-r)) : 0;
}

int served_socket_read_int(struct served_socket *s, int32_t *value)
{
        uint32_t number;
        int r = socket_read_exactly(s->fd, &number, sizeof(number), SOCKET_NO_DEADLINE, s->stopped);
        if (r == 0)
                *value = (int32_t)ntohl(number);
        return r;
}

/* ---------------------------------------------------------------------------------------------------- sending */

/* Sends the @n parts, which it changes. */
static int served_send(struct served_socket *s, struct iovec *parts, size_t n)
{
        while (n) {
                struct msghdr message = {.msg_iov = parts, .msg_iovlen = n};
                ssize_t sent = sendmsg(s->fd, &message, MSG_NOSIGNAL);
                if (sent < 0 && errno != EAGAIN && errno != EINTR)
                        return -errno;
                int r = sent < 0 ? socket_wait(s->fd, POLLOUT, -1, s->stopped) : 0;
                if (r < 0)
                        return r;
                for (; n && sent >= (ssize_t)parts->iov_len; parts++, n--)
                        sent -= (ssize_t)parts->iov_len;
                if (n && sent > 0) {
                        parts->iov_base = (char *)parts->iov_base + sent;
                        parts->iov_len -= (size_t)sent;
                }
        }
        return 0;
}

int served_socket_flush(struct served_socket *s)
{
        struct iovec part = {s->buffer, s->used};
        size_t n = s->used ? 1 : 0;
        s->used = 0;
        return served_send(s, &part, n);
}

static int served_put_large(struct served_socket *s, const void *data, size_t len)
{
        struct iovec parts[] = {{s->buffer, s->used}, {(void *)data, len}};
        bool behind = s->used > 0;
        s->used = 0;
        return served_send(s, behind ? parts : parts + 1, behind ? 2 : 1);
}

int served_socket_put(struct served_socket *s, const void *data, size_t len)
{
        if (len >= LARGE_ROW)
                return served_put_large(s, data, len);
        int r = s->used + len > BUFFER_SIZE ? served_socket_flush(s) : 0;
        if (r == 0 && len) {
                memcpy(s->buffer + s->used, data, len);
                s->used += len;
        }
        return r;
}

int served_socket_put_int(struct served_socket *s, int32_t value)
{
        uint32_t number = htonl((uint32_t)value);
        return served_socket_put(s, &number, sizeof(number));
}

int served_socket_put_rows(struct served_socket *s, struct page **pages)
{
        struct page_cursor cursor;
        fst_batch batch;
        int r = 0;
        page_cursor_init(&cursor, FST_BYTES);
        while (*pages && r == 0) {
                struct page *page = *pages;
                page_cursor_start(&cursor, page);
                while (r == 0 && page_cursor_next(&cursor, &batch))
                        for (uint32_t i = 0; i < batch.rows && r == 0; i++)
                                r = served_socket_put(s, batch.key.bytes[i].data, batch.key.bytes[i].len);
                *pages = page->next;
                page_free(NULL, page);
        }
        page_cursor_deinit(&cursor);
        return r;
}

/* ---------------------------------------------------------------------------------------------------- closing */

void served_socket_close(struct served_socket *s)
{
        served_stop_listening(s);
        served_close_fd(&s->fd);
        free(steal(s->buffer));
        s->used = 0;
}

void served_socket_deinit(struct served_socket *s)
{
        served_socket_close(s);
        free(steal(s->path));
}
