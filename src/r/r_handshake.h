/* How R proves on a new connection that it knows a secret: a string with it, which is answered by "ok". */
#pragma once

/* The time for it, in seconds. */
#define R_HANDSHAKE_TIMEOUT 60

/*
 * Reads the secret of a new connection, which does not block, and answers it. Returns 0; -EACCES if the peer sends
 * another secret, closes the connection or is too slow; or -ECANCELED if *@stopped (atomic) was set.
 */
int r_handshake_accept(int fd, const char *secret, const int *stopped);
