/* See task_process_wire.h. */
#include "exec/isolation/task_process_wire.h"

#include "base/error.h"
#include "base/mem.h"
#include "rdd/aggregate/accumulator_updates.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_DESCRIPTORS = 2 };

union control {
        struct cmsghdr header;
        char space[CMSG_SPACE(MAX_DESCRIPTORS * sizeof(int))];
};

/* Returns a sealed memfd with @len bytes, or -errno. */
static int to_memfd(const void *data, size_t len)
{
        int fd = memfd_create("worker-packet", MFD_CLOEXEC | MFD_ALLOW_SEALING);
        if (fd < 0)
                return -errno;
        for (size_t done = 0; done < len;) {
                ssize_t n = write(fd, (const char *)data + done, len - done);
                if (n < 0 && errno == EINTR)
                        continue;
                if (n <= 0) {
                        int r = n < 0 ? -errno : -EIO;
                        close(fd);
                        return r;
                }
                done += (size_t)n;
        }
        if (fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) < 0) {
                int r = -errno;
                close(fd);
                return r;
        }
        return fd;
}

int task_process_send(int socket, enum task_process_packet_kind kind, const void *body, size_t len, int fd)
{
        int fds[MAX_DESCRIPTORS], n = 0, memfd = -1;
        if (len > PACKET_INLINE) {
                memfd = to_memfd(body, len);
                if (memfd < 0)
                        return memfd;
                fds[n++] = memfd;
        }
        if (fd >= 0)
                fds[n++] = fd;
        struct task_process_packet packet = {
                .magic = PACKET_MAGIC, .kind = kind, .len = len, .in_memfd = memfd >= 0, .descriptors = fd >= 0};
        struct iovec parts[] = {{&packet, sizeof(packet)}, {(void *)body, memfd >= 0 ? 0 : len}};
        struct msghdr m = {.msg_iov = parts, .msg_iovlen = parts[1].iov_len ? 2 : 1};
        union control control = {0};
        if (n > 0) {
                m.msg_control = &control;
                m.msg_controllen = CMSG_SPACE((size_t)n * sizeof(int));
                struct cmsghdr *c = CMSG_FIRSTHDR(&m);
                c->cmsg_level = SOL_SOCKET;
                c->cmsg_type = SCM_RIGHTS;
                c->cmsg_len = CMSG_LEN((size_t)n * sizeof(int));
                memcpy(CMSG_DATA(c), fds, (size_t)n * sizeof(int));
        }
        ssize_t sent;
        do
                sent = sendmsg(socket, &m, MSG_NOSIGNAL);
        while (sent < 0 && errno == EINTR);
        int r = sent < 0 ? -errno : 0;
        if (memfd >= 0)
                close(memfd);
        return r;
}

/* ------------------------------------------------------------------------------------------------- receiving */

/* Stores the received descriptors, at most MAX_DESCRIPTORS, and returns their number. */
static int take_descriptors(struct msghdr *m, int *fds)
{
        int n = 0;
        for (struct cmsghdr *c = CMSG_FIRSTHDR(m); c; c = CMSG_NXTHDR(m, c)) {
                if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
                        continue;
                size_t count = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
                for (size_t i = 0; i < count; i++) {
                        int fd;
                        memcpy(&fd, CMSG_DATA(c) + i * sizeof(int), sizeof(int));
                        if (n < MAX_DESCRIPTORS)
                                fds[n++] = fd;
                        else
                                close(fd);
                }
        }
        return n;
}

static int map_body(struct task_process_received *in, int fd, uint64_t len)
{
        struct stat st;
        int want = F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW;
        if (fstat(fd, &st) < 0 || (uint64_t)st.st_size != len || (fcntl(fd, F_GET_SEALS) & want) != want)
                return -EBADMSG;
        void *p = mmap(NULL, len, PROT_READ, MAP_SHARED, fd, 0);
        if (p == MAP_FAILED)
                return -errno;
        in->body = in->mapped = p;
        in->len = in->mapped_len = len;
        return 0;
}

static int task_process_wire_parse(struct task_process_received *in, size_t got, int *fds, int n_fds)
{
        struct task_process_packet packet;
        size_t mark = strlen(PACKET_CRASH);
        if (got >= mark && memcmp(in->storage, PACKET_CRASH, mark) == 0) {
                in->body = in->storage;
                in->len = got;
                return n_fds ? -EBADMSG : 0;
        }
        if (got < sizeof(packet))
                return -EBADMSG;
        memcpy(&packet, in->storage, sizeof(packet));
        if (packet.magic != PACKET_MAGIC || packet.kind == 0 || packet.in_memfd > 1 || packet.descriptors > 1 ||
            packet.len > PACKET_BODY_MAX || (uint32_t)n_fds != packet.in_memfd + packet.descriptors ||
            got - sizeof(packet) != (packet.in_memfd ? 0 : packet.len))
                return -EBADMSG;
        in->kind = packet.kind;
        in->body = in->storage + sizeof(packet);
        in->len = (size_t)packet.len;
        int r = packet.in_memfd ? map_body(in, fds[0], packet.len) : 0;
        if (r == 0 && packet.descriptors) {
                in->fd = fds[n_fds - 1];
                fds[n_fds - 1] = -1;
        }
        return r;
}

int task_process_receive(int socket, struct task_process_received *in)
{
        union control control;
        struct iovec part = {in->storage, sizeof(in->storage)};
        struct msghdr m = {
                .msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof(control)};
        int fds[MAX_DESCRIPTORS];
        ssize_t got;
        in->kind = 0;
        in->fd = -1;
        in->mapped = NULL;
        do
                got = recvmsg(socket, &m, MSG_CMSG_CLOEXEC);
        while (got < 0 && errno == EINTR);
        if (got < 0)
                return errno == ECONNRESET ? 0 : -errno;
        int n = take_descriptors(&m, fds), r;
        if (got == 0 && n == 0)
                return 0;
        r = (m.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) ? -EBADMSG : task_process_wire_parse(in, (size_t)got, fds, n);
        for (int i = 0; i < n; i++)
                if (fds[i] >= 0)
                        close(fds[i]);
        if (r)
                task_process_received_deinit(in);
        return r ? r : 1;
}

void task_process_received_deinit(struct task_process_received *in)
{
        if (in->mapped)
                munmap(in->mapped, in->mapped_len);
        if (in->fd >= 0)
                close(in->fd);
        in->mapped = NULL;
        in->fd = -1;
}

/* -------------------------------------------------------------------------------------------------- outcomes */

void task_process_outcome_put(struct buf *out, uint32_t at, const struct slot_task *t, const void *encoded, size_t len)
{
        struct task_process_outcome o = {
                .at = at,
                .state = t->state,
                .status = t->status,
                .fetch_shuffle = t->fetch_shuffle,
                .fetch_map = t->fetch_map,
                .fetch_executor = t->fetch_executor,
                .start_ms = t->start_ms,
                .finish_ms = t->finish_ms,
                .run_ns = t->run_ns,
                .number = t->result.number,
                .bytes = t->result.bytes,
                .message = t->message ? strlen(t->message) : 0,
                .encoded = len,
                .counters = t->counters,
        };
        size_t begin = out->len, texts;
        buf_append(out, &o, sizeof(o));
        if (o.message)
                buf_append(out, t->message, o.message);
        texts = out->len;
        if (t->accumulated)
                accumulator_updates_encode(t->accumulated, out);
        o.accumulated = out->len - texts;
        memcpy(out->data + begin, &o, sizeof(o));
        if (len)
                buf_append(out, encoded, len);
}

int task_process_outcome_get(const unsigned char *body, size_t len, size_t *offset, uint32_t n,
                             struct task_process_outcome *o, struct task_process_texts *texts)
{
        if (*offset == len)
                return 0;
        size_t left = len - *offset;
        if (left < sizeof(*o))
                return -EBADMSG;
        memcpy(o, body + *offset, sizeof(*o));
        left -= sizeof(*o);
        if (o->at >= n || !task_state_is_reported((uint32_t)o->state) || o->message > left ||
            o->accumulated > left - o->message || o->encoded > left - o->message - o->accumulated)
                return -EBADMSG;
        texts->message = (const char *)body + *offset + sizeof(*o);
        texts->accumulated = (const unsigned char *)texts->message + o->message;
        texts->encoded = texts->accumulated + o->accumulated;
        *offset += sizeof(*o) + o->message + o->accumulated + o->encoded;
        return 1;
}
