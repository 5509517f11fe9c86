/* See socket_exact.h. */
#include "net/socket_exact.h"

#include "base/clock.h"
#include "base/mem.h"
#include "net/secret.h"
#include "net/socket.h"

#include <endian.h>
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#define MAX_SECRET_TEXT 520

int socket_wait_until(int fd, int events, int64_t deadline, const int *stopped)
{
        int64_t left = deadline == SOCKET_NO_DEADLINE ? -1 : MAX(deadline - now_ns(), (int64_t)0);
        int r = socket_wait(fd, events, left, stopped);
        return r > 0 ? 0 : r ? r : -ETIMEDOUT;
}

int socket_read_exactly(int fd, void *data, size_t len, int64_t deadline, const int *stopped)
{
        for (char *at = data; len > 0;) {
                ssize_t n = read(fd, at, len);
                int r = 0;
                if (n == 0)
                        return -EPIPE;
                if (n > 0) {
                        at += n;
                        len -= (size_t)n;
                } else if (errno == EAGAIN) {
                        r = socket_wait_until(fd, POLLIN, deadline, stopped);
                } else if (errno != EINTR) {
                        r = -errno;
                }
                if (r)
                        return r;
        }
        return 0;
}

int socket_write_exactly(int fd, const void *data, size_t len, int64_t deadline, const int *stopped)
{
        for (const char *at = data; len > 0;) {
                ssize_t n = send(fd, at, len, MSG_NOSIGNAL);
                int r = 0;
                if (n >= 0) {
                        at += n;
                        len -= (size_t)n;
                } else if (errno == EAGAIN) {
                        r = socket_wait_until(fd, POLLOUT, deadline, stopped);
                } else if (errno != EINTR) {
                        r = -errno;
                }
                if (r)
                        return r;
        }
        return 0;
}

int socket_accept_secret(int fd, const char *secret, enum secret_end end, int64_t deadline, const int *stopped)
{
        char given[MAX_SECRET_TEXT], answer[8];
        size_t wanted = strlen(secret) + end;
        uint32_t length = 0;
        int r = socket_read_exactly(fd, &length, sizeof(length), deadline, stopped);
        bool right = be32toh(length) == wanted && wanted <= sizeof(given);
        if (r == 0 && right)
                r = socket_read_exactly(fd, given, wanted, deadline, stopped);
        if (r)
                return r;
        right = right && secret_equals(given, wanted - end, secret) && (!end || !given[wanted - 1]);
        const char *text = right ? "ok" : "err";
        size_t n = strlen(text);
        length = htobe32((uint32_t)(n + end));
        memcpy(answer, &length, sizeof(length));
        memcpy(answer + sizeof(length), text, n + 1);
        r = socket_write_exactly(fd, answer, sizeof(length) + n + end, deadline, stopped);
        return right ? r : -EACCES;
}
