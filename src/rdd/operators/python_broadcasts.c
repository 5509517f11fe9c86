/* See python_broadcasts.h. On the socket: for each new variable its id, a long, and its bytes; the worker answers with
 * one byte when it has all. */
#include "rdd/operators/python_broadcasts.h"

#include "base/buf.h"
#include "base/mem.h"
#include "python/worker_daemon.h"
#include "python/worker_pool.h"
#include "python/worker_task.h"
#include "rdd/pipeline/task_run.h"
#include "rdd/pipeline/task_services.h"

#include <unistd.h>

#define TIMEOUT_MS 600000

static bool python_worker_has(const struct python_worker *worker, int64_t id)
{
        for (size_t i = 0; i < worker->has.len; i++)
                if (worker->has.data[i] == id)
                        return true;
        return false;
}

static bool python_function_needs(const struct rdd_python *f, int64_t id)
{
        for (size_t i = 0; i < f->n_broadcasts; i++)
                if (f->broadcasts[i].id == id)
                        return true;
        return false;
}

/* Adds a variable to the list, unless the worker @has it. */
static int python_broadcasts_add(struct python_broadcasts *b, fst_broadcast variable, bool has, struct task_run *run)
{
        struct fst_error error = FST_ERROR_INIT;
        struct python_broadcast *entry = &b->list[b->n];
        char *path = NULL;
        fst_bytes value = fst_task_broadcast(&run->task, variable); /* fails if it was destroyed */
        if (!value.data && variable.size)
                return run->status;
        if (has)
                return 0;
        if (b->socket.listener < 0) {
                int r = python_pool_broadcast_file(run->services->python, variable.id, value.data, value.len, &path,
                                                   &error);
                if (r)
                        return task_run_fail_with(run, r, &error);
        }
        b->values[b->n++] = value;
        *entry = (struct python_broadcast){.id = variable.id, .path = path};
        return 0;
}

int python_broadcasts_begin(struct python_broadcasts *b, const struct rdd_python *f, struct python_worker *worker,
                            struct task_run *run, struct python_task *t)
{
        struct fst_error error = FST_ERROR_INIT;
        size_t n = f->n_broadcasts + worker->has.len;
        bool all = true;
        int r = 0;
        python_broadcasts_end(b);
        if (n == 0)
                return 0;
        for (size_t i = 0; i < f->n_broadcasts; i++)
                all = all && python_worker_has(worker, f->broadcasts[i].id);
        if (!all && python_pool_encrypts(run->services->python) && (r = python_socket_listen(&b->socket, &error)))
                return task_run_fail_with(run, r, &error);
        b->list = new_array(struct python_broadcast, n);
        b->values = new_array(fst_bytes, n);
        for (size_t i = 0; i < worker->has.len; i++)
                if (!python_function_needs(f, worker->has.data[i]))
                        b->list[b->n++] = (struct python_broadcast){.id = worker->has.data[i], .forget = true};
        for (size_t i = 0; i < f->n_broadcasts && r == 0; i++)
                r = python_broadcasts_add(b, f->broadcasts[i], python_worker_has(worker, f->broadcasts[i].id), run);
        worker->has.len = 0;
        for (size_t i = 0; i < f->n_broadcasts; i++)
                vec_push(&worker->has, f->broadcasts[i].id);
        t->broadcasts = b->list;
        t->n_broadcasts = b->n;
        t->broadcast_port = b->socket.port;
        t->broadcast_secret = b->socket.secret;
        return r;
}

int python_broadcasts_serve(struct python_broadcasts *b, struct task_run *run)
{
        int r = 0, fd = python_socket_accept(&b->socket, run);
        char taken;
        if (fd < 0)
                return 0;
        for (size_t i = 0; i < b->n && r == 0; i++) {
                _cleanup_(buf_deinit) struct buf id = BUF_INIT;
                if (b->list[i].forget)
                        continue;
                python_put_long(&id, b->list[i].id);
                r = python_write(fd, id.data, id.len, TIMEOUT_MS, run->task.stopped);
                if (r == 0)
                        r = python_write(fd, b->values[i].data, b->values[i].len, TIMEOUT_MS, run->task.stopped);
        }
        if (r == 0)
                r = python_read_bytes(fd, &taken, 1, TIMEOUT_MS, run->task.stopped);
        close(fd);
        python_socket_close(&b->socket);
        return r == -ECANCELED ? task_run_cancelled(run) : 0; /* a worker that failed tells the reason itself */
}

void python_broadcasts_end(struct python_broadcasts *b)
{
        for (size_t i = 0; i < b->n; i++)
                free((char *)b->list[i].path);
        free(steal(b->list));
        free(steal(b->values));
        b->n = 0;
        python_socket_close(&b->socket);
}
