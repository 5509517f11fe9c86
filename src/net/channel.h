/*
 * A channel: a connected socket that carries a stream of bytes, as they are or through TLS 1.3.
 *
 * The socket is made non-blocking. Reads and writes never wait, they answer -EAGAIN; the `_all` and `_some` forms
 * below wait with poll(2), look at a stop flag every 20 ms, and give up after a time. One kind of use at a time: an
 * event loop that calls the first kind, or a thread that calls the second.
 *
 * With TLS the handshake is done by whatever is called first: a read or write answers -EAGAIN until it is over, and
 * channel_events says what it waits for. Nothing that was written leaves, and nothing can be read, before the other
 * side has proved what its `struct security` asks for. A failed handshake is an error of the read or write, whose
 * sentence (channel_error) names the reason.
 *
 * One thread at a time. A signal SIGPIPE is never raised.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/uio.h>

struct channel;
struct fst_error;
struct security;

/* Who connected, who accepted: the sides of a handshake. */
enum channel_side { CHANNEL_CLIENT, CHANNEL_SERVER };

/*
 * Make a channel of the connected socket @fd, which it takes over: closed by channel_free, or here if this fails.
 * A TCP socket is told not to delay small writes. @security NULL: plain; it must stay while there are channels.
 * 0, or negative with @error set (no descriptor).
 */
int channel_new(int fd, const struct security *security, enum channel_side side, struct channel **out,
                struct fst_error *error);

/* Close the socket, after telling a TLS peer that this end is over if that can be sent at once. NULL is allowed. */
void channel_free(struct channel *ch);

/*
 * Read at most @n bytes: > 0 that many; 0 the other side ended its stream; -EAGAIN nothing now, wait for
 * channel_events and ask again; other negatives: broken, with the sentence in channel_error.
 */
ssize_t channel_read(struct channel *ch, void *buf, size_t n);

/*
 * Write some of @n pieces: > 0 bytes that were taken; -EAGAIN none now; other negatives as channel_read. After
 * -EAGAIN the next write must begin with the same bytes (more may follow them), as a queue does by itself.
 */
ssize_t channel_writev(struct channel *ch, const struct iovec *iov, int n);

/* Bytes were received already that no poll will announce: read again before waiting. */
bool channel_pending(const struct channel *ch);

/*
 * POLLIN, POLLOUT: what the handshake waits for, to be polled for besides what the caller wishes; 0 when it is over
 * or has not begun. While it is not 0, poll for this alone.
 */
int channel_events(const struct channel *ch);

/* The handshake is over, the other side proved what was asked. Always true of a plain channel. */
bool channel_ready(const struct channel *ch);

int channel_fd(const struct channel *ch);

/* What broke, as a sentence without the peer's name; "" if nothing did. Borrowed. */
const char *channel_error(const struct channel *ch);

/* "192.0.2.7:40112", "[2001:db8::1]:40112", "socket": the other end, for messages. Borrowed, never changes. */
const char *channel_peer(const struct channel *ch);

/*
 * The blocking forms. @timeout_ns bounds the time without any progress, negative: none; @stopped NULL: nobody stops
 * it. 0 (channel_read_some: the bytes read, 0 at the end of the stream), or negative with @error set, naming the
 * peer: -ETIMEDOUT, -ECANCELED when *@stopped (atomic) was set, -ECONNRESET when the stream ended too early,
 * or what the socket said. A channel that failed is of no further use.
 */
int channel_read_all(struct channel *ch, void *buf, size_t n, int64_t timeout_ns, const int *stopped,
                     struct fst_error *error);
ssize_t channel_read_some(struct channel *ch, void *buf, size_t n, int64_t timeout_ns, const int *stopped,
                          struct fst_error *error);
/* @iov is changed: it holds what is left to write. */
int channel_writev_all(struct channel *ch, struct iovec *iov, int n, int64_t timeout_ns, const int *stopped,
                       struct fst_error *error);

/* Finish the handshake, if there is one: for who wants to know before it writes. As channel_read_all. */
int channel_handshake(struct channel *ch, int64_t timeout_ns, const int *stopped, struct fst_error *error);
