/*
 * Plain and TLS channels.
 *
 * A TLS write takes at most one record (16 KiB) at a time. Small pieces are first collected in a record's buffer, so
 * that a header does not need its own record. Large pieces are encrypted in place. After -EAGAIN OpenSSL holds an
 * encrypted record but counts its plain bytes as not written, so the next write must begin with the same bytes.
 */
#include "net/channel.h"

#include "base/error.h"
#include "base/mem.h"
#include "net/security_internal.h"
#include "net/socket.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#define RECORD 16384

struct channel {
        int fd;
        bool handshaken;
        bool begun; /* the handshake */
        int failed; /* 0, or the negative result of all further calls */
        enum channel_side side;
        const struct security *security; /* NULL if plain */
        struct tls *tls;                 /* start of the handshake */
        uint8_t *record;                 /* RECORD bytes to collect small pieces, NULL until needed */
        char error[256];
        char peer[320];
};

int channel_new(int fd, const struct security *security, enum channel_side side, struct channel **out,
                struct fst_error *error)
{
        int flags = fcntl(fd, F_GETFL), one = 1;
        if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0) {
                int r = error_errno(error, "cannot use the descriptor %d as a channel", fd);
                close(fd);
                return r;
        }
        struct channel *ch = new0(struct channel);
        ch->fd = fd;
        socket_name(fd, true, ch->peer, sizeof(ch->peer));
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one)); /* fails harmlessly for other sockets than TCP */
        socket_end_pacing(fd);
        ch->side = side;
        ch->security = security;
        ch->handshaken = !security;
        *out = ch;
        return 0;
}

void channel_free(struct channel *ch)
{
        if (!ch)
                return;
        int saved = errno;
        if (ch->tls)
                ch->security->crypto->tls_free(ch->tls);
        close(ch->fd);
        free(ch->record);
        free(ch);
        errno = saved;
}

static ssize_t channel_fail(struct channel *ch, int code, const char *message)
{
        ch->failed = code;
        snprintf(ch->error, sizeof(ch->error), "%s", message);
        return code;
}

static ssize_t fail_errno(struct channel *ch)
{
        if (errno == EAGAIN || errno == EWOULDBLOCK)
                return -EAGAIN;
        return channel_fail(ch, -errno, strerror(errno));
}

static ssize_t fail_tls(struct channel *ch, ssize_t r)
{
        return r == -EAGAIN ? r : channel_fail(ch, (int)r, ch->security->crypto->tls_message(ch->tls));
}

/*
 * A server's connection costs 45 KB in OpenSSL. They are allocated only when the peer begins with TLS, not for a peer
 * that only connects, or that uses the wrong port.
 */
static ssize_t begin_tls(struct channel *ch)
{
        bool server = ch->side == CHANNEL_SERVER;
        ch->begun = true;
        if (server) {
                uint8_t first;
                ssize_t n;
                do
                        n = recv(ch->fd, &first, 1, MSG_PEEK);
                while (n < 0 && errno == EINTR);
                if (n < 0)
                        return fail_errno(ch);
                if (n == 0)
                        return channel_fail(ch, -ECONNRESET, TLS_ENDED_EARLY);
                if (first != TLS_HANDSHAKE_RECORD)
                        return channel_fail(ch, -EPROTO, TLS_NOT_SPOKEN);
        }
        ch->tls = ch->security->crypto->tls_new(server ? ch->security->server : ch->security->client, ch->fd);
        return ch->tls ? 0 : channel_fail(ch, -ENOMEM, "no memory for a TLS connection");
}

/* Returns 0 when the channel may be used. */
static ssize_t channel_prepare(struct channel *ch)
{
        if (unlikely(ch->failed))
                return ch->failed;
        if (likely(ch->handshaken))
                return 0;
        ssize_t r = ch->tls ? 0 : begin_tls(ch);
        if (r < 0)
                return r;
        r = ch->security->crypto->tls_handshake(ch->tls);
        if (r < 0)
                return fail_tls(ch, r);
        ch->handshaken = true;
        return 0;
}

ssize_t channel_read(struct channel *ch, void *buf, size_t n)
{
        ssize_t r = channel_prepare(ch);
        if (r < 0)
                return r;
        if (ch->tls) {
                r = ch->security->crypto->tls_read(ch->tls, buf, n);
                return r < 0 ? fail_tls(ch, r) : r;
        }
        do
                r = recv(ch->fd, buf, n, 0);
        while (r < 0 && errno == EINTR);
        return r < 0 ? fail_errno(ch) : r;
}

/* Collects small pieces in `record`. Returns the number of bytes. */
static size_t channel_gather(struct channel *ch, const struct iovec *iov, int n, size_t skip)
{
        size_t len = 0;
        if (!ch->record)
                ch->record = mem_alloc(RECORD);
        for (int i = 0; i < n && len < RECORD; i++, skip = 0) {
                size_t more = MIN(iov[i].iov_len - skip, RECORD - len);
                if (more > 0)
                        memcpy(ch->record + len, (const char *)iov[i].iov_base + skip, more);
                len += more;
        }
        return len;
}

static ssize_t tls_writev(struct channel *ch, const struct iovec *iov, int n)
{
        size_t skip = 0; /* of the first piece */
        ssize_t taken = 0;
        while (n > 0) {
                if (iov->iov_len == skip) {
                        iov++, n--, skip = 0;
                        continue;
                }
                const void *data = (const char *)iov->iov_base + skip;
                size_t len = MIN(iov->iov_len - skip, (size_t)RECORD);
                if (len < RECORD && n > 1) {
                        len = channel_gather(ch, iov, n, skip);
                        data = ch->record;
                }
                ssize_t r = ch->security->crypto->tls_write(ch->tls, data, len);
                if (r < 0) {
                        r = fail_tls(ch, r);
                        return r == -EAGAIN && taken > 0 ? taken : r;
                }
                taken += r;
                for (size_t left = (size_t)r; left > 0;) {
                        size_t here = MIN(iov->iov_len - skip, left);
                        skip += here;
                        left -= here;
                        if (left > 0)
                                iov++, n--, skip = 0;
                }
        }
        return taken;
}

ssize_t channel_writev(struct channel *ch, const struct iovec *iov, int n)
{
        ssize_t r = channel_prepare(ch);
        if (r < 0)
                return r;
        if (ch->tls)
                return tls_writev(ch, iov, n);
        struct msghdr message = {.msg_iov = (struct iovec *)iov, .msg_iovlen = (size_t)n};
        do
                r = sendmsg(ch->fd, &message, MSG_NOSIGNAL);
        while (r < 0 && errno == EINTR);
        return r < 0 ? fail_errno(ch) : r;
}

bool channel_pending(const struct channel *ch)
{
        return ch->tls && ch->handshaken && !ch->failed && ch->security->crypto->tls_pending(ch->tls);
}

int channel_events(const struct channel *ch)
{
        if (ch->handshaken || !ch->begun || ch->failed)
                return 0;
        return ch->tls ? ch->security->crypto->tls_wants(ch->tls) : POLLIN;
}

bool channel_ready(const struct channel *ch)
{
        return ch->handshaken;
}

int channel_fd(const struct channel *ch)
{
        return ch->fd;
}

const char *channel_error(const struct channel *ch)
{
        return ch->error;
}

const char *channel_peer(const struct channel *ch)
{
        return ch->peer;
}

/* ------------------------------------------------------------------------------------------------- blocking */

/* Waits for the cause of the last -EAGAIN. Returns 0, or a negative value with @error set. */
static int channel_wait_for(struct channel *ch, int events, int64_t timeout_ns, const int *stopped,
                            struct fst_error *error)
{
        int wanted = channel_events(ch);
        int r = socket_wait(ch->fd, wanted ? wanted : events, timeout_ns, stopped);
        if (r > 0)
                return 0;
        if (r == 0)
                return error_set(error, -ETIMEDOUT, "%s: nothing moved for %lld ms", ch->peer,
                                 (long long)(timeout_ns / 1000000));
        return error_set(error, r, "%s: %s", ch->peer, r == -ECANCELED ? "stopped" : strerror(-r));
}

static bool channel_is_stopped(const int *stopped)
{
        return stopped && __atomic_load_n(stopped, __ATOMIC_RELAXED);
}

ssize_t channel_read_some(struct channel *ch, void *buf, size_t n, int64_t timeout_ns, const int *stopped,
                          struct fst_error *error)
{
        if (channel_is_stopped(stopped))
                return error_set(error, -ECANCELED, "%s: stopped", ch->peer);
        for (;;) {
                ssize_t r = channel_read(ch, buf, n);
                if (r >= 0)
                        return r;
                if (r != -EAGAIN)
                        return error_set(error, (int)r, "%s: %s", ch->peer, ch->error);
                r = channel_wait_for(ch, POLLIN, timeout_ns, stopped, error);
                if (r < 0)
                        return r;
        }
}

int channel_read_all(struct channel *ch, void *buf, size_t n, int64_t timeout_ns, const int *stopped,
                     struct fst_error *error)
{
        for (size_t done = 0; done < n;) {
                ssize_t r = channel_read_some(ch, (char *)buf + done, n - done, timeout_ns, stopped, error);
                if (r < 0)
                        return (int)r;
                if (r == 0)
                        return error_set(error, -ECONNRESET, "%s: the connection ended %zu bytes too early", ch->peer,
                                         n - done);
                done += (size_t)r;
        }
        return 0;
}

int channel_writev_all(struct channel *ch, struct iovec *iov, int n, int64_t timeout_ns, const int *stopped,
                       struct fst_error *error)
{
        if (channel_is_stopped(stopped))
                return error_set(error, -ECANCELED, "%s: stopped", ch->peer);
        while (n > 0) {
                if (iov->iov_len == 0) {
                        iov++, n--;
                        continue;
                }
                ssize_t r = channel_writev(ch, iov, MIN(n, 1024)); /* IOV_MAX */
                if (r == -EAGAIN) {
                        r = channel_wait_for(ch, POLLOUT, timeout_ns, stopped, error);
                        if (r < 0)
                                return (int)r;
                        continue;
                }
                if (r < 0)
                        return error_set(error, (int)r, "%s: %s", ch->peer, ch->error);
                for (size_t left = (size_t)r; left > 0;) {
                        size_t here = MIN(iov->iov_len, left);
                        iov->iov_base = (char *)iov->iov_base + here;
                        iov->iov_len -= here;
                        left -= here;
                        if (iov->iov_len == 0)
                                iov++, n--;
                }
        }
        return 0;
}

int channel_handshake(struct channel *ch, int64_t timeout_ns, const int *stopped, struct fst_error *error)
{
        for (;;) {
                if (channel_is_stopped(stopped))
                        return error_set(error, -ECANCELED, "%s: stopped", ch->peer);
                ssize_t r = channel_prepare(ch);
                if (r == 0)
                        return 0;
                if (r != -EAGAIN)
                        return error_set(error, (int)r, "%s: %s", ch->peer, ch->error);
                r = channel_wait_for(ch, 0, timeout_ns, stopped, error);
                if (r < 0)
                        return (int)r;
        }
}
