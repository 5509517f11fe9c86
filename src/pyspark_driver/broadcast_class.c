/*
 * Broadcast variables and accumulators; see broadcast_class.h.
 *
 * Python writes the pickle of a variable to a file and names the file. Its one accumulator stands for all of the
 * program's: the updates of each task that counts go to a server in the Python process, over one connection, and are
 * acknowledged there before the job ends.
 */
#include "pyspark_driver/broadcast_class.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/fs.h"
#include "base/mem.h"
#include "conf/conf.h"
#include "driver/context.h"
#include "net/socket.h"
#include "process/failure_reason.h"
#include "py4j/collections.h"
#include "pyspark_driver/byte_stream.h"
#include "pyspark_driver/classes.h"
#include "pyspark_driver/errors.h"

#include <firesteel/python.h>

#include <poll.h>
#include <stdio.h>
#include <sys/un.h>
#include <unistd.h>

#define CONNECT_TIMEOUT_NS (10 * (int64_t)1000000000)
#define DEFAULT_TIMEOUT_MS 120000

/* ------------------------------------------------------------------------------------------------- variables */

struct variable_object {
        struct py4j_object object;
        struct driver_session *session; /* of a Broadcast; NULL: a PythonBroadcast, which has only a path */
        char *path;
        struct byte_stream *received, *sent; /* with encryption, of a PythonBroadcast: in place of the file */
        fst_broadcast handle;
        bool destroyed;
};

static const struct py4j_class python_broadcast_class, broadcast_class;

static void variable_free(struct py4j_object *object)
{
        struct variable_object *v = (struct variable_object *)object;
        if (v->session && !v->destroyed && session_enter(v->session)) {
                fst_broadcast_destroy(v->session->sc, v->handle);
                session_leave(v->session);
        }
        session_unref(v->session);
        byte_stream_free(v->sent);
        byte_stream_free(v->received);
        free(v->path);
        free(v);
}

static struct variable_object *variable_new(const struct py4j_class *class)
{
        struct variable_object *v = new0(struct variable_object);
        py4j_object_init(&v->object, class);
        return v;
}

void broadcast_setup(struct py4j_call *call)
{
        struct variable_object *v = variable_new(&python_broadcast_class);
        v->path = mem_strdup(call->args[0].text);
        call->result = py4j_object_value(&v->object);
}

void context_broadcast(struct py4j_call *call)
{
        struct driver_session *session = context_object_session(call->self);
        struct py4j_object *object = py4j_argument(call, 0, &python_broadcast_class);
        if (!object)
                return;
        if (session_has_ended(session)) {
                py4j_throw(call, "java.lang.IllegalStateException", "Cannot call methods on a stopped SparkContext.");
                return;
        }
        const struct variable_object *python = (const struct variable_object *)object;
        fst_broadcast handle =
                fst_broadcast_file(session->sc, python->received ? byte_stream_path(python->received) : python->path);
        if (!handle.id) {
                throw_failure(call, "the broadcast variable cannot be stored");
                return;
        }
        struct variable_object *v = variable_new(&broadcast_class);
        v->session = session_ref(session);
        v->handle = handle;
        call->result = py4j_object_value(&v->object);
}

fst_broadcast broadcast_object_handle(const struct py4j_value *value)
{
        if (value->type != PY4J_OBJECT || value->object->class != &broadcast_class)
                return (fst_broadcast){0};
        return ((const struct variable_object *)value->object)->handle;
}

static void broadcast_id(struct py4j_call *call)
{
        call->result = py4j_long(((struct variable_object *)call->self)->handle.id);
}

bool broadcast_object_is_destroyed(struct py4j_call *call, const struct py4j_value *value)
{
        if (value->type != PY4J_OBJECT || value->object->class != &broadcast_class)
                return false;
        const struct variable_object *v = (const struct variable_object *)value->object;
        if (!v->destroyed)
                return false;
        py4j_throw(call, "org.apache.spark.SparkException",
                   "Attempted to use Broadcast(%" PRId64 ") after it was destroyed", v->handle.id);
        return true;
}

static void broadcast_unpersist(struct py4j_call *call)
{
        struct variable_object *v = (struct variable_object *)call->self;
        if (v->destroyed)
                py4j_throw(call, "org.apache.spark.SparkException",
                           "Attempted to use Broadcast(%" PRId64 ") after it was destroyed", v->handle.id);
        else if (!session_has_ended(v->session))
                fst_broadcast_unpersist(v->session->sc, v->handle);
}

static void broadcast_destroy(struct py4j_call *call)
{
        struct variable_object *v = (struct variable_object *)call->self;
        if (__atomic_exchange_n(&v->destroyed, true, __ATOMIC_ACQ_REL))
                py4j_throw(call, "org.apache.spark.SparkException",
                           "Attempted to use Broadcast(%" PRId64 ") after it was destroyed", v->handle.id);
        else if (!session_has_ended(v->session))
                fst_broadcast_destroy(v->session->sc, v->handle);
}

static const struct py4j_member broadcast_members[] = {
        {"id", "", broadcast_id},
        {"unpersist", "", broadcast_unpersist},
        {"unpersist", "b", broadcast_unpersist},
        {"destroy", "", broadcast_destroy},
        {"destroy", "b", broadcast_destroy},
};

static const struct py4j_class broadcast_class = {
        .name = "org.apache.spark.broadcast.TorrentBroadcast", PY4J_MEMBERS(broadcast_members), .free = variable_free};

static void python_broadcast_set_id(struct py4j_call *call)
{
        (void)call; /* the id is that of the variable */
}

static void python_broadcast_return_stream(struct py4j_call *call, const struct byte_stream *stream)
{
        struct py4j_object *array = py4j_array_new("java.lang.Object", 0);
        py4j_add(array, py4j_int(byte_stream_port(stream)));
        py4j_add(array, py4j_string(byte_stream_secret(stream)));
        call->result = py4j_object_value(array);
}

static void python_broadcast_receive(struct py4j_call *call)
{
        _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
        struct variable_object *v = (struct variable_object *)call->self;
        struct byte_stream *stream, *none = NULL;
        if (byte_stream_receive(&stream, &error) < 0) {
                py4j_throw(call, "java.io.IOException", "%s", error_message(&error));
        } else if (__atomic_compare_exchange_n(&v->received, &none, stream, false, __ATOMIC_ACQ_REL,
                                               __ATOMIC_ACQUIRE)) {
                python_broadcast_return_stream(call, stream);
        } else { /* other connections may wait for the first one */
                byte_stream_free(stream);
                py4j_throw(call, "java.lang.IllegalStateException", "the broadcast variable has a value already");
        }
}

static void python_broadcast_send(struct py4j_call *call)
{
        _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
        struct variable_object *v = (struct variable_object *)call->self;
        struct byte_stream *stream;
        if (!v->received) {
                py4j_throw(call, "java.lang.IllegalStateException", "the broadcast variable has no value yet");
        } else if (byte_stream_send(v->received, &stream, &error) < 0) {
                py4j_throw(call, "java.io.IOException", "%s", error_message(&error));
        } else {
                python_broadcast_return_stream(call, stream);
                byte_stream_free(__atomic_exchange_n(&v->sent, stream, __ATOMIC_ACQ_REL));
        }
}

static void python_broadcast_await(struct py4j_call *call, struct byte_stream *stream)
{
        _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
        if (stream && byte_stream_wait(stream, &error) < 0)
                py4j_throw(call, "java.io.IOException", "%s", error_message(&error));
}

static void python_broadcast_await_received(struct py4j_call *call)
{
        python_broadcast_await(call, ((struct variable_object *)call->self)->received);
}

/* Python waits for the end of the sending before it reads: the sender goes on in its own time. */
static void python_broadcast_await_sent(struct py4j_call *call)
{
        (void)call;
}

static const struct py4j_member python_broadcast_members[] = {
        {"setupEncryptionServer", "", python_broadcast_receive},
        {"setupDecryptionServer", "", python_broadcast_send},
        {"waitTillDataReceived", "", python_broadcast_await_received},
        {"waitTillBroadcastDataSent", "", python_broadcast_await_sent},
        {"setBroadcastId", "i", python_broadcast_set_id},
};

static const struct py4j_class python_broadcast_class = {.name = "org.apache.spark.api.python.PythonBroadcast",
                                                         PY4J_MEMBERS(python_broadcast_members),
                                                         .free = variable_free};

/* ---------------------------------------------------------------------------------------------- accumulators */

struct accumulator_object {
        struct py4j_object object;
        char *host, *secret; /* NULL: `path` is a Unix socket */
        char *path;
        int port;
        fst_accumulator handle;
        int64_t timeout_ms;   /* spark.network.timeout */
        pthread_mutex_t lock; /* guards the connection */
        int fd;               /* -1: not connected */
};

static void accumulator_free(struct py4j_object *object)
{
        struct accumulator_object *a = (struct accumulator_object *)object;
        if (a->fd >= 0)
                close(a->fd);
        pthread_mutex_destroy(&a->lock);
        free(a->host);
        free(a->secret);
        free(a->path);
        free(a);
}

static void accumulator_construct(struct py4j_call *call)
{
        struct accumulator_object *a = new0(struct accumulator_object);
        py4j_object_init(&a->object, &accumulator_class);
        pthread_mutex_init(&a->lock, NULL);
        a->fd = -1;
        a->timeout_ms = DEFAULT_TIMEOUT_MS;
        if (call->n == 1) {
                a->path = mem_strdup(call->args[0].text);
        } else {
                a->host = mem_strdup(call->args[0].text);
                a->port = (int)call->args[1].number;
                a->secret = mem_strdup(call->args[2].text);
        }
        call->result = py4j_object_value(&a->object);
}

static int accumulator_connect_path(const char *path, struct fst_error *error)
{
        struct sockaddr_un address = {.sun_family = AF_UNIX};
        if (strlen(path) >= sizeof(address.sun_path))
                return error_set(error, -ENAMETOOLONG, "the socket %s has a path of more than %zu bytes", path,
                                 sizeof(address.sun_path) - 1);
        memcpy(address.sun_path, path, strlen(path) + 1);
        int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0)
                return fd;
        int r = error_errno(error, "the socket %s", path);
        if (fd >= 0)
                close(fd);
        return r;
}

/* Waits for Python's server. Returns 0, or -ETIMEDOUT with @error. */
static int accumulator_wait(const struct accumulator_object *a, int events, struct fst_error *error)
{
        int r = socket_wait(a->fd, events, ms_to_ns(a->timeout_ms), NULL);
        if (r)
                return MIN(r, 0);
        return error_set(error, -ETIMEDOUT,
                         "Python's server of accumulators did not acknowledge the updates of a task within %lld s: the "
                         "driver's Python hangs, or adding an update takes longer than spark.network.timeout",
                         (long long)(a->timeout_ms / 1000));
}

static int accumulator_write(const struct accumulator_object *a, const char *data, size_t n, struct fst_error *error)
{
        while (n > 0) {
                ssize_t written = send(a->fd, data, n, MSG_NOSIGNAL | MSG_DONTWAIT);
                int r = 0;
                if (written < 0 && errno == EAGAIN)
                        r = accumulator_wait(a, POLLOUT, error);
                else if (written < 0 && errno != EINTR)
                        r = error_errno(error, "sending updates of accumulators to Python");
                if (r)
                        return r;
                if (written > 0) {
                        data += written;
                        n -= (size_t)written;
                }
        }
        return 0;
}

static int accumulator_connect(struct accumulator_object *a, struct fst_error *error)
{
        if (a->fd >= 0)
                return 0;
        int fd = a->path ? accumulator_connect_path(a->path, error)
                         : socket_connect(a->host, a->port, CONNECT_TIMEOUT_NS, NULL, error);
        if (fd < 0)
                return fd;
        a->fd = fd;
        return a->secret ? accumulator_write(a, a->secret, strlen(a->secret), error) : 0;
}

/* Waits for the byte with which Python acknowledges the updates of a task. The first sentence is Spark's. */
static int accumulator_acknowledged(const struct accumulator_object *a, struct fst_error *error)
{
        for (;;) {
                char byte;
                int r = 0;
                ssize_t n = recv(a->fd, &byte, 1, MSG_DONTWAIT);
                if (n == 1)
                        return 0;
                if (n == 0)
                        return error_set(error, -EPIPE,
                                         "EOF reached before Python server acknowledged. An exception of an "
                                         "AccumulatorParam is on the standard error of the driver's Python");
                if (errno == EAGAIN)
                        r = accumulator_wait(a, POLLIN, error);
                else if (errno != EINTR)
                        r = error_errno(error, "Python's server of accumulators");
                if (r)
                        return r;
        }
}

static void accumulator_put_int(struct buf *out, size_t x)
{
        for (int shift = 24; shift >= 0; shift -= 8)
                buf_putc(out, (char)(x >> shift));
}

/* The updates of one task that counts. */
static int accumulator_receive(void *data, const fst_bytes *blobs, size_t n)
{
        struct accumulator_object *a = data;
        _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
        _cleanup_(buf_deinit) struct buf message = BUF_INIT;
        accumulator_put_int(&message, n);
        for (size_t i = 0; i < n; i++) {
                accumulator_put_int(&message, blobs[i].len);
                buf_append(&message, blobs[i].data, blobs[i].len);
        }
        pthread_mutex_lock(&a->lock);
        int r = accumulator_connect(a, &error);
        if (r == 0)
                r = accumulator_write(a, message.data, message.len, &error);
        if (r == 0)
                r = accumulator_acknowledged(a, &error);
        if (r < 0 && a->fd >= 0) {
                close(a->fd);
                a->fd = -1;
        }
        pthread_mutex_unlock(&a->lock);
        if (r < 0)
                failure_reason_set_thread(error_message(&error)); /* the job's failure says it */
        return r;
}

/* The context keeps the accumulator, so the object stays as long as the process. */
void context_register_accumulator(struct py4j_call *call)
{
        struct driver_session *session = context_object_session(call->self);
        struct py4j_object *object = py4j_argument(call, 0, &accumulator_class);
        if (!object || session_has_ended(session))
                return;
        struct accumulator_object *a = (struct accumulator_object *)py4j_object_ref(object);
        conf_get_ms(session->sc->conf, "spark.network.timeout", &a->timeout_ms, NULL);
        a->handle = fst_accumulator_list(session->sc, NULL, accumulator_receive, a);
        if (!a->handle.id)
                throw_failure(call, "the accumulator cannot be registered");
}

fst_accumulator accumulator_object_handle(const struct py4j_object *object)
{
        return ((const struct accumulator_object *)object)->handle;
}

static const struct py4j_member accumulator_members[] = {
        {"", "s", accumulator_construct, PY4J_CONSTRUCTOR},
        {"", "sis", accumulator_construct, PY4J_CONSTRUCTOR},
};

const struct py4j_class accumulator_class = {.name = "org.apache.spark.api.python.PythonAccumulatorV2",
                                             PY4J_MEMBERS(accumulator_members),
                                             .free = accumulator_free};
