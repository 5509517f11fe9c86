/*
 * One connection of a transfer server.
 *
 * Input is read unit by unit (greeting, header, request) and never beyond a unit, so no bytes are kept between units.
 * Memory for a request grows with the received bytes, not with the claimed length. Output is a list of iovecs owned by
 * the stream. The next ones are requested when the kernel has taken all of them.
 *
 * Invariants: at most one of stream and sink is set. `out` refers to the stream's bytes only until its next call.
 */
#include "rpc/transfer/transfer_connection.h"

#include "base/error.h"
#include "base/mem.h"
#include "net/channel.h"

#include <poll.h>

#define TURN ((size_t)4 << 20) /* bytes per turn of a connection */
#define KEEP_INPUT ((size_t)16 << 10)

struct transfer_connection *transfer_connection_new(struct channel *channel, const struct transfer_rules *rules,
                                                    int64_t now)
{
        struct transfer_connection *c = new0(struct transfer_connection);
        c->channel = channel;
        c->rules = rules;
        c->need = TRANSFER_GREETING;
        c->since = c->moved = now;
        return c;
}

static void close_exchange(struct transfer_connection *c)
{
        if (c->stream)
                c->stream->class->close(steal(c->stream));
        if (c->sink)
                c->sink->class->close(steal(c->sink));
}

void transfer_connection_free(struct transfer_connection *c)
{
        if (!c)
                return;
        close_exchange(c);
        channel_free(c->channel);
        free(c->in);
        free(c->sentence);
        free(c);
}

int64_t transfer_connection_deadline(const struct transfer_connection *c, const char **why)
{
        bool pausing = c->phase == PHASE_HEADER && c->in_len == 0;
        bool moving = c->phase == PHASE_SENDING || c->phase == PHASE_UPLOAD || c->phase == PHASE_UPLOADING;
        *why = pausing ? NULL : moving ? "its exchange makes no progress" : "it sends no request";
        return pausing || moving ? c->moved + c->rules->idle_ns : c->since + c->rules->handshake_ns;
}

/* ------------------------------------------------------------------------------------------------------ output */

/* Writes pending bytes. Returns 0 when all are written, -EAGAIN when the peer must read first. */
static int transfer_connection_flush(struct transfer_connection *c, int64_t now, size_t *moved, struct fst_error *error)
{
        while (c->out_at < c->out_n) {
                ssize_t n = channel_writev(c->channel, &c->out[c->out_at], c->out_n - c->out_at);
                if (n == -EAGAIN)
                        return -EAGAIN;
                if (n < 0)
                        return error_set(error, (int)n, "%s", channel_error(c->channel));
                c->moved = now;
                c->sent += (uint64_t)n;
                *moved += (size_t)n;
                size_t done = (size_t)n;
                while (c->out_at < c->out_n && done >= c->out[c->out_at].iov_len)
                        done -= c->out[c->out_at++].iov_len;
                if (done) {
                        c->out[c->out_at].iov_base = (char *)c->out[c->out_at].iov_base + done;
                        c->out[c->out_at].iov_len -= done;
                }
                if (*moved >= TURN && c->out_at < c->out_n)
                        return -EAGAIN; /* the socket stays ready, so the loop returns here */
        }
        return 0;
}

static void transfer_connection_put_header(struct transfer_connection *c, enum transfer_kind kind, uint32_t length)
{
        transfer_header(c->header, kind, length);
        c->out[0] = (struct iovec){c->header, sizeof(c->header)};
        c->out_at = 0;
        c->out_n = 1;
}

static void answer_end(struct transfer_connection *c)
{
        transfer_connection_put_header(c, TRANSFER_END, 0);
        c->ending = true;
}

/* Sends an error to the client, and takes the message out of @error. */
static void answer_failed(struct transfer_connection *c, int code, struct fst_error *error)
{
        size_t len = 4 + strnlen(error_message(error), TRANSFER_SENTENCE - 4 - TRANSFER_CRC);
        free(c->sentence);
        c->sentence = mem_alloc(len + TRANSFER_CRC);
        put_le32((unsigned char *)c->sentence, (uint32_t)-code);
        memcpy(c->sentence + 4, error_message(error), len - 4);
        transfer_crc((unsigned char *)c->sentence + len, c->sentence, len);
        transfer_connection_put_header(c, TRANSFER_FAILED, (uint32_t)(len + TRANSFER_CRC));
        c->out[c->out_n++] = (struct iovec){c->sentence, len + TRANSFER_CRC};
        c->ending = true;
        error_deinit(error);
}

/* Makes a DATA, END or FAILED frame of the stream's next result. */
static void transfer_connection_fill(struct transfer_connection *c)
{
        struct fst_error error = FST_ERROR_INIT;
        size_t total = 0;
        int n = c->stream->class->next(c->stream, c->out + 1, TRANSFER_IOV, &error);
        for (int i = 1; i <= n; i++)
                total += c->out[i].iov_len;
        if (n > 0 && (total == 0 || total > UINT32_MAX))
                n = error_set(&error, -EMSGSIZE, "a piece of %zu bytes cannot be sent", total);
        if (n < 0) {
                answer_failed(c, n, &error);
        } else if (n == 0) {
                answer_end(c);
        } else {
                transfer_connection_put_header(c, TRANSFER_DATA, (uint32_t)total);
                c->out_n = n + 1;
        }
}

static void next_unit(struct transfer_connection *c, enum transfer_phase phase, size_t need, int64_t now)
{
        c->phase = phase;
        c->need = need;
        c->in_len = 0;
        c->since = now;
        if (c->in_cap > KEEP_INPUT) {
                free(steal(c->in));
                c->in_cap = 0;
        }
}

static int transfer_connection_send_answer(struct transfer_connection *c, int64_t now, size_t *moved,
                                           struct fst_error *error)
{
        for (;;) {
                int r = transfer_connection_flush(c, now, moved, error);
                if (r)
                        return r;
                if (c->ending)
                        break;
                if (*moved >= TURN)
                        return FST_TRANSFER_E_AGAIN;
                transfer_connection_fill(c);
        }
        c->ending = false;
        close_exchange(c);
        next_unit(c, PHASE_HEADER, TRANSFER_HEADER, now);
        return 0;
}

/* ------------------------------------------------------------------------------------------------------- input */

/* Reads the current unit. Returns 0, -EAGAIN, or -ESHUTDOWN for an end between exchanges. */
static int transfer_connection_gather(struct transfer_connection *c, int64_t now, struct fst_error *error)
{
        while (c->in_len < c->need) {
                if (c->in_len == c->in_cap) {
                        c->in_cap = MIN(c->need, c->in_cap ? c->in_cap * 2 : (size_t)4096);
                        c->in = mem_grow(c->in, MAX(c->in_cap, (size_t)64));
                }
                ssize_t n = channel_read(c->channel, c->in + c->in_len, MIN(c->in_cap, c->need) - c->in_len);
                if (n == -EAGAIN)
                        return -EAGAIN;
                if (n < 0)
                        return error_set(error, (int)n, "%s", channel_error(c->channel));
                if (n == 0 && c->in_len == 0 && (c->phase == PHASE_HEADER || c->phase == PHASE_GREETING))
                        return -ESHUTDOWN;
                if (n == 0)
                        return error_set(error, -EPROTO, "it ended within a message");
                if (c->in_len == 0 && c->phase == PHASE_HEADER)
                        c->since = now;
                c->moved = now;
                c->received += (uint64_t)n;
                c->in_len += (size_t)n;
        }
        return 0;
}

static int transfer_connection_greeted(struct transfer_connection *c, int64_t now, struct fst_error *error)
{
        uint32_t word = get_le32(c->in + 4);
        if (memcmp(c->in, TRANSFER_MAGIC, 4) != 0)
                return error_set(error, -EPROTO,
                                 "it does not speak this protocol (spark.authenticate and spark.ssl.* "
                                 "must be the same on both sides)");
        if ((word & 0xffff) != TRANSFER_VERSION)
                return error_set(error, -EPROTO, "it speaks version %u of the protocol, this is version %d",
                                 word & 0xffff, TRANSFER_VERSION);
        if (word >> 16 > TRANSFER_APP_ID)
                return error_set(error, -EPROTO, "its application's id has %u bytes", word >> 16);
        next_unit(c, PHASE_APP_ID, word >> 16, now);
        return 0;
}

static int transfer_connection_named(struct transfer_connection *c, int64_t now, struct fst_error *error)
{
        const char *app_id = c->rules->app_id;
        if (app_id && (c->in_len != strlen(app_id) || memcmp(c->in, app_id, c->in_len) != 0)) {
                for (size_t i = 0; i < c->in_len; i++)
                        c->in[i] = c->in[i] >= ' ' && c->in[i] <= '~' ? c->in[i] : '?'; /* it is logged */
                return error_set(error, -EPERM, "it belongs to another application, \"%.*s\"", (int)MIN(c->in_len, 64u),
                                 c->in_len ? (const char *)c->in : "");
        }
        next_unit(c, PHASE_HEADER, TRANSFER_HEADER, now);
        return 0;
}

static int transfer_connection_headed(struct transfer_connection *c, int64_t now, struct fst_error *error)
{
        enum transfer_kind kind;
        uint32_t length;
        if (!transfer_header_parse(c->in, &kind, &length) || (kind != TRANSFER_FETCH && kind != TRANSFER_PUT))
                return error_set(error, -EPROTO, "it sent something other than a request, or bytes were damaged on the way");
        if (length - TRANSFER_CRC > c->rules->max_request)
                return error_set(error, -EMSGSIZE, "its request of %u bytes is larger than the %zu allowed",
                                 length - TRANSFER_CRC, c->rules->max_request);
        c->kind = kind;
        int64_t since = c->since;
        next_unit(c, PHASE_REQUEST, length, now);
        c->since = since;
        return 0;
}

static int transfer_connection_requested(struct transfer_connection *c, int64_t now, struct fst_error *error)
{
        struct fst_error why = FST_ERROR_INIT;
        const struct transfer_handler *h = c->rules->handler;
        const ssize_t len = transfer_crc_check(c->in, c->in_len);
        int r;
        if (len < 0)
                return error_set(error, -EBADMSG, "its request has a wrong checksum: bytes were damaged on the way");
        c->exchanges++;
        c->moved = now;
        c->refused = false;
        if (c->kind == TRANSFER_FETCH) {
                r = h->open(c->rules->owner, c->in, (size_t)len, &c->stream, &why);
                c->phase = PHASE_SENDING;
        } else {
                r = h->put ? h->put(c->rules->owner, c->in, (size_t)len, &c->sink, &why)
                           : error_set(&why, -EOPNOTSUPP, "this server accepts no uploads");
                next_unit(c, PHASE_UPLOAD, TRANSFER_HEADER, now);
        }
        if (r == 0)
                return 0;
        c->refused = true;
        answer_failed(c, r, &why);
        return 0;
}

/* Reports a refused upload or a failed sink at once, and discards further bytes. */
static void transfer_connection_refuse(struct transfer_connection *c, int code, struct fst_error *error)
{
        close_exchange(c);
        c->refused = true;
        answer_failed(c, code, error);
}

static int upload_headed(struct transfer_connection *c, int64_t now, struct fst_error *error)
{
        enum transfer_kind kind;
        uint32_t length;
        if (!transfer_header_parse(c->in, &kind, &length) || (kind != TRANSFER_DATA && kind != TRANSFER_END))
                return error_set(error, -EPROTO, "it sent something other than its upload's bytes, or bytes were damaged on the way");
        if (kind == TRANSFER_DATA) {
                next_unit(c, PHASE_UPLOADING, 0, now);
                c->left = length;
                return 0;
        }
        if (!c->refused) {
                struct fst_error why = FST_ERROR_INIT;
                int r = c->sink->class->end(c->sink, &why);
                if (r)
                        transfer_connection_refuse(c, r, &why);
                else
                        answer_end(c);
        }
        c->phase = PHASE_SENDING; /* of out */
        return 0;
}

static int transfer_connection_uploading(struct transfer_connection *c, int64_t now, unsigned char *scratch,
                                         size_t *moved, struct fst_error *error)
{
        while (c->left > 0) {
                ssize_t n = channel_read(c->channel, scratch, MIN(c->left, TRANSFER_SCRATCH));
                if (n == -EAGAIN)
                        return -EAGAIN;
                if (n <= 0)
                        return n < 0 ? error_set(error, (int)n, "%s", channel_error(c->channel))
                                     : error_set(error, -EPROTO, "it ended within an upload");
                c->moved = now;
                c->received += (uint64_t)n;
                c->left -= (size_t)n;
                *moved += (size_t)n;
                struct fst_error why = FST_ERROR_INIT;
                int r = c->refused ? 0 : c->sink->class->write(c->sink, scratch, (size_t)n, &why);
                if (r)
                        transfer_connection_refuse(c, r, &why);
                if (*moved >= TURN)
                        return FST_TRANSFER_E_AGAIN;
        }
        next_unit(c, PHASE_UPLOAD, TRANSFER_HEADER, now);
        return 0;
}

/* Handles one unit. Returns 0 when it is done, else -EAGAIN or the result of transfer_connection_run. */
static int transfer_connection_step(struct transfer_connection *c, int64_t now, unsigned char *scratch, size_t *moved,
                                    struct fst_error *error)
{
        int r;
        if (c->phase == PHASE_SENDING)
                return transfer_connection_send_answer(c, now, moved, error);
        if (c->phase == PHASE_UPLOADING)
                return transfer_connection_uploading(c, now, scratch, moved, error);
        r = transfer_connection_gather(c, now, error);
        if (r)
                return r;
        switch (c->phase) {
        case PHASE_GREETING:
                return transfer_connection_greeted(c, now, error);
        case PHASE_APP_ID:
                return transfer_connection_named(c, now, error);
        case PHASE_HEADER:
                return transfer_connection_headed(c, now, error);
        case PHASE_REQUEST:
                return transfer_connection_requested(c, now, error);
        default:
                return upload_headed(c, now, error);
        }
}

int transfer_connection_run(struct transfer_connection *c, int64_t now, unsigned char *scratch, int *events,
                            struct fst_error *error)
{
        size_t moved = 0;
        int r;
        do {
                r = transfer_connection_step(c, now, scratch, &moved, error);
                if (r == 0 && moved >= TURN)
                        r = FST_TRANSFER_E_AGAIN;
        } while (r == 0);
        bool early =
                c->phase != PHASE_SENDING && c->out_at < c->out_n; /* the refusal of an upload that is still arriving */
        if (r == -EAGAIN && early) {
                int w = transfer_connection_flush(c, now, &moved, error);
                if (w < 0 && w != -EAGAIN)
                        return w;
        }
        if (r != -EAGAIN)
                return r;
        *events = channel_events(c->channel);
        if (*events == 0)
                *events = c->phase == PHASE_SENDING ? POLLOUT : POLLIN | (early && c->out_at < c->out_n ? POLLOUT : 0);
        return 0;
}
