/*
 * Computes a partition in a Python worker.
 *
 * Rows are frames as they stand on the worker's socket. `consume` sends the rows of a batch from where they are, after
 * what is queued: the head of the task, and small batches, which are copied so that a small task is one write. While it
 * sends it reads, because a worker that nobody reads stops reading. Rows of the worker go downstream from the buffer
 * that they were read into.
 *
 * The worker may end its answer before it has all rows (take, islice): the operator then has enough. A worker that
 * failed closes its socket: the answer tells why, so a failed write alone is no error.
 *
 * A worker asks for barriers, and for values of broadcast variables, on sockets of the task, which are served here as
 * well.
 */
#include "rdd/operators/rdd_python.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/strmap.h"
#include "python/worker_answer.h"
#include "python/worker_pool.h"
#include "python/worker_task.h"
#include "rdd/aggregate/accumulator_updates.h"
#include "rdd/operators/python_broadcasts.h"
#include "rdd/pipeline/op.h"
#include "rdd/pipeline/task_resources.h"
#include "rdd/pipeline/task_services.h"
#include "store/memory.h"

#include <limits.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

/* Batches of fewer bytes are copied to the queue, up to so many. */
#define QUEUE_SIZE ((size_t)64 << 10)

#define READ_SIZE ((size_t)64 << 10) /* the first size of the buffer */
#define READ_LARGE ((size_t)1 << 20) /* its size once the worker fills it */
#define READ_KEPT ((size_t)4 << 20)  /* a larger one is freed after the task */
#define MAX_RESOURCE_ADDRESSES 1024
#define STOP_POLL_MS 20

struct python_op {
        struct op op;
        const struct rdd_python *f;
        struct python_worker *worker; /* NULL: none, or it was given back */
        struct python_answer answer;
        bool ended;       /* the answer is complete */
        bool closed;      /* the worker takes no more input */
        struct buf queue; /* to be sent before the next batch */
        struct iovec parts[FST_BATCH_ROWS + 1];
        char *in; /* read and not yet pushed: in_len of in_room bytes */
        size_t in_len, in_room;
        fst_bytes views[FST_BATCH_ROWS];
        struct accumulator_list updates;
        struct python_socket barrier;
        struct python_broadcasts broadcasts;
        int64_t heard_ms; /* when the worker last sent something */
        int64_t kill_at;  /* when a stopped task's worker is killed; 0: not stopped */
};

static struct python_op *python_of(struct op *op)
{
        return container_of(op, struct python_op, op);
}

static void python_give_back(struct python_op *self, bool reusable)
{
        struct python_worker *worker = steal(self->worker);
        if (worker)
                python_pool_release(worker, reusable);
}

/* ------------------------------------------------------------------------------------------------------- the head */

static void python_list_resources(const struct task_run *run, struct python_task *t, struct python_resource **list,
                                  const char ***addresses)
{
        const char *name;
        int n = 0;
        *addresses = NULL;
        *list = NULL;
        if (!run->resources)
                return;
        size_t count = 0, total = 0;
        const char *some[MAX_RESOURCE_ADDRESSES];
        for (size_t at = 0; task_resources_next(run->resources, &at, &name, some, MAX_RESOURCE_ADDRESSES, &n); count++)
                total += (size_t)n;
        *list = new_array(struct python_resource, count + 1);
        *addresses = new_array(const char *, total + 1);
        const char **next = *addresses;
        t->n_resources = 0;
        for (size_t at = 0; task_resources_next(run->resources, &at, &name, some, MAX_RESOURCE_ADDRESSES, &n);) {
                size_t kept = (size_t)MIN(n, MAX_RESOURCE_ADDRESSES);
                memcpy(next, some, kept * sizeof(*next));
                (*list)[t->n_resources++] = (struct python_resource){name, next, kept};
                next += kept;
        }
        t->resources = *list;
}

static size_t python_count(char *const *list)
{
        size_t n = 0;
        while (list[n])
                n++;
        return n;
}

/* Queues the head of the task. @properties has those of the job and, of a barrier task, the addresses of all. */
static int python_queue_head(struct python_op *self, const struct strmap *properties, const char *files)
{
        struct task_run *run = self->op.run;
        const struct fst_task_info *info = &run->task.info;
        struct python_resource *resources;
        const char **addresses;
        struct python_task t = {.version = self->worker->version,
                                .split = self->op.partition,
                                .python = self->f->version,
                                .stage = info->stage,
                                .partition = info->partition,
                                .attempt = info->attempt,
                                .task_id = info->id,
                                .cpus = run->cpus,
                                .barrier = run->barrier,
                                .barrier_port = self->barrier.port,
                                .barrier_secret = self->barrier.secret,
                                .properties = properties,
                                .files = files,
                                .includes = (const char *const *)self->f->includes,
                                .n_includes = python_count(self->f->includes),
                                .command = self->f->command.data,
                                .command_len = self->f->command.len};
        python_list_resources(run, &t, &resources, &addresses);
        int r = python_broadcasts_begin(&self->broadcasts, self->f, self->worker, run, &t);
        if (r == 0)
                python_task_write(&t, &self->queue);
        free(resources);
        free(addresses);
        return r;
}

/* The local properties of a barrier task have the addresses of its stage's tasks. */
static int python_barrier_begin(struct python_op *self, struct strmap *properties)
{
        struct task_run *run = self->op.run;
        struct fst_error error = FST_ERROR_INIT;
        _cleanup_(buf_deinit) struct buf addresses = BUF_INIT;
        int r = task_run_barrier_addresses(run, &addresses);
        if (r)
                return r;
        if (run->properties)
                strmap_merge(properties, run->properties);
        strmap_set(properties, "addresses", buf_text(&addresses));
        r = python_socket_listen(&self->barrier, &error);
        return r ? task_run_fail_with(run, r, &error) : 0;
}

static int python_fail(struct python_op *self, int r, struct fst_error *error)
{
        if (r != -ECANCELED)
                return task_run_fail_with(self->op.run, r, error);
        error_deinit(error);
        return task_run_cancelled(self->op.run);
}

/*
 * The path of @program, if it names one of the application's files or a file of an unpacked archive in the directory
 * @files ("./env/bin/python" with --archives env.tar.gz#env): executors that share their working directory have no
 * links there. NULL: @program as it stands.
 */
static char *python_program_among(const char *files, const char *program)
{
        if (!*files || *program == '/' || !strchr(program, '/'))
                return NULL;
        _cleanup_free_ char *path = mem_printf("%s/%s", files, program);
        return access(path, X_OK) == 0 ? steal(path) : NULL;
}

/* The driver's pyspark: fetches the archives, and sets *@paths to theirs, separated by ':'. The caller owns it. */
static int python_fetch_package(struct python_op *self, char **paths, struct fst_error *error)
{
        const struct task_services *services = self->op.run->services;
        _cleanup_free_ char *names = mem_strdup(self->f->package_files);
        struct buf list = BUF_INIT;
        int r = 0;
        for (char *rest, *name = strtok_r(names, ":", &rest); name && r == 0; name = strtok_r(NULL, ":", &rest)) {
                const char *path;
                r = services->file(services->owner, name, self->op.run->task.stopped, &path, error);
                if (r == 0)
                        buf_printf(&list, "%s%s", list.len ? ":" : "", path);
        }
        *paths = buf_steal(&list);
        return r && r != -ECANCELED ? error_wrap(error, r, "the driver's pyspark") : r;
}

/* Takes a worker. An executor fetches the driver's pyspark once it turns out that its Python lacks it. */
static int python_acquire(struct python_op *self, struct python_spec *spec, struct fst_error *error)
{
        struct task_run *run = self->op.run;
        _cleanup_free_ char *archives = NULL;
        int r = python_pool_acquire(run->services->python, spec, run->task.stopped, &self->worker, error);
        if (r != PYTHON_POOL_E_PACKAGE)
                return r;
        r = python_fetch_package(self, &archives, error);
        spec->package_archives = archives;
        r = r ? r : python_pool_acquire(run->services->python, spec, run->task.stopped, &self->worker, error);
        spec->package_archives = NULL;
        return r;
}

static int python_begin(struct op *op)
{
        struct python_op *self = python_of(op);
        struct task_run *run = op->run;
        const struct task_services *services = run->services;
        _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT; /* a worker may come after a failure */
        _cleanup_(strmap_deinit) struct strmap own = STRMAP_INIT;
        struct python_spec spec = {.program = self->f->program,
                                   .environment = (const char *const *)self->f->environment,
                                   .package_path = self->f->package_path,
                                   .package_version = self->f->package_version,
                                   .has_archives = *self->f->package_files};
        _cleanup_free_ char *program = NULL;
        const char *files = "";
        int r;
        self->ended = self->closed = false;
        self->kill_at = 0;
        self->in_len = 0;
        buf_reset(&self->queue);
        if (!services || !services->python)
                return task_run_fail(run, -ENOTSUP, "Python workers are not available here");
        if ((r = services->file(services->owner, "", run->task.stopped, &files, &error)))
                return python_fail(self, r, &error);
        if ((program = python_program_among(files, spec.program)))
                spec.program = program;
        if (run->barrier && (r = python_barrier_begin(self, &own)))
                return r;
        if ((r = python_acquire(self, &spec, &error)))
                return python_fail(self, r, &error);
        python_answer_begin(&self->answer, self->worker->version);
        self->heard_ms = now_ms();
        return python_queue_head(self, run->barrier ? &own : run->properties, files);
}

/* ----------------------------------------------------------------------------------------------------- the answer */

static int python_reserve(struct python_op *self, size_t room)
{
        if (room <= self->in_room)
                return 0;
        char *grown = mem_try_grow(self->in, room);
        if (!grown && memory_task_evict(task_run_memory(self->op.run), room))
                grown = mem_try_grow(self->in, room);
        if (!grown)
                return task_run_fail(
                        self->op.run, -ENOMEM,
                        "no memory for a row of %zu bytes from Python: raise spark.executor.memoryOverhead, "
                        "or make smaller rows",
                        room);
        self->in = grown;
        self->in_room = room;
        return 0;
}

static int python_fail_crashed(struct python_op *self)
{
        _cleanup_(buf_deinit) struct buf text = BUF_INIT;
        python_pool_crash_text(self->worker, &text);
        return task_run_fail(self->op.run, -EPIPE, "%s", buf_text(&text));
}

/* Adds the updates of the worker to those of the task. */
static int python_keep_updates(struct python_op *self)
{
        struct task_run *run = self->op.run;
        if (!self->f->accumulator.id || self->updates.n == 0)
                return 0;
        struct accumulator_update *u = accumulator_updates_of(&run->accumulated, self->f->accumulator);
        run->accumulated_last = NULL;
        if (!u)
                return task_run_fail(run, -E2BIG, "a task uses more than %d accumulators", MAX_ACCUMULATOR_UPDATES);
        fst_bytes *blobs = accumulator_list_blobs(&self->updates);
        int r = 0;
        for (uint32_t i = 0; i < self->updates.n && r == 0; i++)
                r = accumulator_add_blob(&u->list, blobs[i]);
        free(blobs);
        return r ? task_run_fail(run, r, "no memory for the accumulator updates of a Python worker") : 0;
}

/* Any event but a row. */
static int python_take_event(struct python_op *self, const struct python_event *event)
{
        struct task_run *run = self->op.run;
        int r = 0;
        switch (event->kind) {
        case PYTHON_EVENT_TIMINGS:
                run->counters.memory_spilled += event->memory_spilled;
                run->counters.disk_spilled += event->disk_spilled;
                return 0;
        case PYTHON_EVENT_TRACEBACK:
                return task_run_fail(run, -EPROTO, "org.apache.spark.api.python.PythonException: %.*s",
                                     (int)event->bytes.len, event->bytes.data);
        case PYTHON_EVENT_UPDATE:
                r = accumulator_add_blob(&self->updates, event->bytes);
                return r ? task_run_fail(run, r, "no memory for the accumulator updates of a Python worker") : 0;
        case PYTHON_EVENT_END:
                self->ended = true;
                r = python_keep_updates(self);
                python_give_back(self, event->reusable && r == 0);
                return r;
        default:
                return task_run_fail(
                        run, -EBADMSG,
                        "a Python worker sent %d instead of a row or a signal: does its pyspark %d.%d differ "
                        "from the released one, or does a library write to the worker's socket?",
                        event->code, self->worker->version / 100, self->worker->version % 100);
        }
}

static int python_push_views(struct python_op *self, uint32_t *n)
{
        struct rows rows = {.batch = {.rows = *n, .type = FST_BYTES, .key.bytes = self->views}};
        if (*n == 0 || self->op.status)
                return self->op.status;
        rows.stable[0] = (struct fst_stable){(uintptr_t)self->in, self->in_len};
        *n = 0;
        return op_push(&self->op, &rows);
}

/* Takes what is complete in the buffer and moves the rest to its start. */
static int python_take_input(struct python_op *self)
{
        struct python_event event = {.kind = PYTHON_EVENT_ROW};
        uint32_t n = 0;
        size_t at = 0, need = 0;
        int r = 0;
        while (r == 0 && !self->ended) {
                at += python_answer_next(&self->answer, self->in + at, self->in_len - at, &event);
                if (event.kind == PYTHON_EVENT_MORE) {
                        need = event.need;
                        break;
                }
                if (event.kind == PYTHON_EVENT_ROW) {
                        self->views[n++] = event.bytes;
                        if (n == FST_BATCH_ROWS)
                                r = python_push_views(self, &n);
                        continue;
                }
                r = python_push_views(self, &n);
                if (r == 0)
                        r = python_take_event(self, &event);
        }
        if (r == 0)
                r = python_push_views(self, &n);
        self->in_len -= at;
        memmove(self->in, self->in + at, self->in_len);
        return r ? r : python_reserve(self, need);
}

/* Reads what the worker has sent. */
static int python_receive(struct python_op *self)
{
        if (self->in_len == self->in_room || self->in_room < READ_SIZE) {
                int r = python_reserve(self,
                                       self->in_room < READ_SIZE ? READ_SIZE : MAX(READ_LARGE, self->in_room * 2));
                if (r)
                        return r;
        }
        ssize_t got = recv(self->worker->fd, self->in + self->in_len, self->in_room - self->in_len, 0);
        if (got < 0 && (errno == EAGAIN || errno == EINTR))
                return 0;
        if (got <= 0)
                return python_fail_crashed(self);
        self->in_len += (size_t)got;
        int r = python_take_input(self);
        if (r == 0 && (size_t)got + self->in_len >= READ_SIZE && self->in_room < READ_LARGE)
                r = python_reserve(self, READ_LARGE);
        return r;
}

/* ----------------------------------------------------------------------------------------------------- exchanging */

/* Sends from @parts, of which *@n are left, and advances them. */
static void python_send(struct python_op *self, struct iovec **parts, size_t *n)
{
        while (*n > 0) {
                struct msghdr message = {.msg_iov = *parts, .msg_iovlen = MIN(*n, (size_t)IOV_MAX)};
                ssize_t sent = sendmsg(self->worker->fd, &message, MSG_NOSIGNAL);
                if (sent < 0 && errno == EINTR)
                        continue;
                if (sent < 0 && errno == EAGAIN)
                        return;
                if (sent < 0) {
                        self->closed = true;
                        return;
                }
                while (*n > 0 && (size_t)sent >= (*parts)->iov_len) {
                        sent -= (ssize_t)(*parts)->iov_len;
                        ++*parts;
                        --*n;
                }
                if (*n > 0) {
                        (*parts)->iov_base = (char *)(*parts)->iov_base + sent;
                        (*parts)->iov_len -= (size_t)sent;
                }
        }
}

/* The worker has not answered. */
static int python_check_idle(struct python_op *self)
{
        bool kills;
        int64_t timeout = python_pool_idle_timeout_ms(self->worker->pool, &kills);
        if (timeout <= 0 || now_ms() - self->heard_ms < timeout)
                return 0;
        if (kills)
                return task_run_fail(self->op.run, -ETIMEDOUT,
                                     "Python worker process terminated due to idle timeout (timeout: %lld seconds)",
                                     (long long)timeout / 1000);
        log_warn("PythonRunner",
                 "Idle timeout reached for Python worker (timeout: %lld seconds). No data received from "
                 "the worker process %d",
                 (long long)timeout / 1000, (int)self->worker->pid);
        self->heard_ms = now_ms();
        return 0;
}

/* A stopped task gives its worker some time to end. */
static int python_check_stopped(struct python_op *self)
{
        if (!task_run_stopped(self->op.run))
                return 0;
        int64_t now = now_ms();
        if (!self->kill_at)
                self->kill_at = now + python_pool_kill_timeout_ms(self->worker->pool);
        return now >= self->kill_at ? task_run_cancelled(self->op.run) : 0;
}

/* Waits for the worker, and serves what it asks for. */
static int python_wait(struct python_op *self, bool writes)
{
        struct task_run *run = self->op.run;
        struct pollfd fds[] = {{.fd = self->worker->fd, .events = POLLIN | (writes ? POLLOUT : 0)},
                               {.fd = self->barrier.listener, .events = POLLIN},
                               {.fd = self->broadcasts.socket.listener, .events = POLLIN}};
        int n = poll(fds, ARRAY_SIZE(fds), STOP_POLL_MS); /* ignores closed sockets: their number is -1 */
        int r = python_check_stopped(self);
        if (r == 0 && n <= 0)
                r = python_check_idle(self);
        if (r == 0 && n > 0 && fds[1].revents)
                r = python_barrier_serve(&self->barrier, run);
        if (r == 0 && n > 0 && fds[2].revents)
                r = python_broadcasts_serve(&self->broadcasts, run);
        if (r || n <= 0 || !(fds[0].revents & (POLLIN | POLLHUP | POLLERR)))
                return r;
        self->heard_ms = now_ms();
        return python_receive(self);
}

/*
 * Sends @n parts and takes what the worker answers meanwhile; with @to_end, all that it answers. Returns 0; OP_ENOUGH
 * if downstream or the worker need no more rows; or negative.
 */
static int python_exchange(struct python_op *self, struct iovec *parts, size_t n, bool to_end)
{
        int r = self->op.status;
        while (r == 0 && !self->ended) {
                if (!self->closed)
                        python_send(self, &parts, &n);
                bool writes = n > 0 && !self->closed;
                if (!writes && !to_end && !self->closed)
                        return 0;
                r = python_wait(self, writes);
        }
        return r ? r : to_end ? 0 : OP_ENOUGH;
}

static int python_consume(struct op *op, const struct rows *in)
{
        struct python_op *self = python_of(op);
        const fst_batch *batch = &in->batch;
        size_t size = 0, n = 0;
        if (self->ended || op->status)
                return op->status ? op->status : OP_ENOUGH;
        for (uint32_t i = 0; i < batch->rows; i++)
                size += batch->key.bytes[i].len;
        if (self->queue.len + size <= QUEUE_SIZE) {
                for (uint32_t i = 0; i < batch->rows; i++)
                        buf_append(&self->queue, batch->key.bytes[i].data, batch->key.bytes[i].len);
                return 0;
        }
        if (self->queue.len)
                self->parts[n++] = (struct iovec){self->queue.data, self->queue.len};
        for (uint32_t i = 0; i < batch->rows; i++) {
                const fst_bytes *row = &batch->key.bytes[i];
                struct iovec *last = n ? &self->parts[n - 1] : NULL;
                if (last && (char *)last->iov_base + last->iov_len == row->data)
                        last->iov_len += row->len;
                else if (row->len)
                        self->parts[n++] = (struct iovec){(char *)row->data, row->len};
        }
        int r = python_exchange(self, self->parts, n, false);
        buf_reset(&self->queue);
        return r;
}

/* Frees what a long row needed. */
static void python_shrink(struct python_op *self)
{
        if (self->in_room > READ_KEPT) {
                free(steal(self->in));
                self->in_room = 0;
        }
        free(steal(self->updates.data));
        self->updates = (struct accumulator_list){0};
        python_socket_close(&self->barrier);
        python_broadcasts_end(&self->broadcasts);
}

static void python_abandon(struct op *op)
{
        struct python_op *self = python_of(op);
        python_give_back(self, false);
        python_shrink(self);
}

static int python_end(struct op *op)
{
        struct python_op *self = python_of(op);
        int r = op->status;
        if (r == 0 && !self->ended) {
                python_put_int(&self->queue, PYTHON_END_OF_DATA);
                python_put_int(&self->queue, PYTHON_END_OF_STREAM);
                struct iovec last = {self->queue.data, self->queue.len};
                r = python_exchange(self, &last, 1, true);
                buf_reset(&self->queue);
        }
        if (r >= 0)
                python_abandon(op);
        return r;
}

static void python_op_free(struct op *op)
{
        struct python_op *self = python_of(op);
        python_abandon(op);
        buf_deinit(&self->queue);
        free(self->in);
        op_deinit(op);
        free(self);
}

static const struct op_class python_op_class = {"python",          .begin = python_begin,     .consume = python_consume,
                                                .end = python_end, .abandon = python_abandon, .free = python_op_free};

struct op *python_op_new(struct task_run *run, const struct rdd_python *f)
{
        struct python_op *self = new0(struct python_op);
        op_init(&self->op, &python_op_class, run, FST_BYTES);
        self->f = f;
        self->barrier.listener = self->broadcasts.socket.listener = -1;
        return &self->op;
}
