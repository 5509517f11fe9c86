/*
 * See python_barrier.h. A request is a connection: the secret, answered "ok"; an int, 1 for a barrier or 2 for all
 * messages and the task's own. The answer is the number of texts and the texts: "success" for a barrier.
 */
#include "rdd/operators/python_barrier.h"

#include "base/buf.h"
#include "base/mem.h"
#include "net/socket.h"
#include "python/worker_daemon.h"
#include "python/worker_pool.h"
#include "python/worker_task.h"
#include "rdd/pipeline/task_run.h"
#include "rdd/pipeline/task_services.h"

#include <firesteel/barrier.h>

#include <unistd.h>

#define BARRIER_CALL 1
#define ALL_GATHER_CALL 2
#define MAX_SECRET 4096
#define MAX_MESSAGE ((size_t)256 << 20)
#define WRITE_TIMEOUT_MS 60000

int python_barrier_listen(struct python_barrier *b, struct fst_error *error)
{
        python_barrier_close(b);
        int listener = socket_listen(&(struct listen_options){.service = "BarrierTaskContext", .host = "127.0.0.1"},
                                     &b->port, error);
        if (listener < 0)
                return listener;
        b->listener = listener;
        b->secret = python_secret_new();
        return 0;
}

void python_barrier_close(struct python_barrier *b)
{
        if (b->listener >= 0)
                close(b->listener);
        b->listener = -1;
        free(steal(b->secret));
}

/* Waits for the other tasks. Appends the answer to @out. */
static int python_barrier_answer(struct task_run *run, int32_t call, const struct buf *message, struct buf *out)
{
        if (call == BARRIER_CALL) {
                if (fst_barrier_wait(&run->task))
                        return run->status;
                python_put_int(out, 1);
                python_put_text(out, "success");
                return 0;
        }
        size_t n = (size_t)MAX(fst_task_partitions(&run->task), 1);
        fst_bytes *messages = new_array(fst_bytes, n);
        int count = fst_barrier_all_gather(&run->task, (fst_bytes){buf_text(message), message->len}, messages, n);
        if (count >= 0)
                python_put_int(out, MIN(count, (int)n));
        for (int i = 0; i < count && i < (int)n; i++) {
                python_put_int(out, (int32_t)messages[i].len);
                buf_append(out, messages[i].data, messages[i].len);
        }
        free(messages);
        return count < 0 ? run->status : 0;
}

/* Reads a request. Returns 0, or negative if the peer is not the worker. */
static int python_barrier_read(const struct python_barrier *b, struct task_run *run, int fd, int32_t *call,
                               struct buf *message)
{
        int64_t timeout = python_pool_socket_timeout_ms(run->services->python);
        _cleanup_(buf_deinit) struct buf text = BUF_INIT;
        int r = python_read_text(fd, MAX_SECRET, timeout, run->task.stopped, &text);
        bool right = r == 0 && strcmp(buf_text(&text), b->secret) == 0;
        buf_reset(&text);
        python_put_text(&text, right ? "ok" : "err");
        if (r == 0)
                r = python_write(fd, text.data, text.len, timeout, run->task.stopped);
        if (r == 0 && !right)
                r = -EACCES;
        if (r == 0)
                r = python_read_int(fd, timeout, run->task.stopped, call);
        if (r == 0 && *call == ALL_GATHER_CALL)
                r = python_read_text(fd, MAX_MESSAGE, timeout, run->task.stopped, message);
        return r ? r : *call == BARRIER_CALL || *call == ALL_GATHER_CALL ? 0 : -EBADMSG;
}

int python_barrier_serve(struct python_barrier *b, struct task_run *run)
{
        _cleanup_(buf_deinit) struct buf message = BUF_INIT, out = BUF_INIT;
        int32_t call;
        int fd = socket_accept(b->listener), r = 0;
        if (fd < 0)
                return 0;
        if (python_barrier_read(b, run, fd, &call, &message) == 0) {
                r = python_barrier_answer(run, call, &message, &out);
                if (r) {
                        buf_reset(&out);
                        python_put_text(&out, error_message(&run->error));
                }
                /* If the worker has ended, its own socket tells. */
                (void)python_write(fd, out.data, out.len, WRITE_TIMEOUT_MS, run->task.stopped);
        }
        close(fd);
        return r;
}
