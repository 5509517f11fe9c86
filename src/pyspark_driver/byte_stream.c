/* Byte streams; see byte_stream.h. A thread serves the one connection. */
#include "pyspark_driver/byte_stream.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/fs.h"
#include "base/mem.h"
#include "net/secret.h"
#include "net/socket.h"
#include "net/socket_exact.h"
#include "py4j/server.h"

#include <endian.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#define CONNECT_TIMEOUT_NS (15 * (int64_t)1000000000)
#define END_OF_CHUNKS (-1)
#define PIECE 65536

struct byte_stream {
        int listener, port;
        int bytes;  /* the descriptor with the bytes */
        bool sends; /* else it receives; a sender does not own `bytes` */
        char secret[SECRET_TEXT], path[32];
        pthread_t thread;
        pthread_mutex_t lock; /* guards `joined` */
        bool joined;
        int stopping; /* atomic: the stream is freed */
        int status;
        struct fst_error error;
};

/* Reads exactly @n bytes. */
static int stream_read(const struct byte_stream *s, int fd, void *data, size_t n, struct fst_error *error)
{
        int r = socket_read_exactly(fd, data, n, SOCKET_NO_DEADLINE, &s->stopping);
        if (r == -EPIPE)
                return error_set(error, r, "Python closed its connection before the end of the data");
        return r ? error_set(error, r, "the connection of Python: %s", strerror(-r)) : 0;
}

static int stream_read_int(const struct byte_stream *s, int fd, int32_t *out, struct fst_error *error)
{
        uint32_t x;
        int r = stream_read(s, fd, &x, sizeof(x), error);
        if (r == 0)
                *out = (int32_t)be32toh(x);
        return r;
}

static int stream_receive_chunks(const struct byte_stream *s, int fd, struct fst_error *error)
{
        _cleanup_free_ char *piece = mem_alloc(PIECE);
        for (;;) {
                int32_t n = 0;
                int r = stream_read_int(s, fd, &n, error);
                if (r < 0 || n == END_OF_CHUNKS)
                        return r;
                if (n < 0)
                        return error_set(error, -EPROTO, "Python sent a chunk of %d bytes", n);
                for (size_t left = (size_t)n; left > 0;) {
                        size_t part = MIN(left, (size_t)PIECE);
                        if ((r = stream_read(s, fd, piece, part, error)) < 0)
                                return r;
                        if ((r = write_all(s->bytes, piece, part)) < 0)
                                return error_set(error, r, "no memory for the data of Python: %s", strerror(-r));
                        left -= part;
                }
        }
}

static int stream_send_bytes(const struct byte_stream *s, int fd, struct fst_error *error)
{
        _cleanup_free_ char *piece = mem_alloc(PIECE);
        for (off_t at = 0;;) {
                ssize_t n = pread(s->bytes, piece, PIECE, at);
                if (n <= 0)
                        return n < 0 ? error_errno(error, "the data of Python") : 0;
                int r = socket_write_exactly(fd, piece, (size_t)n, SOCKET_NO_DEADLINE, &s->stopping);
                if (r < 0)
                        return error_set(error, r, "the connection of Python: %s", strerror(-r));
                at += n;
        }
}

/* Serves the one connection that proves the secret. */
static int stream_serve(const struct byte_stream *s, struct fst_error *error)
{
        int64_t end = now_ns() + CONNECT_TIMEOUT_NS;
        for (;;) {
                if (socket_wait(s->listener, POLLIN, MAX(end - now_ns(), (int64_t)0), &s->stopping) != 1)
                        return error_set(error, -ETIMEDOUT, "Python did not connect within %d s",
                                         (int)(CONNECT_TIMEOUT_NS / 1000000000));
                int fd = socket_accept(s->listener);
                if (fd == -EAGAIN)
                        continue;
                if (fd < 0)
                        return error_set(error, fd, "the connection of Python: %s", strerror(-fd));
                int r = socket_accept_secret(fd, s->secret, SECRET_END_NONE, end, &s->stopping);
                bool known = r == 0;
                if (known)
                        r = s->sends ? stream_send_bytes(s, fd, error) : stream_receive_chunks(s, fd, error);
                close(fd);
                if (known)
                        return r;
        }
}

static void *stream_thread(void *argument)
{
        struct byte_stream *s = argument;
        s->status = stream_serve(s, &s->error);
        return NULL;
}

static int stream_start(struct byte_stream *s, struct byte_stream **out, struct fst_error *error)
{
        int r = secret_draw(s->secret, sizeof(s->secret));
        if (r < 0)
                error_set(error, r, "random bytes for a secret: %s", strerror(-r));
        pthread_mutex_init(&s->lock, NULL);
        s->listener = -1;
        if (r == 0)
                s->listener = r = socket_listen(
                        &(struct listen_options){.service = "PythonStream", .host = "127.0.0.1"}, &s->port, error);
        if (r >= 0 && (r = -pthread_create(&s->thread, NULL, stream_thread, s)) < 0)
                error_set(error, r, "a thread for the data of Python: %s", strerror(-r));
        if (r < 0) {
                s->joined = true;
                byte_stream_free(s);
                return r;
        }
        *out = s;
        return 0;
}

int byte_stream_receive(struct byte_stream **out, struct fst_error *error)
{
        struct byte_stream *s = new0(struct byte_stream);
        s->bytes = memfd_create("python", MFD_CLOEXEC);
        if (s->bytes < 0) {
                int r = error_errno(error, "memory for the data of Python");
                free(s);
                return r;
        }
        snprintf(s->path, sizeof(s->path), "/proc/self/fd/%d", s->bytes);
        return stream_start(s, out, error);
}

int byte_stream_send(const struct byte_stream *from, struct byte_stream **out, struct fst_error *error)
{
        struct byte_stream *s = new0(struct byte_stream);
        s->bytes = from->bytes;
        s->sends = true;
        return stream_start(s, out, error);
}

int byte_stream_port(const struct byte_stream *s)
{
        return s->port;
}

const char *byte_stream_secret(const struct byte_stream *s)
{
        return s->secret;
}

const char *byte_stream_path(const struct byte_stream *s)
{
        return s->path;
}

static void stream_join(struct byte_stream *s)
{
        pthread_mutex_lock(&s->lock);
        if (!s->joined)
                pthread_join(s->thread, NULL);
        s->joined = true;
        pthread_mutex_unlock(&s->lock);
}

int byte_stream_wait(struct byte_stream *s, struct fst_error *error)
{
        stream_join(s);
        return s->status < 0 ? error_set(error, s->status, "%s", error_message(&s->error)) : 0;
}

void byte_stream_free(struct byte_stream *s)
{
        if (!s)
                return;
        __atomic_store_n(&s->stopping, 1, __ATOMIC_RELAXED);
        stream_join(s);
        pthread_mutex_destroy(&s->lock);
        if (s->listener >= 0)
                close(s->listener);
        if (!s->sends)
                close(s->bytes);
        error_deinit(&s->error);
        free(s);
}
