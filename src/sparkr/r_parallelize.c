/* See r_parallelize.h. A thread of the server serves its connection: R waits for the answer to its secret first. */
#include "sparkr/r_parallelize.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/vec.h"
#include "net/secret.h"
#include "net/socket.h"
#include "net/socket_exact.h"
#include "r/r_process.h"
#include "sparkr/r_site.h"

#include <endian.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define READ_SIZE ((size_t)1 << 20)
#define CONNECT_TIMEOUT_NS (60 * INT64_C(1000000000))

struct r_parallelize {
        char secret[SECRET_TEXT];
        int listener, port, partitions;
        int stopped; /* atomic */
        pthread_t thread;
        bool joined;
        struct buf bytes;
        int status; /* of the thread */
        struct fst_error error;
};

static int r_parallelize_bytes(fst_context *sc, const char *data, size_t len, int partitions, fst_rdd **rdd,
                               struct fst_error *error)
{
        VEC(fst_bytes) rows = {0};
        int r = 0;
        for (size_t at = 0; at < len && r == 0;) {
                uint32_t big, n = 0;
                if (len - at >= 4) {
                        memcpy(&big, data + at, 4);
                        n = be32toh(big);
                }
                if (len - at < 4 || n > len - at - 4)
                        r = error_set(error, -EBADMSG, "the slices of a collection end at byte %zu, within one", len);
                else
                        vec_push(&rows, (fst_bytes){data + at + 4, n});
                at += 4 + (size_t)n;
        }
        if (r == 0)
                *rdd = fst_parallelize_at(sc, rows.data, rows.len, FST_BYTES, partitions, R_SITE("parallelize"));
        vec_deinit(&rows);
        return r;
}

int r_parallelize_file(fst_context *sc, const char *path, int partitions, fst_rdd **rdd, struct fst_error *error)
{
        struct stat st;
        int fd = open(path, O_RDONLY | O_CLOEXEC), r;
        if (fd < 0 || fstat(fd, &st) < 0) {
                r = error_errno(error, "%s", path);
        } else if (st.st_size == 0) {
                r = r_parallelize_bytes(sc, "", 0, partitions, rdd, error);
        } else {
                void *data = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
                r = data == MAP_FAILED ? error_errno(error, "%s", path)
                                       : r_parallelize_bytes(sc, data, (size_t)st.st_size, partitions, rdd, error);
                if (data != MAP_FAILED)
                        munmap(data, (size_t)st.st_size);
        }
        if (fd >= 0)
                close(fd);
        return r;
}

/* Reads @fd to its end. */
static int r_parallelize_read(struct r_parallelize *s, int fd)
{
        for (;;) {
                int r = socket_wait(fd, POLLIN, -1, &s->stopped);
                if (r < 0)
                        return error_set(&s->error, r, "reading a collection of R: %s", strerror(-r));
                if (!buf_try_reserve(&s->bytes, READ_SIZE))
                        return error_set(&s->error, -ENOMEM, "no memory for a collection of R after %zu bytes",
                                         s->bytes.len);
                ssize_t n = recv(fd, s->bytes.data + s->bytes.len, READ_SIZE, 0);
                if (n == 0)
                        return 0;
                if (n > 0)
                        s->bytes.len += (size_t)n;
                else if (errno != EAGAIN && errno != EINTR)
                        return error_errno(&s->error, "reading a collection of R");
        }
}

static void *r_parallelize_run(void *data)
{
        struct r_parallelize *s = data;
        for (;;) {
                int r = socket_wait(s->listener, POLLIN, CONNECT_TIMEOUT_NS, &s->stopped);
                int fd = r > 0 ? socket_accept(s->listener) : r;
                if (r > 0 && fd == -EAGAIN)
                        continue;
                if (r <= 0 || fd < 0) {
                        s->status = error_set(&s->error, r < 0 ? r : -ETIMEDOUT, "R has not connected");
                        return NULL;
                }
                r = socket_accept_secret(fd, s->secret, SECRET_END_NUL, now_ns() + R_HANDSHAKE_TIMEOUT * NS_PER_SECOND,
                                         &s->stopped);
                if (r == 0)
                        s->status = r_parallelize_read(s, fd);
                else if (r == -ECANCELED)
                        s->status = error_set(&s->error, r, "R has not connected");
                close(fd);
                if (r == 0 || r == -ECANCELED)
                        return NULL;
        }
}

int r_parallelize_listen(int partitions, struct r_parallelize **server, struct fst_error *error)
{
        struct r_parallelize *s = new0(struct r_parallelize);
        struct listen_options options = {.service = "RParallelizeServer", .host = "127.0.0.1"};
        int r = secret_draw(s->secret, sizeof(s->secret));
        s->joined = true;
        s->partitions = partitions;
        s->listener = r ? r : socket_listen(&options, &s->port, error);
        if (s->listener < 0) {
                r = s->listener;
        } else {
                r = -pthread_create(&s->thread, NULL, r_parallelize_run, s);
                s->joined = r != 0;
        }
        if (r)
                r_parallelize_free(s);
        else
                *server = s;
        return r;
}

int r_parallelize_port(const struct r_parallelize *s)
{
        return s->port;
}

const char *r_parallelize_secret(const struct r_parallelize *s)
{
        return s->secret;
}

int r_parallelize_wait(struct r_parallelize *s, fst_context *sc, fst_rdd **rdd, struct fst_error *error)
{
        if (!s->joined)
                pthread_join(s->thread, NULL);
        s->joined = true;
        if (s->status)
                return error_set(error, s->status, "%s", error_message(&s->error));
        return r_parallelize_bytes(sc, buf_text(&s->bytes), s->bytes.len, s->partitions, rdd, error);
}

void r_parallelize_free(struct r_parallelize *s)
{
        if (!s)
                return;
        __atomic_store_n(&s->stopped, 1, __ATOMIC_RELAXED);
        if (!s->joined)
                pthread_join(s->thread, NULL);
        if (s->listener >= 0)
                close(s->listener);
        buf_deinit(&s->bytes);
        error_deinit(&s->error);
        free(s);
}
