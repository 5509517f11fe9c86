/* libfiresteel-uring.so: reads through io_uring; see io/ahead/uring_library.h. */
#include "io/ahead/uring_library.h"

#include <errno.h>
#include <liburing.h>
#include <stdlib.h>

__attribute__((visibility("default"))) const void *firesteel_uring_module(void);

struct uring {
        struct io_uring ring;
};

static int uring_open(unsigned entries, struct uring **out)
{
        struct uring *u = calloc(1, sizeof(*u));
        if (!u)
                return -ENOMEM;
        int r = io_uring_queue_init(entries, &u->ring, 0);
        if (r < 0) {
                free(u);
                return r;
        }
        /* A child that executes another program must not inherit the ring: liburing opens it with O_CLOEXEC. */
        *out = u;
        return 0;
}

static void uring_close(struct uring *u)
{
        io_uring_queue_exit(&u->ring);
        free(u);
}

static int uring_read(struct uring *u, int fd, void *data, size_t size, uint64_t offset, uint64_t tag)
{
        struct io_uring_sqe *entry = io_uring_get_sqe(&u->ring);
        if (!entry)
                return -EAGAIN;
        io_uring_prep_read(entry, fd, data, (unsigned)size, offset);
        io_uring_sqe_set_data64(entry, tag);
        for (;;) {
                int r = io_uring_submit(&u->ring);
                /* The entry stays in the queue until the kernel takes it. Both errors pass. */
                if (r == -EINTR || r == -EAGAIN)
                        continue;
                return r < 0 ? r : 0;
        }
}

static int uring_wait(struct uring *u, uint64_t *tag, ssize_t *result)
{
        struct io_uring_cqe *done;
        int r;
        do
                r = io_uring_wait_cqe(&u->ring, &done);
        while (r == -EINTR || r == -EAGAIN);
        if (r < 0)
                return r;
        *tag = io_uring_cqe_get_data64(done);
        *result = done->res;
        io_uring_cqe_seen(&u->ring, done);
        return 0;
}

const void *firesteel_uring_module(void)
{
        static const struct uring_library table = {.abi = URING_LIBRARY_ABI,
                                                   .open = uring_open,
                                                   .close = uring_close,
                                                   .read = uring_read,
                                                   .wait = uring_wait};
        return &table;
}
