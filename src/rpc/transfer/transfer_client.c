/*
 * The client of data transfers.
 *
 * A connection is either in the pool or in one input. The server may close a pooled connection. The client sees an end
 * of stream before it uses the connection, or a failure before the first byte of the reply. In that case it sends the
 * request once more on a new connection, which does not count as a retry.
 *
 * Small reads go through a buffer, so that one call reads the headers between two large reads and some of the following
 * bytes. Large reads go directly into the caller's memory.
 */
#include "rpc/transfer/transfer_client.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/vec.h"
#include "net/channel.h"
#include "net/socket.h"
#include "rpc/transfer/transfer_server.h"
#include "rpc/transfer/transfer_wire.h"

#include <poll.h>
#include <pthread.h>
#include <sys/socket.h>
#include <time.h>

#define SECOND ((int64_t)1000000000)
#define AHEAD 2048                     /* bytes that small reads fetch at once */
#define UPLOAD_FRAME ((size_t)1 << 20) /* bytes of an upload's frame */
#define KEPT_NS (60 * SECOND)          /* in the pool. Servers close them after twice that time */
#define OWN_WINDOW ((size_t)6 << 20)   /* Linux's maximum for a connection */
#define LEAST_WINDOW                                                                                                   \
        ((size_t)256 << 10)           /* a few segments of the loopback's 64 KiB: with less, TCP waits for timers      \
                                       */
#define LOW_WATER ((size_t)128 << 10) /* of expected bytes that must be available to wake the reader */

struct pooled_connection {
        char *host;
        int port;
        int64_t since;
        struct channel *channel;
        bool bounded;
};

struct transfer_client {
        struct transfer_client_options options;
        pthread_mutex_t lock;
        VEC(struct pooled_connection) pool; /* oldest first */
};

struct transfer_input {
        struct transfer_client *client;
        struct transfer_call call;
        char *host, *peer;
        int port;
        struct channel *channel; /* NULL after a failure */
        bool reused;             /* it came from the pool */
        bool bounded;            /* its receive buffer size is set */
        bool answered;           /* bytes have arrived */
        bool ended, refused, failed;
        enum transfer_kind kind; /* of the request */
        unsigned char *request;  /* until bytes arrive */
        size_t request_len; /* with its checksum */
        uint32_t left; /* of the current DATA frame */
        int low_water; /* of the socket */
        size_t ahead_at, ahead_len;
        unsigned char ahead[AHEAD];
};

static bool transfer_client_stopped(const struct transfer_call *call)
{
        return call->stopped && __atomic_load_n(call->stopped, __ATOMIC_RELAXED);
}

/* ----------------------------------------------------------------------------------------------------- the pool */

struct transfer_client *transfer_client_new(const struct transfer_client_options *options)
{
        struct transfer_client *c = new0(struct transfer_client);
        c->options = *options;
        c->options.app_id = options->app_id ? mem_strdup(options->app_id) : NULL;
        if (c->options.connections_per_peer <= 0)
                c->options.connections_per_peer = 1;
        if (c->options.connect_ns <= 0)
                c->options.connect_ns = 120 * SECOND;
        if (c->options.timeout_ns <= 0)
                c->options.timeout_ns = 120 * SECOND;
        pthread_mutex_init(&c->lock, NULL);
        return c;
}

static void pooled_connection_deinit(struct pooled_connection *k)
{
        channel_free(k->channel);
        free(k->host);
}

void transfer_client_free(struct transfer_client *c)
{
        if (!c)
                return;
        for (size_t i = 0; i < c->pool.len; i++)
                pooled_connection_deinit(&c->pool.data[i]);
        vec_deinit(&c->pool);
        pthread_mutex_destroy(&c->lock);
        free((char *)c->options.app_id);
        free(c);
}

const struct transfer_client_options *transfer_client_options(const struct transfer_client *c)
{
        return &c->options;
}

static bool kept_for(const struct pooled_connection *k, const char *host, int port)
{
        return k->port == port && strcmp(k->host, host) == 0;
}

static void pool_remove(struct transfer_client *c, size_t i)
{
        memmove(&c->pool.data[i], &c->pool.data[i + 1], (c->pool.len - i - 1) * sizeof(c->pool.data[0]));
        c->pool.len--;
}

/* Returns whether the server has not closed it. (TLS leaves own bytes to read, so readable bytes do not matter.) */
static bool transfer_client_is_open(struct channel *channel)
{
        struct pollfd p = {.fd = channel_fd(channel), .events = POLLRDHUP};
        return poll(&p, 1, 0) == 0;
}

/* Takes the newest connection to a peer from the pool, or returns NULL. */
static struct channel *pool_take(struct transfer_client *c, const char *host, int port, bool *bounded)
{
        struct channel *found = NULL;
        pthread_mutex_lock(&c->lock);
        for (size_t i = c->pool.len; i > 0 && !found; i--) {
                struct pooled_connection *k = &c->pool.data[i - 1];
                if (!kept_for(k, host, port))
                        continue;
                found = steal(k->channel);
                *bounded = k->bounded;
                free(k->host);
                pool_remove(c, i - 1);
                if (!transfer_client_is_open(found)) {
                        channel_free(found);
                        found = NULL;
                }
        }
        pthread_mutex_unlock(&c->lock);
        return found;
}

static void pool_put(struct transfer_client *c, struct pooled_connection k)
{
        k.since = now_ns();
        int same = 0;
        pthread_mutex_lock(&c->lock);
        while (c->pool.len && c->pool.data[0].since < k.since - KEPT_NS) {
                pooled_connection_deinit(&c->pool.data[0]);
                pool_remove(c, 0);
        }
        for (size_t i = 0; i < c->pool.len; i++)
                same += kept_for(&c->pool.data[i], k.host, k.port);
        if (same < c->options.connections_per_peer) {
                vec_push(&c->pool, k);
                k.channel = NULL;
        }
        pthread_mutex_unlock(&c->lock);
        if (k.channel)
                pooled_connection_deinit(&k);
}

/* --------------------------------------------------------------------------------------------------- connecting */

/*
 * Limits the unread bytes of the peer. If the limit exceeds the kernel's default (tcp_rmem), the kernel's automatic
 * sizing is better and stays. A smaller size can be at most rmem_max.
 */
static void set_window(struct transfer_input *in)
{
        int bytes = (int)MAX(MIN(in->call.window, OWN_WINDOW), LEAST_WINDOW);
        if (in->call.window == 0 || in->call.window >= OWN_WINDOW)
                return;
        setsockopt(channel_fd(in->channel), SOL_SOCKET, SO_RCVBUF, &bytes, sizeof(bytes));
        in->bounded = true;
}

static int transfer_client_connect_to(struct transfer_input *in, struct fst_error *error)
{
        const struct transfer_client_options *o = &in->client->options;
        unsigned char greeting[TRANSFER_GREETING + TRANSFER_APP_ID];
        int fd = socket_connect(in->host, in->port, o->connect_ns, in->call.stopped, error);
        if (fd < 0)
                return fd;
        int r = channel_new(fd, o->security, CHANNEL_CLIENT, &in->channel, error);
        if (r)
                return r;
        struct iovec iov = {greeting, transfer_greeting(greeting, o->app_id)};
        return channel_writev_all(in->channel, &iov, 1, o->connect_ns, in->call.stopped, error);
}

static int transfer_client_send_request(struct transfer_input *in, struct fst_error *error)
{
        unsigned char header[TRANSFER_HEADER];
        transfer_header(header, in->kind, (uint32_t)in->request_len);
        struct iovec iov[] = {{header, sizeof(header)}, {in->request, in->request_len}};
        set_window(in);
        return channel_writev_all(in->channel, iov, 2, in->client->options.timeout_ns, in->call.stopped, error);
}

static void drop_channel(struct transfer_input *in)
{
        channel_free(steal(in->channel));
        in->low_water = 0;
        in->ahead_at = in->ahead_len = 0;
}

/*
 * Sleeps. Returns 0, -ECANCELED when the task is stopped, or 1 when the peer is known to be lost, which often becomes
 * known only shortly after its connections have failed.
 */
static int pause_ns(struct transfer_input *in, int64_t ns)
{
        int64_t begin = now_ns(), end = begin + ns, left, step = SECOND / 50, look = begin + step;
        while ((left = end - now_ns()) > 0) {
                if (transfer_client_stopped(&in->call))
                        return -ECANCELED;
                if (end - left >= look && in->call.gone) {
                        if (in->call.gone(in->call.gone_owner))
                                return 1;
                        step = MIN(2 * step, (int64_t)SECOND);
                        look = now_ns() + step;
                }
                poll(NULL, 0, (int)MIN(left / 1000000 + 1, (int64_t)20));
        }
        return 0;
}

/* Waits before the next try. Returns -ECANCELED when the task is stopped, or 1 when another try is useless. */
static int pause_retry(struct transfer_input *in, int tried, int code, const struct fst_error *error)
{
        const struct transfer_client_options *o = &in->client->options;
        if (code == -ECANCELED || transfer_client_stopped(&in->call))
                return -ECANCELED;
        if (tried >= o->max_retries || (in->call.gone && in->call.gone(in->call.gone_owner)))
                return 1;
        log_info("RetryingBlockTransferor", "Retrying fetch (%d/%d) from %s after %.1f s: %s", tried + 1,
                 o->max_retries, in->peer, (double)o->retry_wait_ns / SECOND, error_message(error));
        return pause_ns(in, o->retry_wait_ns);
}

static int transfer_client_cancelled(struct fst_error *error)
{
        return error_set(error, -ECANCELED, "task was cancelled");
}

/* Opens a connection and sends the request. */
static int transfer_client_start(struct transfer_input *in, bool fresh, struct fst_error *error)
{
        int64_t begin = now_ns();
        int r;
        while (!fresh && (in->channel = pool_take(in->client, in->host, in->port, &in->bounded))) {
                in->reused = true;
                if (transfer_client_send_request(in, NULL) == 0)
                        return 0;
                drop_channel(in);
        }
        in->reused = in->bounded = false;
        for (int tried = in->call.retries_used;; tried++) {
                r = transfer_client_connect_to(in, error);
                if (r == 0)
                        r = transfer_client_send_request(in, error);
                if (r == 0)
                        break;
                drop_channel(in);
                int p = pause_retry(in, tried, r, error);
                if (p < 0)
                        r = transfer_client_cancelled(error);
                if (p)
                        break;
        }
        if (in->call.wait_ns)
                *in->call.wait_ns += now_ns() - begin;
        return r;
}

static int input_new(struct transfer_client *client, const char *host, int port, enum transfer_kind kind,
                     const void *request, size_t len, const struct transfer_call *call, struct transfer_input **input,
                     struct fst_error *error)
{
        struct transfer_input *in = mem_alloc(sizeof(*in));
        memset(in, 0, offsetof(struct transfer_input, ahead));
        char peer[300];
        in->client = client;
        in->call = call ? *call : (struct transfer_call){0};
        in->host = mem_strdup(host);
        in->peer = mem_strdup(host_port_text(host, port, peer, sizeof(peer)));
        in->port = port;
        in->kind = kind;
        in->request = mem_alloc(len + TRANSFER_CRC);
        in->request_len = len + TRANSFER_CRC;
        memcpy(in->request, request, len);
        transfer_crc(in->request + len, request, len);
        int r = transfer_client_stopped(&in->call) ||
                                (in->call.wait_first && pause_ns(in, client->options.retry_wait_ns) < 0)
                        ? transfer_client_cancelled(error)
                        : transfer_client_start(in, false, error);
        if (r) {
                transfer_close(in);
                return r;
        }
        *input = in;
        return 0;
}

int transfer_open(struct transfer_client *client, const char *host, int port, const void *request, size_t len,
                  const struct transfer_call *call, struct transfer_input **input, struct fst_error *error)
{
        return input_new(client, host, port, TRANSFER_FETCH, request, len, call, input, error);
}

/* ------------------------------------------------------------------------------------------------------ reading */

/*
 * Waits for bytes to read. A large read is woken only when a large part of it is available, which saves most of the
 * context switches between both ends. These bytes are certain to come, because their frame has begun.
 */
static int wait_readable(struct transfer_input *in, size_t wanted, struct fst_error *error)
{
        int low_water = in->client->options.security || in->bounded ? 1 : (int)MAX(MIN(wanted, LOW_WATER), (size_t)1);
        int fd = channel_fd(in->channel);
        if (low_water != in->low_water && setsockopt(fd, SOL_SOCKET, SO_RCVLOWAT, &low_water, sizeof(int)) == 0)
                in->low_water = low_water;
        int64_t begin = now_ns();
        int events = channel_events(in->channel);
        int r = socket_wait(fd, events ? events : POLLIN, in->client->options.timeout_ns, in->call.stopped);
        if (in->call.wait_ns)
                *in->call.wait_ns += now_ns() - begin;
        if (r > 0)
                return 0;
        if (r == -ECANCELED)
                return transfer_client_cancelled(error);
        if (r == 0)
                return error_set(error, -ETIMEDOUT, "nothing from %s for %lld s (spark.shuffle.io.connectionTimeout)",
                                 in->peer, (long long)(in->client->options.timeout_ns / SECOND));
        return error_set(error, r, "waiting for %s: %s", in->peer, strerror(-r));
}

/* Reads some bytes, of which @sure are certain to come. Returns their number or a negative error. */
static ssize_t transfer_client_receive(struct transfer_input *in, void *buf, size_t n, size_t sure,
                                       struct fst_error *error)
{
        for (;;) {
                ssize_t got = channel_read(in->channel, buf, n);
                if (got > 0) {
                        if (!in->answered) {
                                in->answered = true;
                                free(steal(in->request));
                        }
                        return got;
                }
                if (got == -EAGAIN) {
                        int r = wait_readable(in, sure, error);
                        if (r)
                                return r;
                        continue;
                }
                /* Returns whether the server closed it in the pool, which is not a failure. */
                if (in->reused && !in->answered && in->kind == TRANSFER_FETCH) {
                        drop_channel(in);
                        int r = transfer_client_start(in, true, error);
                        if (r)
                                return r;
                        continue;
                }
                return got == 0 ? error_set(error, -ECONNRESET, "%s closed the connection", in->peer)
                                : error_set(error, (int)got, "%s: %s", in->peer, channel_error(in->channel));
        }
}

/* Reads at least @n bytes into the buffer. */
static int need_ahead(struct transfer_input *in, size_t n, struct fst_error *error)
{
        if (in->ahead_at == in->ahead_len)
                in->ahead_at = in->ahead_len = 0;
        if (AHEAD - in->ahead_at < n) {
                memmove(in->ahead, in->ahead + in->ahead_at, in->ahead_len - in->ahead_at);
                in->ahead_len -= in->ahead_at;
                in->ahead_at = 0;
        }
        while (in->ahead_len - in->ahead_at < n) {
                ssize_t got = transfer_client_receive(in, in->ahead + in->ahead_len, AHEAD - in->ahead_len, 1, error);
                if (got < 0)
                        return (int)got;
                in->ahead_len += (size_t)got;
        }
        return 0;
}

static int transfer_client_broken(struct transfer_input *in, const char *what, struct fst_error *error)
{
        return error_set(error, -EPROTO, "%s %s", in->peer, what);
}

/* Makes an error of the server's message. */
static int transfer_client_read_failure(struct transfer_input *in, uint32_t length, struct fst_error *error)
{
        unsigned char text[TRANSFER_SENTENCE] = {0};
        for (uint32_t at = 0; at < length;) {
                int r = need_ahead(in, 1, error);
                if (r)
                        return r;
                size_t n = MIN((size_t)(length - at), in->ahead_len - in->ahead_at);
                memcpy(text + at, in->ahead + in->ahead_at, n);
                in->ahead_at += n;
                at += (uint32_t)n;
        }
        if (transfer_crc_check(text, length) < 0)
                return transfer_client_broken(in, "sent a message with a wrong checksum: bytes were damaged on the way", error);
        length -= TRANSFER_CRC;
        uint32_t code = get_le32(text);
        for (uint32_t i = 4; i < length; i++)
                if (text[i] < ' ' || text[i] == 0x7f)
                        text[i] = '?'; /* it is logged */
        in->refused = in->ended = true;
        return error_set(error, code >= 1 && code < 4096 ? -(int)code : -EIO, "%s: %.*s", in->peer, (int)length - 4,
                         (const char *)text + 4);
}

/* Begins the next DATA frame. Returns 1, 0 at the end of the stream, or a negative error. */
static int next_frame(struct transfer_input *in, struct fst_error *error)
{
        enum transfer_kind kind;
        uint32_t length;
        int r = need_ahead(in, TRANSFER_HEADER, error);
        if (r)
                return r;
        if (!transfer_header_parse(in->ahead + in->ahead_at, &kind, &length))
                return transfer_client_broken(in, "violates the protocol, or bytes were damaged on the way", error);
        in->ahead_at += TRANSFER_HEADER;
        switch (kind) {
        case TRANSFER_DATA:
                in->left = length;
                return 1;
        case TRANSFER_END:
                in->ended = true;
                return 0;
        case TRANSFER_FAILED:
                return transfer_client_read_failure(in, length, error);
        default:
                return transfer_client_broken(in, "answered with a request", error);
        }
}

static ssize_t read_some(struct transfer_input *in, void *buf, size_t n, struct fst_error *error)
{
        while (in->left == 0) {
                int r = in->ended ? 0 : next_frame(in, error);
                if (r <= 0)
                        return r;
        }
        n = MIN(n, (size_t)in->left);
        size_t ready = in->ahead_len - in->ahead_at;
        if (ready == 0 && n < AHEAD / 2) {
                int r = need_ahead(in, 1, error);
                if (r)
                        return r;
                ready = in->ahead_len - in->ahead_at;
        }
        ssize_t got;
        if (ready) {
                got = (ssize_t)MIN(n, ready);
                memcpy(buf, in->ahead + in->ahead_at, (size_t)got);
                in->ahead_at += (size_t)got;
        } else {
                got = transfer_client_receive(in, buf, n, n, error);
        }
        if (got > 0)
                in->left -= (uint32_t)got;
        return got;
}

ssize_t transfer_read(struct transfer_input *in, void *buf, size_t n, struct fst_error *error)
{
        if (in->failed)
                return error_set(error, -EIO, "reading from %s failed before", in->peer);
        if (n == 0)
                return 0;
        ssize_t got = read_some(in, buf, n, error);
        in->failed = got < 0;
        return got;
}

int transfer_read_all(struct transfer_input *in, void *buf, size_t n, struct fst_error *error)
{
        for (size_t at = 0; at < n;) {
                ssize_t got = transfer_read(in, (char *)buf + at, n - at, error);
                if (got < 0)
                        return (int)got;
                if (got == 0 && at == 0)
                        return FST_TRANSFER_E_END;
                if (got == 0) {
                        in->failed = true;
                        return transfer_client_broken(in, "ended its answer in the middle", error);
                }
                at += (size_t)got;
        }
        return 0;
}

bool transfer_input_refused(const struct transfer_input *in)
{
        return in->refused;
}

/* Reads the end of a reply, which a caller that has all its data may not have read. */
static void read_end(struct transfer_input *in)
{
        if (in->ended || in->failed || !in->answered || in->left || in->ahead_len - in->ahead_at < TRANSFER_HEADER)
                return;
        in->failed = next_frame(in, NULL) != 0;
}

void transfer_close(struct transfer_input *in)
{
        if (!in)
                return;
        int saved = errno;
        read_end(in);
        bool good = in->channel && in->ended && in->left == 0 && in->ahead_at == in->ahead_len &&
                    (!in->failed || in->refused);
        if (good)
                pool_put(in->client, (struct pooled_connection){.host = steal(in->host),
                                                                .port = in->port,
                                                                .channel = steal(in->channel),
                                                                .bounded = in->bounded});
        channel_free(in->channel);
        free(in->host);
        free(in->peer);
        free(in->request);
        free(in);
        errno = saved;
}

/* ------------------------------------------------------------------------------------------------------ uploads */

/* Returns whether the server has replied early, which only means that it refuses the rest. */
static bool transfer_client_speaks(struct transfer_input *in)
{
        struct pollfd p = {.fd = channel_fd(in->channel), .events = POLLIN};
        return !in->client->options.security && poll(&p, 1, 0) > 0;
}

/* Returns 0, a negative error, or 1 if the server has replied and the caller must stop sending. */
static int send_piece(struct transfer_input *in, const struct iovec *piece, struct fst_error *error)
{
        unsigned char header[TRANSFER_HEADER];
        for (size_t at = 0; at < piece->iov_len;) {
                size_t size = MIN(piece->iov_len - at, UPLOAD_FRAME);
                transfer_header(header, TRANSFER_DATA, (uint32_t)size);
                struct iovec iov[] = {{header, sizeof(header)}, {(char *)piece->iov_base + at, size}};
                if (transfer_client_speaks(in))
                        return 1;
                int r = channel_writev_all(in->channel, iov, 2, in->client->options.timeout_ns, in->call.stopped,
                                           error);
                if (r)
                        return r;
                at += size;
        }
        return 0;
}

static int send_end(struct transfer_input *in, struct fst_error *error)
{
        unsigned char header[TRANSFER_HEADER];
        transfer_header(header, TRANSFER_END, 0);
        struct iovec iov = {header, sizeof(header)};
        return channel_writev_all(in->channel, &iov, 1, in->client->options.timeout_ns, in->call.stopped, error);
}

static int send_pieces(struct transfer_input *in, const struct iovec *pieces, int n, struct fst_error *error)
{
        int r = 0;
        for (int i = 0; i < n && r == 0; i++)
                r = send_piece(in, &pieces[i], error);
        return r ? MIN(r, 0) : send_end(in, error);
}

static int send_stream(struct transfer_input *in, struct transfer_stream *stream, struct fst_error *error)
{
        struct iovec pieces[64];
        int r = 0, n;
        while (r == 0 && (n = stream->class->next(stream, pieces, (int)ARRAY_SIZE(pieces), error)) != 0) {
                r = MIN(n, 0);
                for (int i = 0; i < n && r == 0; i++)
                        r = send_piece(in, &pieces[i], error);
        }
        return r ? MIN(r, 0) : send_end(in, error);
}

/* Returns the server's reply after sending ended with @r, and closes the connection. */
static int end_upload(struct transfer_input *in, int r, struct fst_error *error)
{
        char rest;
        if (r == 0) {
                ssize_t got = transfer_read(in, &rest, 1, error);
                r = got < 0   ? (int)got
                    : got > 0 ? transfer_client_broken(in, "answered an upload with data", error)
                              : 0;
        }
        if (r) /* the server may still expect the rest */
                channel_free(steal(in->channel));
        transfer_close(in);
        return r;
}

int transfer_put(struct transfer_client *client, const char *host, int port, const void *request, size_t len,
                 const struct iovec *pieces, int n, const struct transfer_call *call, struct fst_error *error)
{
        struct transfer_input *in = NULL;
        int r = input_new(client, host, port, TRANSFER_PUT, request, len, call, &in, error);
        return r ? r : end_upload(in, send_pieces(in, pieces, n, error), error);
}

int transfer_put_stream(struct transfer_client *client, const char *host, int port, const void *request, size_t len,
                        struct transfer_stream *stream, const struct transfer_call *call, struct fst_error *error)
{
        struct transfer_input *in = NULL;
        int r = input_new(client, host, port, TRANSFER_PUT, request, len, call, &in, error);
        return r ? r : end_upload(in, send_stream(in, stream, error), error);
}
