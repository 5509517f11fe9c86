/* See r_worker.h. */
#include "r/r_worker.h"

#include "base/error.h"
#include "base/mem.h"
#include "net/socket.h"

#include <netinet/in.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define STOP_POLL_MS 100
#define READ_SIZE ((size_t)64 << 10)

static void r_worker_close(int *fd)
{
        if (*fd >= 0)
                close(*fd);
        *fd = -1;
}

int r_worker_start(struct r_worker *w, const struct r_settings *settings, const int *stopped, struct fst_error *error)
{
        *w = (struct r_worker){.in = -1, .out = -1};
        struct listen_options options = {.service = "R worker", .host = "127.0.0.1"};
        int listener = socket_listen(&options, &w->port, error);
        if (listener < 0)
                return listener;
        int r = r_process_fork_worker(settings, w->port, stopped, &w->process, error);
        if (r == 0)
                r = w->in = r_process_accept(w->process, listener, stopped, error);
        if (r >= 0)
                r = w->out = r_process_accept(w->process, listener, stopped, error);
        close(listener);
        return r < 0 ? r : 0;
}

/* Reads the output that is there. Closes the descriptor at the end. */
static int r_worker_gather(struct r_worker *w, struct fst_error *error)
{
        while (w->out >= 0) {
                if (!buf_try_reserve(&w->output, READ_SIZE))
                        return error_set(error, -ENOMEM, "no memory for the output of an R worker after %zu bytes",
                                         w->output.len);
                ssize_t n = recv(w->out, w->output.data + w->output.len, READ_SIZE, 0);
                if (n < 0 && errno == EINTR)
                        continue;
                if (n < 0 && errno == EAGAIN)
                        return 0;
                if (n <= 0) {
                        r_worker_close(&w->out);
                        return 0;
                }
                w->output.len += (size_t)n;
                w->output.data[w->output.len] = '\0';
                if ((size_t)n < READ_SIZE)
                        return 0;
        }
        return 0;
}

/* Waits until the worker accepts input (if @feeding) or has output. */
static int r_worker_wait(const struct r_worker *w, bool feeding, const int *stopped)
{
        struct pollfd fds[2] = {{.fd = w->out, .events = POLLIN}, {.fd = feeding ? w->in : -1, .events = POLLOUT}};
        if (poll(fds, 2, STOP_POLL_MS) < 0 && errno != EINTR)
                return -errno;
        return __atomic_load_n(stopped, __ATOMIC_RELAXED) ? -ECANCELED : 0;
}

static int r_worker_failed(int r, struct fst_error *error)
{
        return error_set(error, r, "an R worker's connection: %s", strerror(-r));
}

int r_worker_feed(struct r_worker *w, const char *data, size_t len, const int *stopped, struct fst_error *error)
{
        while (len > 0 && w->in >= 0) {
                ssize_t n = send(w->in, data, len, MSG_NOSIGNAL);
                if (n > 0) {
                        data += n;
                        len -= (size_t)n;
                        continue;
                }
                if (errno == EINTR)
                        continue;
                if (errno != EAGAIN) { /* it reads no more */
                        r_worker_close(&w->in);
                        return 0;
                }
                int r = r_worker_wait(w, true, stopped);
                if (r)
                        return r_worker_failed(r, error);
                if ((r = r_worker_gather(w, error)) != 0)
                        return r;
        }
        return 0;
}

void r_worker_close_input(struct r_worker *w)
{
        if (w->in >= 0)
                shutdown(w->in, SHUT_WR);
}

int r_worker_read(struct r_worker *w, size_t size, const int *stopped, struct fst_error *error)
{
        for (;;) {
                int r = r_worker_gather(w, error);
                if (r || w->output.len >= size)
                        return r;
                if (w->out < 0)
                        return R_WORKER_E_END;
                if ((r = r_worker_wait(w, false, stopped)) != 0)
                        return r_worker_failed(r, error);
        }
}

/* The port of the worker's end of @fd, or 0. */
static int r_worker_peer_port(int fd)
{
        struct sockaddr_in peer;
        socklen_t size = sizeof(peer);
        if (fd < 0 || getpeername(fd, (struct sockaddr *)&peer, &size) < 0 || peer.sin_family != AF_INET)
                return 0;
        return ntohs(peer.sin_port);
}

void r_worker_end(struct r_worker *w, bool complete)
{
        int peer = r_worker_peer_port(w->out >= 0 ? w->out : w->in);
        if (w->process && !complete && peer)
                r_process_kill_worker(w->process, peer, w->port);
        r_worker_close(&w->in);
        r_worker_close(&w->out);
        r_process_unref(steal(w->process));
        buf_deinit(&w->output);
}
