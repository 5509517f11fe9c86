/*
 * Reads and writes a number of bytes completely, until a deadline, and proves secrets on new connections.
 *
 * Threads: any that may block. *@stopped (atomic, may be NULL) ends each wait with -ECANCELED.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Never, as a deadline (a time of now_ns). */
#define SOCKET_NO_DEADLINE INT64_MAX

/* Waits as socket_wait does, until @deadline. Returns 0; -ETIMEDOUT, -ECANCELED or another negative errno. */
int socket_wait_until(int fd, int events, int64_t deadline, const int *stopped);

/* Reads exactly @len bytes of a descriptor that does not block. Returns 0; -EPIPE at the end of the stream; -ETIMEDOUT,
 * -ECANCELED or another negative errno.
 */
int socket_read_exactly(int fd, void *data, size_t len, int64_t deadline, const int *stopped);

/* Writes all @len bytes. Returns 0; -EPIPE if the peer reads no more; -ETIMEDOUT, -ECANCELED or another errno. */
int socket_write_exactly(int fd, const void *data, size_t len, int64_t deadline, const int *stopped);

/* The end of a text of the handshake: Python counts its bytes, R counts a NUL behind them, too. */
enum secret_end { SECRET_END_NONE = 0, SECRET_END_NUL = 1 };

/* Reads a length of 4 bytes, big-endian, and a secret, and answers "ok" or "err" in the same form. Reads nothing that
 * follows the secret. Returns 0; -EACCES for another secret; -EPIPE, -ETIMEDOUT, -ECANCELED or another errno.
 */
int socket_accept_secret(int fd, const char *secret, enum secret_end end, int64_t deadline, const int *stopped);
