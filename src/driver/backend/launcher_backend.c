/*
 * See launcher_backend.h. Matches Spark's LauncherBackend and LauncherConnection.
 *
 * Threads: the calling thread writes, under `lock`. The backend's own thread reads, because Stop may come at any time,
 * and ends with the connection. launcher_backend_close shuts down writing, whereupon the launcher closes its end, and
 * joins the reader. So the descriptor stays valid while it may be used. Closing a socket with unread input would
 * discard the last message sent.
 */
#include "driver/backend/launcher_backend.h"

#include "base/error.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/strmap.h"
#include "events/event_json.h"
#include "net/socket.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

/* Messages have some hundred bytes. A launcher that does not read for this long is dropped. */
#define TIMEOUT_NS (10 * 1000000000ll)

struct launcher_backend {
        int fd;
        pthread_t reader;
        launcher_stop_fn *stop;
        void *context;

        pthread_mutex_t lock; /* guards the fields below */
        struct launcher_writer writer;
        bool connected;
        bool read; /* the reader has ended */
        pthread_cond_t ended;
        enum launcher_state last; /* last reported */
};

/* ------------------------------------------------------------------------------------------------------ sending */

static int launcher_backend_send_all(int fd, const char *data, size_t n)
{
        while (n > 0) {
                ssize_t done = send(fd, data, n, MSG_NOSIGNAL);
                if (done >= 0) {
                        data += done;
                        n -= (size_t)done;
                        continue;
                }
                if (errno == EINTR)
                        continue;
                if (errno != EAGAIN)
                        return -errno;
                int r = socket_wait(fd, POLLOUT, TIMEOUT_NS, NULL);
                if (r <= 0)
                        return r < 0 ? r : -ETIMEDOUT;
        }
        return 0;
}

/* Under the lock. */
static int launcher_backend_send(struct launcher_backend *b, const struct launcher_message *m, struct fst_error *error)
{
        _cleanup_(buf_deinit) struct buf out = BUF_INIT;
        int r = launcher_writer_put(&b->writer, m, &out, error);
        if (r < 0)
                return r;
        if ((r = launcher_backend_send_all(b->fd, out.data, out.len)) < 0) {
                b->connected = false;
                return error_set(error, r, "cannot send to this application's launcher: %s", strerror(-r));
        }
        return 0;
}

static void launcher_backend_send_or_warn(struct launcher_backend *b, const struct launcher_message *m)
{
        struct fst_error error = FST_ERROR_INIT;
        if (launcher_backend_send(b, m, &error) < 0)
                log_warn("LauncherBackend", "%s", error_message(&error));
        error_deinit(&error);
}

void launcher_backend_set_app_id(struct launcher_backend *b, const char *id)
{
        if (!b)
                return;
        pthread_mutex_lock(&b->lock);
        if (b->connected)
                launcher_backend_send_or_warn(
                        b, &(struct launcher_message){.kind = LAUNCHER_SET_APP_ID, .text = (char *)id});
        pthread_mutex_unlock(&b->lock);
}

void launcher_backend_set_state(struct launcher_backend *b, enum launcher_state state)
{
        if (!b)
                return;
        pthread_mutex_lock(&b->lock);
        if (b->connected && b->last != state && !launcher_state_is_final(b->last)) {
                launcher_backend_send_or_warn(b,
                                              &(struct launcher_message){.kind = LAUNCHER_SET_STATE, .state = state});
                b->last = state;
        }
        pthread_mutex_unlock(&b->lock);
}

bool launcher_backend_is_connected(struct launcher_backend *b)
{
        if (!b)
                return false;
        pthread_mutex_lock(&b->lock);
        bool connected = b->connected;
        pthread_mutex_unlock(&b->lock);
        return connected;
}

/* ----------------------------------------------------------------------------------------------------- receiving */

/* Reads messages until the connection ends. Returns 0, or a negative status for anything but Stop. */
static int launcher_backend_read(struct launcher_backend *b, struct launcher_reader *reader, struct fst_error *error)
{
        char data[1024];
        bool stopped = false;
        for (;;) {
                ssize_t n = recv(b->fd, data, sizeof(data), 0);
                if (n < 0 && errno == EAGAIN && socket_wait(b->fd, POLLIN, -1, NULL) >= 0)
                        continue;
                if (n < 0 && errno == EINTR)
                        continue;
                if (n <= 0)
                        return 0;
                struct launcher_message m;
                int r;
                launcher_reader_feed(reader, data, (size_t)n);
                while ((r = launcher_reader_next(reader, &m, error)) > 0) {
                        enum launcher_message_kind kind = m.kind;
                        launcher_message_deinit(&m);
                        if (kind != LAUNCHER_STOP)
                                return error_set(error, -EBADMSG, "the launcher sent a message other than Stop");
                        if (!stopped)
                                b->stop(b, b->context);
                        stopped = true;
                }
                if (r < 0)
                        return r;
        }
}

static void *launcher_backend_reader(void *context)
{
        struct launcher_backend *b = context;
        struct launcher_reader reader = LAUNCHER_READER_INIT;
        struct fst_error error = FST_ERROR_INIT;
        if (launcher_backend_read(b, &reader, &error) < 0)
                log_warn("LauncherBackend", "the connection to this application's launcher failed: %s",
                         error_message(&error));
        pthread_mutex_lock(&b->lock);
        b->connected = false;
        b->read = true;
        pthread_cond_signal(&b->ended);
        pthread_mutex_unlock(&b->lock);
        launcher_reader_deinit(&reader);
        error_deinit(&error);
        return NULL;
}

/* ------------------------------------------------------------------------------------------- start and end */

static const char *launcher_backend_setting(const struct strmap *conf, const char *key, const char *variable)
{
        const char *value = conf ? strmap_get(conf, key) : NULL;
        return value ? value : getenv(variable);
}

static int launcher_backend_open(const char *text, struct fst_error *error)
{
        char *end;
        errno = 0;
        long port = strtol(text, &end, 10);
        if (errno || end == text || *end || port < 1 || port > 65535)
                return error_set(error, -EINVAL,
                                 "the port of this application's launcher is '%s' (spark.launcher.port, "
                                 "_SPARK_LAUNCHER_PORT): it must be a number from 1 to 65535",
                                 text);
        int fd = socket_connect("127.0.0.1", (int)port, TIMEOUT_NS, NULL, error);
        return fd < 0 ? error_wrap(error, fd, "connecting to this application's launcher") : fd;
}

/* Signals are delivered to the application's threads only. */
static int launcher_backend_start_reader(struct launcher_backend *b, struct fst_error *error)
{
        sigset_t all, before;
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, &before);
        int r = pthread_create(&b->reader, NULL, launcher_backend_reader, b);
        pthread_sigmask(SIG_SETMASK, &before, NULL);
        return r ? error_set(error, -r, "cannot start the thread that reads from the launcher: %s", strerror(r)) : 0;
}

int launcher_backend_connect(const struct strmap *conf, launcher_stop_fn *stop, void *context,
                             struct launcher_backend **backend, struct fst_error *error)
{
        const char *port = launcher_backend_setting(conf, "spark.launcher.port", "_SPARK_LAUNCHER_PORT");
        const char *secret = launcher_backend_setting(conf, "spark.launcher.secret", "_SPARK_LAUNCHER_SECRET");
        *backend = NULL;
        if (!port || !secret)
                return 0;
        int fd = launcher_backend_open(port, error);
        if (fd < 0)
                return fd;
        struct launcher_backend *b = new0(struct launcher_backend);
        *b = (struct launcher_backend){.fd = fd, .stop = stop, .context = context, .connected = true};
        pthread_mutex_init(&b->lock, NULL);
        pthread_cond_init(&b->ended, NULL);
        int r = launcher_backend_send(b,
                                      &(struct launcher_message){.kind = LAUNCHER_HELLO,
                                                                 .text = (char *)secret,
                                                                 .version = (char *)EVENT_JSON_SPARK_VERSION},
                                      error);
        if (r == 0)
                r = launcher_backend_start_reader(b, error);
        if (r < 0) {
                pthread_cond_destroy(&b->ended);
                pthread_mutex_destroy(&b->lock);
                close(fd);
                free(b);
                return r;
        }
        *backend = b;
        return 0;
}

void launcher_backend_close(struct launcher_backend *b)
{
        if (!b)
                return;
        struct timespec until;
        clock_gettime(CLOCK_MONOTONIC, &until);
        until.tv_sec += 1;
        shutdown(b->fd, SHUT_WR);
        pthread_mutex_lock(&b->lock);
        while (!b->read && pthread_cond_clockwait(&b->ended, &b->lock, CLOCK_MONOTONIC, &until) == 0)
                ;
        if (!b->read)
                shutdown(b->fd, SHUT_RDWR);
        pthread_mutex_unlock(&b->lock);
        pthread_join(b->reader, NULL);
        pthread_cond_destroy(&b->ended);
        pthread_mutex_destroy(&b->lock);
        close(b->fd);
        free(b);
}
