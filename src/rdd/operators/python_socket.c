/*
 * See python_socket.h. A barrier request is an int, 1 for a barrier or 2 for all messages, followed by the task's own.
 * The answer is the number of texts and the texts: "success" for a barrier.
 */
#include "rdd/operators/python_socket.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/mem.h"
#include "net/socket.h"
#include "net/socket_exact.h"
#include "python/worker_daemon.h"
#include "python/worker_pool.h"
#include "python/worker_task.h"
#include "rdd/pipeline/task_run.h"
#include "rdd/pipeline/task_services.h"

#include <firesteel/barrier.h>

#include <unistd.h>

#define MAX_MESSAGE ((size_t)256 << 20)
#define WRITE_TIMEOUT_MS 60000

int python_socket_listen(struct python_socket *s, struct fst_error *error)
{
        python_socket_close(s);
        int listener = socket_listen(&(struct listen_options){.service = "PythonRunner", .host = "127.0.0.1"}, &s->port,
                                     error);
        if (listener < 0)
                return listener;
        s->listener = listener;
        s->secret = python_secret_new();
        return 0;
}

void python_socket_close(struct python_socket *s)
{
        if (s->listener >= 0)
                close(s->listener);
        s->listener = -1;
        free(steal(s->secret));
}

int python_socket_accept(struct python_socket *s, struct task_run *run)
{
        int64_t timeout = python_pool_socket_timeout_ms(run->services->python);
        int fd = socket_accept(s->listener);
        if (fd < 0)
                return fd;
        int r = socket_accept_secret(fd, s->secret, SECRET_END_NONE, now_ns() + ms_to_ns(timeout), run->task.stopped);
        if (r == 0)
                return fd;
        close(fd);
        return r;
}

/* ------------------------------------------------------------------------------------------------------- barriers */

/* Waits for the other tasks. Appends the answer to @out. */
static int python_barrier_answer(struct task_run *run, int32_t call, const struct buf *message, struct buf *out)
{
        if (call == PYTHON_BARRIER_CALL) {
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

int python_barrier_read(int fd, int64_t timeout_ms, const int *stopped, int32_t *call, struct buf *message)
{
        int r = python_read_int(fd, timeout_ms, stopped, call);
        if (r == 0 && *call == PYTHON_ALL_GATHER_CALL)
                r = python_read_text(fd, MAX_MESSAGE, timeout_ms, stopped, message);
        return r ? r : *call == PYTHON_BARRIER_CALL || *call == PYTHON_ALL_GATHER_CALL ? 0 : -EBADMSG;
}

int python_barrier_serve(struct python_socket *s, struct task_run *run)
{
        _cleanup_(buf_deinit) struct buf message = BUF_INIT, out = BUF_INIT;
        int32_t call;
        int64_t timeout = python_pool_socket_timeout_ms(run->services->python);
        int fd = python_socket_accept(s, run), r = 0;
        if (fd < 0)
                return 0;
        if (python_barrier_read(fd, timeout, run->task.stopped, &call, &message) == 0) {
                r = python_barrier_answer(run, call, &message, &out);
                if (r) { /* without a number of texts, which the worker takes for a failure */
                        buf_reset(&out);
                        python_put_text(&out, error_message(&run->error));
                }
                /* If the worker has ended, its own socket tells. */
                (void)python_write(fd, out.data, out.len, WRITE_TIMEOUT_MS, run->task.stopped);
        }
        close(fd);
        return r;
}
