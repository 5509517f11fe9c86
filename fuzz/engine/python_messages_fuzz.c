/* Messages that Python's daemon, its workers and their barriers write before and beside the answers of tasks. The first
 * byte chooses the message; the rest arrives on a socket, which then ends. */
#include "base/buf.h"
#include "base/error.h"
#include "python/worker_daemon.h"
#include "python/worker_pool.h"
#include "rdd/operators/python_socket.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define TIMEOUT_MS 1000

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct python_settings settings = {.daemon_module = (char *)"pyspark.daemon",
                                                .worker_module = (char *)"pyspark.worker",
                                                .socket_timeout_ms = TIMEOUT_MS};

static void message_check(bool holds)
{
        if (!holds)
                abort();
}

static void daemon_read(int fd, bool unix_sockets)
{
        const struct python_spec spec = {.program = "python3"};
        struct python_settings s = settings;
        struct python_process process = {.command = {.in = -1, .out = fd}};
        struct fst_error error = FST_ERROR_INIT;
        s.unix_sockets = unix_sockets;
        int r = python_daemon_read_greeting(&s, &spec, NULL, &process, &error);
        message_check((r == 0) == !error.message);
        if (r == 0)
                message_check(process.version > 0 && (process.is_unix ? process.path && strlen(process.path) < 108
                                                                      : process.port >= 1 && process.port <= 65535));
        error_deinit(&error);
        free(process.path);
}

static void worker_read(int fd, bool unix_sockets)
{
        const struct python_process daemon = {.is_unix = unix_sockets, .secret = (char *)"secret"};
        struct fst_error error = FST_ERROR_INIT;
        int32_t pid = 0;
        int r = python_worker_read_greeting(&settings, &daemon, fd, NULL, &pid, &error);
        message_check(r <= 0 && (r == 0) == !error.message);
        message_check(r || pid > 0);
        error_deinit(&error);
}

static void barrier_read(int fd, size_t size)
{
        _cleanup_(buf_deinit) struct buf message = BUF_INIT;
        int32_t call = 0;
        int r = python_barrier_read(fd, TIMEOUT_MS, NULL, &call, &message);
        message_check(r <= 0 && message.len <= size);
        message_check(r || call == PYTHON_BARRIER_CALL || call == PYTHON_ALL_GATHER_CALL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        int ends[2];
        if (size == 0 || size > 4096 || socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends))
                return 0;
        if (size > 1)
                message_check(send(ends[1], data + 1, size - 1, 0) == (ssize_t)size - 1);
        shutdown(ends[1], SHUT_WR);
        if (data[0] < 2)
                daemon_read(ends[0], data[0]);
        else if (data[0] < 4)
                worker_read(ends[0], data[0] == 3);
        else
                barrier_read(ends[0], size);
        close(ends[0]);
        close(ends[1]);
        return 0;
}
