/* See file_server.h. Each transfer opens the file and reads it in parts. */
#include "driver/backend/file_server.h"

#include "base/error.h"
#include "base/mem.h"
#include "base/vec.h"
#include "net/sha256.h"
#include "rpc/transfer/transfer.h"
#include "rpc/transfer/transfer.pb-c.h"

#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#define PART ((size_t)256 << 10)

struct served_file {
        uint8_t hash[FILE_HASH_SIZE];
        char *path;
};

struct file_server {
        const struct sha256_ops *sha256;
        pthread_mutex_t lock;
        VEC(struct served_file) files;
};

struct file_server *file_server_new(const struct sha256_ops *sha256)
{
        struct file_server *s = new0(struct file_server);
        s->sha256 = sha256;
        pthread_mutex_init(&s->lock, NULL);
        return s;
}

void file_server_free(struct file_server *s)
{
        if (!s)
                return;
        for (size_t i = 0; i < s->files.len; i++)
                free(s->files.data[i].path);
        vec_deinit(&s->files);
        pthread_mutex_destroy(&s->lock);
        free(s);
}

static ssize_t file_server_read_part(int fd, unsigned char *part)
{
        ssize_t n;
        do
                n = read(fd, part, PART);
        while (n < 0 && errno == EINTR);
        return n < 0 ? -errno : n;
}

static int file_server_hash_file(struct file_server *s, int fd, uint8_t *hash, uint64_t *size)
{
        struct sha256 *sha = s->sha256->begin();
        unsigned char *part = mem_alloc(PART);
        ssize_t n = sha ? 1 : -ENOMEM;
        while (n > 0 && (n = file_server_read_part(fd, part)) > 0) {
                *size += (uint64_t)n;
                s->sha256->add(sha, part, (size_t)n);
        }
        free(part);
        if (sha)
                s->sha256->end(sha, n ? NULL : hash);
        return (int)n;
}

int file_server_add(struct file_server *s, const char *path, uint8_t hash[static FILE_HASH_SIZE], uint64_t *size,
                    struct fst_error *error)
{
        uint8_t got[FILE_HASH_SIZE];
        uint64_t bytes = 0;
        int fd = open(path, O_RDONLY | O_CLOEXEC);
        int r = fd < 0 ? -errno : file_server_hash_file(s, fd, got, &bytes);
        if (fd >= 0)
                close(fd);
        if (r)
                return error_set(error, r, "%s cannot be served to executors: %s", path, strerror(-r));
        bool known = false;
        pthread_mutex_lock(&s->lock);
        for (size_t i = 0; i < s->files.len && !known; i++)
                known = memcmp(s->files.data[i].hash, got, sizeof(got)) == 0;
        if (!known) {
                struct served_file file = {.path = mem_strdup(path)};
                memcpy(file.hash, got, sizeof(got));
                vec_push(&s->files, file);
        }
        pthread_mutex_unlock(&s->lock);
        memcpy(hash, got, sizeof(got));
        *size = bytes;
        return 0;
}

struct file_stream {
        struct transfer_stream stream;
        int fd;
        unsigned char part[PART];
};

static int file_stream_next(struct transfer_stream *stream, struct iovec *iov, int max, struct fst_error *error)
{
        struct file_stream *s = container_of(stream, struct file_stream, stream);
        ssize_t n = file_server_read_part(s->fd, s->part);
        if (n < 0)
                return error_set(error, (int)n, "reading the file: %s", strerror((int)-n));
        iov[0] = (struct iovec){s->part, (size_t)n};
        return n > 0;
}

static void file_stream_close(struct transfer_stream *stream)
{
        struct file_stream *s = container_of(stream, struct file_stream, stream);
        close(s->fd);
        free(s);
}

static const struct transfer_stream_class file_stream_class = {.next = file_stream_next, .close = file_stream_close};

int file_server_fetch_file(void *server, const struct Firesteel__FetchFile *request, struct transfer_stream **stream,
                           struct fst_error *error)
{
        struct file_server *s = server;
        _cleanup_free_ char *path = NULL;
        if (request->sha256.len != FILE_HASH_SIZE)
                return error_set(error, -EINVAL, "a file's sha-256 has 32 bytes, not %zu", request->sha256.len);
        pthread_mutex_lock(&s->lock);
        for (size_t i = 0; i < s->files.len && !path; i++)
                if (memcmp(s->files.data[i].hash, request->sha256.data, FILE_HASH_SIZE) == 0)
                        path = mem_strdup(s->files.data[i].path);
        pthread_mutex_unlock(&s->lock);
        if (!path)
                return error_set(error, -ENOENT, "the driver does not serve this file");
        int fd = open(path, O_RDONLY | O_CLOEXEC);
        if (fd < 0)
                return error_set(error, -errno, "the driver cannot read the file: %s", strerror(errno));
        struct file_stream *f = mem_alloc(sizeof(*f));
        f->stream.class = &file_stream_class;
        f->fd = fd;
        *stream = &f->stream;
        return 0;
}
