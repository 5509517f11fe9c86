/* See push_connection.h. A frame is a list of pieces of memory: its head, and the headers and data of its batches. */
#include "celeborn/push/push_connection.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/mem.h"
#include "celeborn/protocol/celeborn_auth.h"
#include "net/channel.h"
#include "net/socket.h"

#include <limits.h>
#include <netdb.h>
#include <poll.h>
#include <stdio.h>
#include <unistd.h>

#define MAX_ANSWER ((size_t)1 << 20)
#define READ_SIZE ((size_t)32 << 10)
#define UNIQUE_ID 24 /* "partition-epoch" */

struct push_frame {
        struct push_frame *prev, *next;
        int64_t request;
        struct buf head;
        size_t n, at; /* pieces, and the first that is not completely sent */
        struct iovec pieces[];
};

/* ---------------------------------------------------------------------------------------------------- connecting */

int push_connection_start(struct push_connection *c, struct push_worker_name name, const char *app_id,
                          const char *secret, int64_t deadline, struct fst_error *error)
{
        struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *found = NULL;
        char port[16];
        snprintf(port, sizeof(port), "%d", name.port);
        int r = getaddrinfo(name.host, port, &hints, &found);
        if (r)
                return error_set(error, -ENOENT, "cannot find Celeborn's worker %s: %s", name.host, gai_strerror(r));
        int fd = socket_connect_start(found->ai_addr, found->ai_addrlen, error);
        freeaddrinfo(found);
        if (fd < 0)
                return fd;
        r = secret ? celeborn_auth_new(CELEBORN_AUTH_PROVE, app_id, secret, &c->auth, &c->auth_out, error) : 0;
        if (r) {
                close(fd);
                return r;
        }
        c->fd = fd;
        c->deadline = deadline;
        return 0;
}

bool push_connection_is_open(const struct push_connection *c)
{
        return c->fd >= 0 || c->channel;
}

static void push_frame_free(struct push_frame *f)
{
        buf_deinit(&f->head);
        free(f);
}

void push_connection_close(struct push_connection *c)
{
        if (c->fd >= 0)
                close(c->fd);
        c->fd = -1;
        channel_free(steal(c->channel));
        for (struct push_frame *f; (f = list_pop(&c->frames));)
                push_frame_free(f);
        celeborn_auth_free(steal(c->auth));
        buf_deinit(&c->auth_out);
        c->auth_out = BUF_INIT;
        buf_deinit(&c->in);
        c->in = BUF_INIT;
        c->connected = false;
}

static int push_connection_finish(struct push_connection *c, int64_t now, struct fst_error *error)
{
        int r = socket_wait(c->fd, POLLOUT, 0, NULL);
        if (r == 0)
                return now < c->deadline ? 0
                                         : error_set(error, -ETIMEDOUT,
                                                     "no connection to Celeborn's worker within "
                                                     "spark.celeborn.network.connect.timeout");
        if (r < 0 || (r = socket_connected(c->fd)))
                return error_set(error, r, "cannot connect to Celeborn's worker: %s", strerror(-r));
        int fd = c->fd;
        c->fd = -1;
        r = channel_new(fd, NULL, CHANNEL_CLIENT, &c->channel, error);
        c->connected = r == 0;
        return r;
}

int push_connection_fd(const struct push_connection *c)
{
        return c->channel ? channel_fd(c->channel) : c->fd;
}

int push_connection_events(const struct push_connection *c)
{
        const bool has_output = c->auth ? c->auth_out.len > 0 : c->frames.first != NULL;
        return !c->connected ? POLLOUT : POLLIN | (has_output ? POLLOUT : 0);
}

/* ------------------------------------------------------------------------------------------------------- sending */

/* Writes the head of a merged body. */
static void push_frame_put_merged(struct push_frame *f, const struct push_body *body, const char *shuffle_key)
{
        char(*ids)[UNIQUE_ID] = mem_zero_array((size_t)body->n, UNIQUE_ID);
        const char **partitions = new_array(const char *, (size_t)body->n);
        uint32_t *offsets = new_array(uint32_t, (size_t)body->n);
        uint32_t at = 0;
        int i = 0;
        for (const struct push_batch *b = body->batches.first; b; b = b->next, i++) {
                snprintf(ids[i], UNIQUE_ID, "%d-%d", b->partition, b->epoch);
                partitions[i] = ids[i];
                offsets[i] = at;
                at += CELEBORN_BATCH_HEADER + b->size;
        }
        celeborn_put_push_merged(&f->head, body->request, shuffle_key, partitions, offsets, body->n, body->bytes);
        free(offsets);
        free(partitions);
        free(ids);
}

void push_connection_send(struct push_connection *c, const struct push_body *body, const char *shuffle_key)
{
        struct push_frame *f = mem_zero(sizeof(*f) + (1 + 2 * (size_t)body->n) * sizeof(f->pieces[0]));
        f->request = body->request;
        if (body->n == 1) {
                char id[UNIQUE_ID];
                snprintf(id, sizeof(id), "%d-%d", body->batches.first->partition, body->batches.first->epoch);
                celeborn_put_push(&f->head, body->request, shuffle_key, id, body->bytes);
        } else {
                push_frame_put_merged(f, body, shuffle_key);
        }
        f->pieces[f->n++] = (struct iovec){f->head.data, f->head.len};
        for (struct push_batch *b = body->batches.first; b; b = b->next) {
                struct push_item *item = container_of(b, struct push_item, batch);
                page_batch_seal(item->header, (struct celeborn_batch){.map = b->attempt->map,
                                                                      .attempt = b->attempt->id,
                                                                      .batch = b->id,
                                                                      .size = (int32_t)b->size});
                f->pieces[f->n++] = (struct iovec){item->header, sizeof(item->header)};
                if (item->data_size)
                        f->pieces[f->n++] = (struct iovec){(void *)item->data, item->data_size};
        }
        list_append(&c->frames, f);
}

bool push_connection_is_sending(const struct push_connection *c, int64_t request)
{
        const struct push_frame *f = c->frames.first;
        while (f && f->request != request)
                f = f->next;
        return f != NULL;
}

/* Leaves @n sent bytes behind. */
static void push_frame_advance(struct push_frame *f, size_t n)
{
        while (f->at < f->n && n >= f->pieces[f->at].iov_len)
                n -= f->pieces[f->at++].iov_len;
        if (n == 0)
                return;
        f->pieces[f->at].iov_base = (char *)f->pieces[f->at].iov_base + n;
        f->pieces[f->at].iov_len -= n;
}

/* Writes the request of authentication. */
static int push_connection_write_auth(struct push_connection *c, struct fst_error *error)
{
        while (c->auth_out.len) {
                struct iovec piece = {c->auth_out.data, c->auth_out.len};
                ssize_t n = channel_writev(c->channel, &piece, 1);
                if (n == -EAGAIN)
                        return 0;
                if (n < 0)
                        return error_set(error, (int)n, "writing to Celeborn's worker: %s", channel_error(c->channel));
                memmove(c->auth_out.data, c->auth_out.data + n, c->auth_out.len - (size_t)n);
                buf_truncate(&c->auth_out, c->auth_out.len - (size_t)n);
        }
        return 0;
}

int push_connection_write(struct push_connection *c, int64_t now, struct fst_error *error)
{
        if (!c->connected) {
                int r = push_connection_finish(c, now, error);
                if (r || !c->connected)
                        return r;
        }
        if (c->auth)
                return push_connection_write_auth(c, error);
        for (struct push_frame *f; (f = c->frames.first);) {
                ssize_t n = channel_writev(c->channel, f->pieces + f->at, (int)MIN(f->n - f->at, (size_t)IOV_MAX));
                if (n == -EAGAIN)
                        return 0;
                if (n < 0)
                        return error_set(error, (int)n, "writing to Celeborn's worker: %s", channel_error(c->channel));
                push_frame_advance(f, (size_t)n);
                if (f->at == f->n) {
                        list_remove(&c->frames, f);
                        push_frame_free(f);
                }
        }
        return 0;
}

/* ------------------------------------------------------------------------------------------------------- reading */

/* Handles a frame of authentication. */
static int push_connection_on_auth(struct push_connection *c, const struct celeborn_frame *frame,
                                   struct fst_error *error)
{
        int r = celeborn_auth_on_frame(c->auth, frame, &c->auth_out, error);
        if (r != FST_CELEBORN_E_AUTHENTICATED)
                return r;
        celeborn_auth_free(steal(c->auth));
        return 0;
}

static int push_connection_parse(struct push_connection *c,
                                 int (*answer)(void *owner, const struct celeborn_frame *frame,
                                               struct fst_error *error),
                                 void *owner, struct fst_error *error)
{
        size_t at = 0, size;
        int r = 0;
        struct celeborn_frame frame;
        while ((r = celeborn_frame_parse((const uint8_t *)c->in.data + at, c->in.len - at, MAX_ANSWER, &frame, &size,
                                         error)) == 0) {
                r = c->auth ? push_connection_on_auth(c, &frame, error) : answer(owner, &frame, error);
                if (r)
                        return r;
                at += size;
        }
        if (r < 0)
                return r;
        memmove(c->in.data, c->in.data + at, c->in.len - at);
        buf_truncate(&c->in, c->in.len - at);
        return 0;
}

int push_connection_read(struct push_connection *c,
                         int (*answer)(void *owner, const struct celeborn_frame *frame, struct fst_error *error),
                         void *owner, struct fst_error *error)
{
        for (;;) {
                buf_reserve(&c->in, READ_SIZE);
                ssize_t n = channel_read(c->channel, c->in.data + c->in.len, READ_SIZE);
                if (n == -EAGAIN)
                        return 0;
                if (n == 0)
                        return error_set(error, -ECONNRESET, "Celeborn's worker has closed the connection");
                if (n < 0)
                        return error_set(error, (int)n, "reading from Celeborn's worker: %s",
                                         channel_error(c->channel));
                c->in.len += (size_t)n;
                int r = push_connection_parse(c, answer, owner, error);
                if (r)
                        return r;
        }
}
