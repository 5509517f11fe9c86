/* See chunk_stream.h. */
#include "celeborn/fetch/chunk_stream.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/mem.h"
#include "celeborn/protocol/celeborn.pb-c.h"
#include "celeborn/protocol/celeborn_auth.h"
#include "celeborn/protocol/celeborn_message.h"
#include "net/channel.h"
#include "net/socket.h"
#include "rpc/wire_memory.h"

#include "base/log.h"

#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define LOG "Celeborn"
#define FILL ((size_t)16 << 10) /* bytes to read at once for headers: what follows goes to its place without a copy */
#define AHEAD 3                 /* chunks requested ahead */
#define MAX_HEAD FETCH_BUFFER   /* bytes of a frame's head, and of the body of an answer */
#define WHOLE_CHUNK INT32_MAX
#define NO_FILE "FileNotFound" /* in the text of a failure */

struct fetch_idle {
        struct fetch_idle *prev, *next;
        struct channel *channel;
        char *host;
        int port;
        int64_t request;
};

/* --------------------------------------------------------------------------------------------------- connections */

void fetch_connections_init(struct fetch_connections *c, int max, int64_t connect_timeout, int64_t timeout)
{
        *c = (struct fetch_connections){.max = max, .connect_timeout = connect_timeout, .timeout = timeout};
        pthread_mutex_init(&c->lock, NULL);
}

static void fetch_idle_free(struct fetch_idle *idle)
{
        channel_free(idle->channel);
        free(idle->host);
        free(idle);
}

void fetch_connections_deinit(struct fetch_connections *c)
{
        for (struct fetch_idle *idle; (idle = list_pop(&c->idle));)
                fetch_idle_free(idle);
        pthread_mutex_destroy(&c->lock);
}

/* Takes an idle connection into the stream. Returns false if there is none. */
static bool fetch_connections_take(struct fetch_connections *c, struct chunk_stream *s, const char *host, int port)
{
        for (;;) {
                pthread_mutex_lock(&c->lock);
                struct fetch_idle *idle = c->idle.first;
                while (idle && (idle->port != port || strcmp(idle->host, host) != 0))
                        idle = idle->next;
                if (idle) {
                        list_remove(&c->idle, idle);
                        c->n--;
                }
                pthread_mutex_unlock(&c->lock);
                if (!idle)
                        return false;
                struct pollfd p = {.fd = channel_fd(idle->channel), .events = POLLIN};
                if (!channel_pending(idle->channel) && poll(&p, 1, 0) == 0) {
                        s->channel = steal(idle->channel);
                        s->request = idle->request;
                }
                fetch_idle_free(idle); /* or the worker has closed it */
                if (s->channel)
                        return true;
        }
}

/* Keeps the connection of a stream, or closes it. */
static void fetch_connections_put(struct fetch_connections *c, struct chunk_stream *s)
{
        struct fetch_idle *idle = new0(struct fetch_idle);
        *idle = (struct fetch_idle){
                .channel = steal(s->channel), .host = steal(s->host), .port = s->port, .request = s->request};
        pthread_mutex_lock(&c->lock);
        bool keep = c->n < c->max;
        if (keep) {
                list_prepend(&c->idle, idle);
                c->n++;
        }
        pthread_mutex_unlock(&c->lock);
        if (!keep)
                fetch_idle_free(idle);
}

/* --------------------------------------------------------------------------------------------------------- bytes */

/* Reads at least one and at most @n bytes. Returns their number, or negative with @error. */
static ssize_t chunk_stream_some(struct chunk_stream *s, void *data, size_t n, struct fst_error *error)
{
        int64_t began = now_ns();
        ssize_t got;
        if (s->is_local) {
                do
                        got = read(s->file, data, n);
                while (got < 0 && errno == EINTR);
                if (got <= 0)
                        got = error_set(error, got < 0 ? -errno : -EBADMSG, "the file of Celeborn's worker %s %s",
                                        channel_peer(s->channel), got < 0 ? "cannot be read" : "is too short");
        } else {
                got = channel_read_some(s->channel, data, n, s->connections->timeout, s->stopped, error);
                if (got == 0)
                        got = error_set(error, -ECONNRESET, "Celeborn's worker %s has closed the connection",
                                        channel_peer(s->channel));
        }
        s->wait_ns += now_ns() - began;
        return got;
}

/* Waits for more bytes at the end of the buffer, which is empty. */
static int chunk_stream_fill(struct chunk_stream *s, struct fst_error *error)
{
        ssize_t n = chunk_stream_some(s, s->buffer, FILL, error);
        if (n < 0)
                return (int)n;
        s->from = 0;
        s->to = (size_t)n;
        return 0;
}

static int chunk_stream_bytes(struct chunk_stream *s, void *data, size_t n, struct fst_error *error)
{
        unsigned char *out = data;
        while (n > 0) {
                if (s->from == s->to && n >= FILL) { /* without a copy */
                        ssize_t got = chunk_stream_some(s, out, n, error);
                        if (got < 0)
                                return (int)got;
                        out += got;
                        n -= (size_t)got;
                        continue;
                }
                if (s->from == s->to) {
                        int r = chunk_stream_fill(s, error);
                        if (r)
                                return r;
                }
                size_t part = MIN(n, s->to - s->from);
                memcpy(out, s->buffer + s->from, part);
                s->from += part;
                out += part;
                n -= part;
        }
        return 0;
}

/* Takes at most @n received bytes from the socket without a copy. Returns their number, 0 if there are none. */
static size_t chunk_stream_drop(struct chunk_stream *s, size_t n)
{
        const ssize_t got = recv(channel_fd(s->channel), NULL, n, MSG_TRUNC | MSG_DONTWAIT); /* on TCP */
        return got > 0 ? MIN((size_t)got, n) : 0;
}

/* Leaves bytes behind that belong to no chunk, or to the current one. */
static int chunk_stream_discard(struct chunk_stream *s, size_t n, struct fst_error *error)
{
        while (n > 0) {
                if (s->from == s->to && s->is_local) {
                        if (lseek(s->file, (off_t)n, SEEK_CUR) < 0)
                                return error_set(error, -errno, "the file of Celeborn's worker %s cannot be read: %s",
                                                 channel_peer(s->channel), strerror(errno));
                        return 0;
                }
                if (s->from == s->to) {
                        const size_t dropped = chunk_stream_drop(s, n);
                        n -= dropped;
                        int r = dropped ? 0 : chunk_stream_fill(s, error);
                        if (r)
                                return r;
                }
                size_t part = MIN(n, s->to - s->from);
                s->from += part;
                n -= part;
        }
        return 0;
}

/* -------------------------------------------------------------------------------------------------------- frames */

static int chunk_stream_request(struct chunk_stream *s, int type, const ProtobufCMessage *message,
                                struct fst_error *error)
{
        _cleanup_(buf_deinit) struct buf out = BUF_INIT;
        celeborn_put_data_request(&out, ++s->request, type, message);
        struct iovec piece = {out.data, out.len};
        return channel_writev_all(s->channel, &piece, 1, s->connections->timeout, s->stopped, error);
}

/*
 * Reads the header and the head of the next frame that is not a heartbeat. The body of an answer or failure is read,
 * too into s->head; that of a chunk is not.
 */
static int chunk_stream_frame(struct chunk_stream *s, struct celeborn_frame *frame, struct fst_error *error)
{
        for (;;) {
                unsigned char header[CELEBORN_FRAME_HEADER];
                int r = chunk_stream_bytes(s, header, sizeof(header), error);
                if (r)
                        return r;
                *frame = (struct celeborn_frame){
                        .type = header[4], .head_len = get_be32(header), .body_len = get_be32(header + 5)};
                bool chunk = frame->type == CELEBORN_CHUNK_FETCH_SUCCESS;
                size_t known = (size_t)frame->head_len + (chunk ? 0 : frame->body_len);
                if (known > MAX_HEAD || frame->body_len > INT32_MAX)
                        return error_set(error, -EBADMSG, "Celeborn's worker %s sent a frame of type %u with %zu bytes",
                                         channel_peer(s->channel), frame->type, known);
                if ((r = chunk_stream_bytes(s, s->head, known, error)))
                        return r;
                frame->head = s->head;
                frame->body = s->head + frame->head_len;
                if (frame->type != CELEBORN_HEARTBEAT)
                        return 0;
        }
}

/* Returns the status of a frame that has a failure's text. */
static int chunk_stream_failure(const struct chunk_stream *s, const struct celeborn_frame *frame,
                                struct fst_error *error)
{
        const char *text;
        size_t len;
        if (!celeborn_frame_failure(frame, &text, &len))
                return error_set(error, -EBADMSG, "Celeborn's worker %s sent an unexpected frame of type %u",
                                 channel_peer(s->channel), frame->type);
        len = MIN(len, (size_t)300);
        return error_set(error, memmem(text, len, NO_FILE, strlen(NO_FILE)) ? -ENOENT : -EIO,
                         "Celeborn's worker %s: %.*s", channel_peer(s->channel), (int)len, text);
}

static int chunk_stream_request_chunk(struct chunk_stream *s, struct fst_error *error)
{
        Celeborn__StreamChunkSlice slice = CELEBORN__STREAM_CHUNK_SLICE__INIT;
        slice.stream_id = s->id;
        slice.chunk_index = s->requested++;
        slice.len = WHOLE_CHUNK;
        Celeborn__ChunkFetchRequest request = CELEBORN__CHUNK_FETCH_REQUEST__INIT;
        request.stream_chunk_slice = &slice;
        return chunk_stream_request(s, CELEBORN_CHUNK_FETCH_REQUEST, &request.base, error);
}

/* Requests the file that the stream names. */
static int chunk_stream_request_open(struct chunk_stream *s, const char *key, const char *name, int n_maps, bool local,
                                     struct fst_error *error)
{
        Celeborn__OpenStream open = CELEBORN__OPEN_STREAM__INIT;
        open.shuffle_key = (char *)key;
        open.file_name = (char *)name;
        open.end_index = n_maps;
        open.read_local_shuffle = local;
        return chunk_stream_request(s, CELEBORN_OPEN_STREAM, &open.base, error);
}

/* Opens the file that a worker has named. The worker is not trusted: what is not a regular file is refused. Returns a
 * descriptor, or a negative status. */
static int chunk_stream_open_local(const char *path)
{
        struct stat at;
        const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
        if (fd < 0)
                return -errno;
        if (fstat(fd, &at) == 0 && S_ISREG(at.st_mode))
                return fd;
        close(fd);
        return -EINVAL;
}

/* The worker has named the file: reads it from its place, or, if that is impossible, requests its chunks. */
static int chunk_stream_use_local(struct chunk_stream *s, const Celeborn__StreamHandler *handler,
                                  struct fst_error *error)
{
        const size_t n = handler->n_chunk_offsets;
        const int64_t first = n ? handler->chunk_offsets[0] : 0, last = n ? handler->chunk_offsets[n - 1] : 0;
        if (first < 0 || last < first)
                return error_set(error, -EBADMSG, "Celeborn's worker %s named an impossible part of a file",
                                 channel_peer(s->channel));
        s->file = chunk_stream_open_local(handler->full_path);
        if (s->file >= 0 && lseek(s->file, (off_t)first, SEEK_SET) == (off_t)first) {
                if (s->from != s->to) /* a heartbeat, perhaps not all of it: the connection is not used again */
                        free(steal(s->host));
                s->from = s->to = 0;
                s->is_local = true;
                s->left = (size_t)(last - first);
                return 0;
        }
        log_debug(LOG, "files of the worker %s are not read from their place: %s", channel_peer(s->channel),
                  strerror(s->file < 0 ? -s->file : errno));
        if (s->file >= 0)
                close(s->file);
        __atomic_store_n(&s->connections->no_local, 1, __ATOMIC_RELAXED);
        s->opened = false;
        const int r = chunk_stream_request_open(s, s->key, s->name, s->n_maps, false, error);
        free(steal(s->key));
        return r;
}

/* Notes which chunks the file has. */
static int chunk_stream_on_handler(struct chunk_stream *s, const Celeborn__StreamHandler *handler,
                                   struct fst_error *error)
{
        s->id = handler->stream_id;
        s->chunks = handler->num_chunks;
        s->opened = true;
        if (s->key && *handler->full_path) {
                s->chunks = 0;
                return chunk_stream_use_local(s, handler, error);
        }
        if (s->chunks == 0) /* a file that a worker has committed is not empty */
                return error_set(error, -ENOENT,
                                 "Celeborn's worker %s has no chunks of the file, which is in HDFS, S3 or OSS: give "
                                 "workers local disks (celeborn.worker.storage.dirs)",
                                 channel_peer(s->channel));
        return 0;
}

/* Waits for the answer to OpenStream. */
static int chunk_stream_opened(struct chunk_stream *s, struct fst_error *error)
{
        struct celeborn_frame frame;
        struct celeborn_message message;
        int r = chunk_stream_frame(s, &frame, error);
        if (r)
                return r;
        if (frame.type != CELEBORN_RPC_RESPONSE)
                return chunk_stream_failure(s, &frame, error);
        if ((r = celeborn_data_message_parse(frame.body, frame.body_len, &message, error)))
                return r;
        struct wire_memory memory = wire_memory_for(message.len);
        ProtobufCAllocator allocator = wire_memory_allocator(&memory);
        const Celeborn__StreamHandler *handler =
                message.type == CELEBORN_STREAM_HANDLER
                        ? celeborn__stream_handler__unpack(&allocator, message.len, message.body)
                        : NULL;
        if (!handler || handler->num_chunks < 0)
                r = error_set(error, -EBADMSG, "Celeborn's worker %s opened no stream", channel_peer(s->channel));
        else
                r = chunk_stream_on_handler(s, handler, error);
        arena_deinit(&memory.arena);
        return r;
}

/* Waits for the next chunk, of which `left` bytes are to be read. */
static int chunk_stream_next_chunk(struct chunk_stream *s, struct fst_error *error)
{
        struct celeborn_frame frame;
        struct celeborn_slice slice;
        int r;
        while (s->requested < s->chunks && s->requested - s->arrived < s->ahead)
                if ((r = chunk_stream_request_chunk(s, error)))
                        return r;
        if ((r = chunk_stream_frame(s, &frame, error)))
                return r;
        if (frame.type != CELEBORN_CHUNK_FETCH_SUCCESS)
                return chunk_stream_failure(s, &frame, error);
        if (!celeborn_frame_slice(&frame, &slice) || slice.stream_id != s->id || slice.chunk != s->arrived)
                return error_set(error, -EBADMSG, "Celeborn's worker %s sent another chunk than chunk %d",
                                 channel_peer(s->channel), s->arrived);
        s->arrived++;
        s->left = frame.body_len;
        return 0;
}

/* -------------------------------------------------------------------------------------------------------- stream */

static void chunk_stream_use(struct chunk_stream *s, struct fetch_connections *connections, struct channel *channel)
{
        s->connections = connections;
        s->channel = channel;
        s->ahead = AHEAD;
        s->buffer = mem_zero(FETCH_BUFFER + MAX_HEAD);
        s->head = s->buffer + FETCH_BUFFER;
}

static int chunk_stream_request_file(struct chunk_stream *s, const struct chunk_file *file, struct fst_error *error)
{
        const bool local = file->local && !__atomic_load_n(&s->connections->no_local, __ATOMIC_RELAXED) &&
                           socket_is_within_host(channel_fd(s->channel));
        if (local) {
                s->key = mem_strdup(file->key);
                s->name = mem_strdup(file->name);
                s->n_maps = file->n_maps;
        }
        return chunk_stream_request_open(s, file->key, file->name, file->n_maps, local, error);
}

/* Proves the application's secret on a new connection. */
static int chunk_stream_authenticate(struct chunk_stream *s, const struct chunk_file *file, struct fst_error *error)
{
        _cleanup_(buf_deinit) struct buf out = BUF_INIT;
        struct celeborn_auth *auth;
        struct celeborn_frame frame;
        int r = celeborn_auth_new(CELEBORN_AUTH_PROVE, file->app_id, file->secret, &auth, &out, error);
        if (r)
                return r;
        while (r == 0) {
                struct iovec piece = {out.data, out.len};
                r = channel_writev_all(s->channel, &piece, 1, s->connections->timeout, s->stopped, error);
                out.len = 0;
                while (r == 0 && out.len == 0)
                        if ((r = chunk_stream_frame(s, &frame, error)) == 0)
                                r = celeborn_auth_on_frame(auth, &frame, &out, error);
        }
        celeborn_auth_free(auth);
        return r == FST_CELEBORN_E_AUTHENTICATED ? 0 : r;
}

int chunk_stream_attach(struct chunk_stream *s, struct fetch_connections *connections, struct channel *channel,
                        const struct chunk_file *file, struct fst_error *error)
{
        chunk_stream_use(s, connections, channel);
        int r = chunk_stream_request_file(s, file, error);
        if (r)
                chunk_stream_close(s);
        return r;
}

int chunk_stream_open(struct chunk_stream *s, struct fetch_connections *connections, const struct chunk_file *file,
                      const int *stopped, struct fst_error *error)
{
        s->stopped = stopped;
        const bool idle = fetch_connections_take(connections, s, file->host, file->port);
        int r = 0;
        if (!idle) {
                int fd = socket_connect(file->host, file->port, connections->connect_timeout, stopped, error);
                r = fd < 0 ? fd : channel_new(fd, NULL, CHANNEL_CLIENT, &s->channel, error);
                if (r)
                        return r;
        }
        free(s->host);
        s->host = mem_strdup(file->host);
        s->port = file->port;
        chunk_stream_use(s, connections, steal(s->channel));
        if (!idle && file->secret)
                r = chunk_stream_authenticate(s, file, error);
        if (r == 0)
                r = chunk_stream_request_file(s, file, error);
        if (r)
                chunk_stream_close(s);
        return r;
}

int chunk_stream_head(struct chunk_stream *s, unsigned char header[static PAGE_BATCH_HEADER],
                      struct celeborn_batch *batch, size_t *left, struct fst_error *error)
{
        int r = 0;
        while (r == 0 && !s->opened)
                r = chunk_stream_opened(s, error);
        while (r == 0 && s->left == 0) {
                if (s->arrived == s->chunks)
                        return FST_CHUNK_E_END;
                r = chunk_stream_next_chunk(s, error);
        }
        if (r)
                return r;
        if (s->left < PAGE_BATCH_HEADER)
                return error_set(error, -EBADMSG, "Celeborn's worker %s sent a chunk with half a batch",
                                 channel_peer(s->channel));
        if ((r = chunk_stream_bytes(s, header, PAGE_BATCH_HEADER, error)))
                return r;
        if (!page_batch_is_sound(header))
                return error_set(error, -EBADMSG, "Celeborn's worker %s sent a damaged header of a batch",
                                 channel_peer(s->channel));
        *batch = celeborn_batch_get(header);
        *left = s->left - CELEBORN_BATCH_HEADER;
        s->left -= PAGE_BATCH_HEADER;
        return 0;
}

int chunk_stream_read(struct chunk_stream *s, void *data, size_t n, struct fst_error *error)
{
        s->left -= n;
        return chunk_stream_bytes(s, data, n, error);
}

int chunk_stream_skip(struct chunk_stream *s, size_t n, struct fst_error *error)
{
        s->left -= n;
        return chunk_stream_discard(s, n, error);
}

void chunk_stream_close(struct chunk_stream *s)
{
        bool complete =
                s->channel && s->opened && s->arrived == s->chunks && s->left == 0 && (s->is_local || s->from == s->to);
        if (s->is_local)
                close(s->file);
        if (complete && s->host) {
                Celeborn__BufferStreamEnd end = CELEBORN__BUFFER_STREAM_END__INIT;
                end.stream_id = s->id;
                if (chunk_stream_request(s, CELEBORN_BUFFER_STREAM_END, &end.base, NULL) == 0)
                        fetch_connections_put(s->connections, s);
        }
        channel_free(s->channel);
        free(s->host);
        free(s->key);
        free(s->name);
        free(s->buffer);
        *s = (struct chunk_stream){.wait_ns = s->wait_ns};
}
