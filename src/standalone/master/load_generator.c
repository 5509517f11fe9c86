/*
 * Simulates workers and applications of a master. A connection is a socket, a frame reader and a number, because ten
 * thousand envs of rpc/rpc.h would dominate the measurement.
 */
#include "standalone/master/load_generator.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/vec.h"
#include "standalone/wire/standalone_wire.h"
#include "net/socket.h"
#include "rpc/frame_reader.h"
#include "rpc/handshake.h"

#include <netdb.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/uio.h>
#include <unistd.h>

#define TYPE(name) FIRESTEEL__STANDALONE__STANDALONE_TYPE__##name
#define TIMEOUT_NS INT64_C(120000000000)
#define SCRATCH_SIZE 65536
#define EVENTS_AT_ONCE 512
#define MAX_MESSAGE (1 << 20)
#define MAX_CONNECTING 256 /* parallel connects, the backlog of a listening socket */

struct load_peer {
        int fd;
        bool worker, connected;
        int number;
        char *app_id; /* of a registered application */
        uint64_t sent;
        struct frame_reader reader;
        struct buf out; /* bytes that the socket has not accepted yet */
};

struct cluster_load {
        struct sockaddr_storage master;
        socklen_t master_len;
        int epoll, cores;
        VEC(struct load_peer *) workers, apps;
        int connecting, registered, launched, running, killed, finished, lost;
        uint8_t *scratch;
        struct buf packed;
};

/* -------------------------------------------------------------------------------------------------------- frames */

static void load_generator_watch(struct cluster_load *l, struct load_peer *a, int what, bool out)
{
        struct epoll_event e = {.events = EPOLLIN | (out ? EPOLLOUT : 0), .data.ptr = a};
        epoll_ctl(l->epoll, what, a->fd, &e);
}

static void load_generator_lose(struct cluster_load *l, struct load_peer *a)
{
        if (a->fd < 0)
                return;
        close(a->fd);
        a->fd = -1;
        l->lost++;
}

static void load_generator_flush(struct cluster_load *l, struct load_peer *a)
{
        while (a->fd >= 0 && a->out.len > 0) {
                ssize_t n = write(a->fd, a->out.data, a->out.len);
                if (n < 0 && errno == EAGAIN) {
                        load_generator_watch(l, a, EPOLL_CTL_MOD, true);
                        return;
                }
                if (n <= 0) {
                        load_generator_lose(l, a);
                        return;
                }
                memmove(a->out.data, a->out.data + n, a->out.len - (size_t)n);
                a->out.len -= (size_t)n;
        }
        buf_deinit(&a->out);
}

static void load_peer_queue_bytes(struct cluster_load *l, struct load_peer *a, const struct frame_header *h,
                                  const void *body)
{
        uint8_t head[FRAME_HEADER_SIZE];
        const size_t head_len = frame_header_size(h->kind);
        struct iovec iov[] = {{head, head_len}, {(void *)body, h->body_len}};
        size_t all = head_len + h->body_len;
        if (a->fd < 0)
                return;
        frame_header_put(head, h);
        ssize_t n = a->out.len ? 0 : writev(a->fd, iov, 2);
        size_t done = n > 0 ? (size_t)n : 0;
        if (n < 0 && errno != EAGAIN) {
                load_generator_lose(l, a);
        } else if (done < all) {
                if (done < head_len)
                        buf_append(&a->out, head + done, head_len - done);
                size_t of_body = done > head_len ? done - head_len : 0;
                buf_append(&a->out, (const uint8_t *)body + of_body, h->body_len - of_body);
                load_generator_watch(l, a, EPOLL_CTL_MOD, true);
        }
}

static void load_peer_send(struct cluster_load *l, struct load_peer *a, uint16_t type, const ProtobufCMessage *message)
{
        size_t size = protobuf_c_message_get_packed_size(message);
        struct frame_header h = {.kind = FRAME_SEND,
                                 .type = type,
                                 .id = ++a->sent,
                                 .endpoint = frame_endpoint(STANDALONE_MASTER_ENDPOINT),
                                 .body_len = (uint32_t)size};
        buf_reset(&l->packed);
        buf_reserve(&l->packed, size);
        protobuf_c_message_pack(message, (uint8_t *)l->packed.data);
        h.checksum = frame_checksum(l->packed.data, size, NULL, 0);
        load_peer_queue_bytes(l, a, &h, l->packed.data);
}

static void load_peer_send_hello(struct cluster_load *l, struct load_peer *a)
{
        _cleanup_(buf_deinit) struct buf body = BUF_INIT;
        struct hello hello;
        hello_init(&hello);
        hello.max_message_bytes = MAX_MESSAGE;
        hello_encode(&hello, &body);
        struct frame_header h = {.kind = FRAME_HELLO, .body_len = (uint32_t)body.len};
        load_peer_queue_bytes(l, a, &h, body.data);
}

/* ------------------------------------------------------------------------------------------------------- actors */

static void worker_id(const struct load_peer *a, char *text, size_t size)
{
        snprintf(text, size, "worker-20261122053000-simulated-%05d", a->number);
}

static void load_generator_register_worker(struct cluster_load *l, struct load_peer *a)
{
        Firesteel__Standalone__Version version = standalone_version();
        Firesteel__Standalone__RegisterWorker r = FIRESTEEL__STANDALONE__REGISTER_WORKER__INIT;
        char id[64], host[64], ui[80];
        worker_id(a, id, sizeof(id));
        snprintf(host, sizeof(host), "simulated-%05d.example", a->number);
        snprintf(ui, sizeof(ui), "http://%s:8081", host);
        r.version = &version;
        r.id = id;
        r.host = host;
        r.port = 40000;
        r.web_ui = ui;
        r.cores = l->cores;
        r.memory = 1024 * (int64_t)l->cores;
        load_peer_send(l, a, TYPE(REGISTER_WORKER), &r.base);
}

/* Reports no executors and no shuffle service. */
static void load_peer_send_state(struct cluster_load *l, struct load_peer *a)
{
        Firesteel__Standalone__WorkerState s = FIRESTEEL__STANDALONE__WORKER_STATE__INIT;
        char id[64];
        worker_id(a, id, sizeof(id));
        s.worker_id = id;
        s.only_own = true;
        load_peer_send(l, a, TYPE(WORKER_STATE), &s.base);
}

/* Registers with a command of realistic size. */
static void load_generator_register_app(struct cluster_load *l, struct load_peer *a, int executors)
{
        static const char *const words[] = {"--driver-url",
                                            "spark://CoarseGrainedScheduler@driver.example:41000",
                                            "--executor-id",
                                            "{{EXECUTOR_ID}}",
                                            "--hostname",
                                            "{{HOSTNAME}}",
                                            "--cores",
                                            "{{CORES}}",
                                            "--app-id",
                                            "{{APP_ID}}",
                                            "--worker-url",
                                            "{{WORKER_URL}}",
                                            "--resourceProfileId",
                                            "0"};
        Firesteel__Standalone__Version version = standalone_version();
        Firesteel__Standalone__RegisterApplication r = FIRESTEEL__STANDALONE__REGISTER_APPLICATION__INIT;
        Firesteel__Standalone__ExecutorProfile profile = FIRESTEEL__STANDALONE__EXECUTOR_PROFILE__INIT;
        Firesteel__Standalone__Command command = FIRESTEEL__STANDALONE__COMMAND__INIT;
        char name[64], address[64];
        snprintf(name, sizeof(name), "simulated %d", a->number);
        snprintf(address, sizeof(address), "driver-%05d.example:41000", a->number);
        command.main_class = (char *)STANDALONE_EXECUTOR_CLASS;
        command.arguments = (char **)words;
        command.n_arguments = ARRAY_SIZE(words);
        profile.cores = 1;
        profile.memory = 1024;
        profile.command = &command;
        r.version = &version;
        r.name = name;
        r.user = (char *)"nobody";
        r.address = address;
        r.has_initial_executors = true;
        r.initial_executors = executors;
        r.profile = &profile;
        load_peer_send(l, a, TYPE(REGISTER_APPLICATION), &r.base);
}

static void run_executor(struct cluster_load *l, struct load_peer *a, const struct frame *f)
{
        struct wire_memory memory = wire_memory_for(f->header.body_len);
        const Firesteel__Standalone__LaunchExecutor *e = standalone_decode(
                f->body, f->header.body_len, &firesteel__standalone__launch_executor__descriptor, &memory, NULL);
        if (e) {
                Firesteel__Standalone__ExecutorStateChanged c = FIRESTEEL__STANDALONE__EXECUTOR_STATE_CHANGED__INIT;
                c.app_id = e->app_id;
                c.executor = e->executor;
                c.state = (char *)"RUNNING";
                l->launched++;
                load_peer_send(l, a, TYPE(EXECUTOR_STATE_CHANGED), &c.base);
        }
        standalone_memory_deinit(&memory);
}

static void load_peer_store_app_id(struct load_peer *a, const struct frame *f)
{
        struct wire_memory memory = wire_memory_for(f->header.body_len);
        const Firesteel__Standalone__RegisteredApplication *r = standalone_decode(
                f->body, f->header.body_len, &firesteel__standalone__registered_application__descriptor, &memory, NULL);
        if (r && !a->app_id)
                a->app_id = mem_strdup(r->app_id);
        standalone_memory_deinit(&memory);
}

static void load_peer_handle_frame(struct cluster_load *l, struct load_peer *a, const struct frame *f)
{
        struct frame_header pong = {.kind = FRAME_PONG};
        switch (f->header.kind) {
        case FRAME_HELLO:
                l->connecting--;
                if (a->worker)
                        load_generator_register_worker(l, a);
                return;
        case FRAME_PING:
                load_peer_queue_bytes(l, a, &pong, NULL);
                return;
        case FRAME_SEND:
                break;
        default:
                load_generator_lose(l, a);
                return;
        }
        if (f->header.type == TYPE(WORKER_REGISTERED)) {
                l->registered++;
                load_peer_send_state(l, a);
        } else if (f->header.type == TYPE(LAUNCH_EXECUTOR))
                run_executor(l, a, f);
        else if (f->header.type == TYPE(EXECUTOR_UPDATED))
                l->running++;
        else if (f->header.type == TYPE(REGISTERED_APPLICATION))
                load_peer_store_app_id(a, f);
        else if (f->header.type == TYPE(KILL_EXECUTOR))
                l->killed++;
        else if (f->header.type == TYPE(APPLICATION_FINISHED))
                l->finished++;
}

static void read_actor(struct cluster_load *l, struct load_peer *a)
{
        while (a->fd >= 0) {
                struct frame f;
                uint8_t *where;
                size_t room;
                frame_reader_room(&a->reader, l->scratch, SCRATCH_SIZE, &where, &room);
                ssize_t n = read(a->fd, where, room);
                if (n < 0 && errno == EAGAIN)
                        return;
                if (n <= 0) {
                        load_generator_lose(l, a);
                        return;
                }
                frame_reader_filled(&a->reader, (size_t)n);
                int r;
                while ((r = frame_reader_next(&a->reader, &f, NULL)) > 0)
                        load_peer_handle_frame(l, a, &f);
                if (r < 0)
                        load_generator_lose(l, a);
        }
}

static void load_generator_greet(struct cluster_load *l, struct load_peer *a)
{
        a->connected = true;
        if (socket_connected(a->fd) < 0)
                load_generator_lose(l, a);
        else
                load_peer_send_hello(l, a);
}

/* Runs the loop for up to @ms. */
static void load_generator_turn(struct cluster_load *l, int ms)
{
        struct epoll_event events[EVENTS_AT_ONCE];
        int n = epoll_wait(l->epoll, events, EVENTS_AT_ONCE, ms);
        for (int i = 0; i < n; i++) {
                struct load_peer *a = events[i].data.ptr;
                if (events[i].events & EPOLLOUT) {
                        load_generator_watch(l, a, EPOLL_CTL_MOD, false);
                        if (!a->connected)
                                load_generator_greet(l, a);
                        load_generator_flush(l, a);
                }
                if (a->fd >= 0 && events[i].events & (EPOLLIN | EPOLLHUP | EPOLLERR))
                        read_actor(l, a);
        }
}

static int load_generator_wait_until(struct cluster_load *l, const int *count, int wanted, int64_t end,
                                     const char *what, struct fst_error *error)
{
        while (*count < wanted) {
                load_generator_turn(l, 100);
                if (l->lost)
                        return error_set(error, -ECONNRESET, "%d connections were lost with %d of %d %s", l->lost,
                                         *count, wanted, what);
                if (now_ns() > end)
                        return error_set(error, -ETIMEDOUT, "after %lld s there are %d of %d %s",
                                         (long long)(TIMEOUT_NS / 1000000000), *count, wanted, what);
        }
        return 0;
}

static struct load_peer *actor_new(struct cluster_load *l, bool worker, int number, struct fst_error *error)
{
        int fd = socket_connect_start((const struct sockaddr *)&l->master, l->master_len, error);
        if (fd < 0)
                return NULL;
        struct load_peer *a = new0(struct load_peer);
        a->fd = fd;
        a->worker = worker;
        a->number = number;
        frame_reader_init(&a->reader, MAX_MESSAGE);
        load_generator_watch(l, a, EPOLL_CTL_ADD, true);
        l->connecting++;
        return a;
}

/* ------------------------------------------------------------------------------------------------------- public */

int cluster_load_new(const char *host, int port, struct cluster_load **out, struct fst_error *error)
{
        struct rlimit files;
        if (getrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_cur < files.rlim_max) {
                files.rlim_cur = files.rlim_max;
                setrlimit(RLIMIT_NOFILE, &files);
        }
        struct addrinfo hints = {.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV, .ai_socktype = SOCK_STREAM}, *address;
        char service[16];
        snprintf(service, sizeof(service), "%d", port);
        if (getaddrinfo(host, service, &hints, &address) != 0)
                return error_set(error, -EINVAL, "%s is not an IP address", host);
        int epoll = epoll_create1(EPOLL_CLOEXEC);
        if (epoll < 0) {
                freeaddrinfo(address);
                return error_errno(error, "cannot watch connections");
        }
        struct cluster_load *l = new0(struct cluster_load);
        memcpy(&l->master, address->ai_addr, address->ai_addrlen);
        l->master_len = address->ai_addrlen;
        freeaddrinfo(address);
        l->epoll = epoll;
        l->scratch = mem_alloc(SCRATCH_SIZE);
        *out = l;
        return 0;
}

static void actor_free(struct load_peer *a)
{
        if (a->fd >= 0)
                close(a->fd);
        frame_reader_deinit(&a->reader);
        buf_deinit(&a->out);
        free(a->app_id);
        free(a);
}

void cluster_load_free(struct cluster_load *l)
{
        if (!l)
                return;
        for (size_t i = 0; i < l->workers.len; i++)
                actor_free(l->workers.data[i]);
        for (size_t i = 0; i < l->apps.len; i++)
                actor_free(l->apps.data[i]);
        vec_deinit(&l->workers);
        vec_deinit(&l->apps);
        close(l->epoll);
        buf_deinit(&l->packed);
        free(l->scratch);
        free(l);
}

int cluster_load_workers(struct cluster_load *l, int n, int cores, double *seconds, struct fst_error *error)
{
        int64_t begin = now_ns();
        int wanted = l->registered + n;
        l->cores = cores;
        for (int i = 0; i < n; i++) {
                struct load_peer *a = actor_new(l, true, (int)l->workers.len, error);
                if (!a)
                        return -ECONNREFUSED;
                vec_push(&l->workers, a);
                while (l->connecting >= MAX_CONNECTING && !l->lost && now_ns() < begin + TIMEOUT_NS)
                        load_generator_turn(l, 100);
        }
        int r = load_generator_wait_until(l, &l->registered, wanted, begin + TIMEOUT_NS, "workers registered", error);
        *seconds = (double)(now_ns() - begin) / 1e9;
        return r;
}

int cluster_load_apps(struct cluster_load *l, int n, int executors, double *seconds, struct fst_error *error)
{
        size_t first = l->apps.len;
        int launched = l->launched + n * executors, running = l->running + n * executors;
        for (int i = 0; i < n; i++) {
                struct load_peer *a = actor_new(l, false, (int)l->apps.len, error);
                if (!a)
                        return -ECONNREFUSED;
                vec_push(&l->apps, a);
                for (int64_t end = now_ns() + TIMEOUT_NS; l->connecting > 0 && !l->lost && now_ns() < end;)
                        load_generator_turn(l, 100);
        }
        int64_t begin = now_ns();
        for (size_t i = first; i < l->apps.len; i++)
                load_generator_register_app(l, l->apps.data[i], executors);
        int r = load_generator_wait_until(l, &l->launched, launched, begin + TIMEOUT_NS, "executors launched", error);
        if (r == 0)
                r = load_generator_wait_until(l, &l->running, running, begin + TIMEOUT_NS, "executors running", error);
        *seconds = (double)(now_ns() - begin) / 1e9;
        return r;
}

int cluster_load_end(struct cluster_load *l, double *seconds, int *told, struct fst_error *error)
{
        int64_t begin = now_ns();
        int finished = l->finished;
        for (size_t i = 0; i < l->apps.len; i++) {
                Firesteel__Standalone__ApplicationId id = FIRESTEEL__STANDALONE__APPLICATION_ID__INIT;
                id.id = l->apps.data[i]->app_id;
                if (id.id)
                        load_peer_send(l, l->apps.data[i], TYPE(UNREGISTER_APPLICATION), &id.base);
        }
        int r = load_generator_wait_until(l, &l->killed, l->launched, begin + TIMEOUT_NS, "executors told to end",
                                          error);
        *seconds = (double)(now_ns() - begin) / 1e9;
        *told = l->finished - finished;
        return r;
}

int cluster_load_beat(struct cluster_load *l, int64_t interval_ms, int64_t ms, struct fst_error *error)
{
        int64_t begin = now_ns(), n = (int64_t)l->workers.len, sent = 0;
        while (now_ns() < begin + ms * 1000000) {
                int64_t due = n * (now_ns() - begin) / (interval_ms * 1000000);
                for (; sent < due; sent++) {
                        Firesteel__Standalone__WorkerId b = FIRESTEEL__STANDALONE__WORKER_ID__INIT;
                        char id[64];
                        worker_id(l->workers.data[sent % n], id, sizeof(id));
                        b.id = id;
                        load_peer_send(l, l->workers.data[sent % n], TYPE(WORKER_HEARTBEAT), &b.base);
                }
                load_generator_turn(l, 2);
                if (l->lost)
                        return error_set(error, -ECONNRESET, "%d connections were lost", l->lost);
        }
        return 0;
}
