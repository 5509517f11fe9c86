/* See r_handshake.h. */
#include "r/r_handshake.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/mem.h"
#include "net/secret.h"
#include "net/socket.h"
#include "r/r_stream.h"

#include <errno.h>
#include <poll.h>
#include <sys/socket.h>

int r_handshake_accept(int fd, const char *secret, const int *stopped)
{
        char data[4 + R_STREAM_MAX_SECRET];
        int64_t until = now_ns() + R_HANDSHAKE_TIMEOUT * NS_PER_SECOND;
        fst_bytes text;
        size_t len = 0, wanted = 4;
        int r;
        while ((r = r_stream_read_secret(data, len, &text)) == 0) {
                r = socket_wait(fd, POLLIN, until - now_ns() > 0 ? until - now_ns() : 0, stopped);
                if (r <= 0)
                        return r == -ECANCELED ? r : -EACCES;
                /* Reads the length first, then the text, because bytes after the secret belong to the caller. */
                ssize_t n = recv(fd, data + len, wanted - len, 0);
                if (n <= 0 && !(n < 0 && (errno == EAGAIN || errno == EINTR)))
                        return -EACCES;
                len += n > 0 ? (size_t)n : 0;
                if (len == 4) {
                        wanted = 4 + (size_t)r_stream_secret_length(data);
                        if (wanted > sizeof(data))
                                return -EACCES;
                }
        }
        if (r < 0 || !secret_equals(text.data, text.len, secret))
                return -EACCES;
        _cleanup_(buf_deinit) struct buf ok = BUF_INIT;
        r_stream_put_string(&ok, "ok");
        return send(fd, ok.data, ok.len, MSG_NOSIGNAL) == (ssize_t)ok.len ? 0 : -EACCES;
}
