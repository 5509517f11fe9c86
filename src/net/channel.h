/* A channel: a connected socket that carries a stream of bytes, plain or through TLS 1.3.
 *
 * The socket becomes non-blocking. Reads and writes never wait: they return -EAGAIN. The `_all` and `_some` forms
 * below wait with poll(2), check a stop flag every 20 ms, and time out. Use either the first kind, on an event loop,
 * or the second, on a thread. Do not mix them.
 *
 * With TLS the first call performs the handshake: a read or write returns -EAGAIN until it is over, and
 * channel_events returns the events to wait for. No data is sent or received before the peer has proved what `struct
 * security` requires. A failed handshake is an error of the read or write, and channel_error returns the reason.
 *
 * One thread at a time. SIGPIPE is never raised.
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

/* The sides of a handshake. */
enum channel_side { CHANNEL_CLIENT, CHANNEL_SERVER };

/* Makes a channel of the connected socket @fd, which it owns: channel_free closes it, or this call if it fails.
 * Disables delays of small writes on TCP, and pacing (socket_end_pacing). @security NULL: plain; it must outlive the channel. Returns 0, or negative
 * with @error (not a descriptor).
 */
int channel_new(int fd, const struct security *security, enum channel_side side, struct channel **out,
                struct fst_error *error);

/* Closes the socket, after sending TLS's closing alert if that is possible at once. NULL is allowed. */
void channel_free(struct channel *ch);

/* Reads at most @n bytes. Returns their number; 0 when the peer has ended its stream; -EAGAIN: wait for
 * channel_events and try again; other negatives: broken, see channel_error.
 */
ssize_t channel_read(struct channel *ch, void *buf, size_t n);

/* Writes some of @n pieces. Returns the number of bytes taken; -EAGAIN for none; other negatives as channel_read.
 * After -EAGAIN the next write must begin with the same bytes (more may follow), as a queue does.
 */
ssize_t channel_writev(struct channel *ch, const struct iovec *iov, int n);

/* Returns true if received bytes are buffered that poll does not report: read again before waiting. */
bool channel_pending(const struct channel *ch);

/* The events (POLLIN, POLLOUT) that the handshake waits for: poll for these alone; 0 when it is over or has not
 * begun.
 */
int channel_events(const struct channel *ch);

/* Returns true if the handshake is over and the peer has proved its identity. Always true for a plain channel. */
bool channel_ready(const struct channel *ch);

int channel_fd(const struct channel *ch);

/* The error, as a sentence without the peer's name; "" if there is none. Borrowed. */
const char *channel_error(const struct channel *ch);

/* The other end, for messages: "192.0.2.7:40112", "[2001:db8::1]:40112", "socket". Borrowed, never changes. */
const char *channel_peer(const struct channel *ch);

/* The blocking forms. @timeout_ns limits the time without progress, negative: no limit; @stopped may be NULL. They
 * return 0 (channel_read_some: the number of bytes, 0 at the end of the stream), or negative with @error naming the
 * peer: -ETIMEDOUT, -ECANCELED when *@stopped (atomic) was set, -ECONNRESET when the stream ended too early, or the
 * socket's error. A channel that failed cannot be used any more.
 */
int channel_read_all(struct channel *ch, void *buf, size_t n, int64_t timeout_ns, const int *stopped,
                     struct fst_error *error); /* for tests */
ssize_t channel_read_some(struct channel *ch, void *buf, size_t n, int64_t timeout_ns, const int *stopped,
                          struct fst_error *error);
/* Changes @iov: it holds the rest to write. */
int channel_writev_all(struct channel *ch, struct iovec *iov, int n, int64_t timeout_ns, const int *stopped,
                       struct fst_error *error);

/* For tests: finishes the handshake, if there is one, for callers that must know before they write. As
 * channel_read_all. */
int channel_handshake(struct channel *ch, int64_t timeout_ns, const int *stopped, struct fst_error *error);
