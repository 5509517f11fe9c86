/*
 * Authentication at the beginning of a connection to a Celeborn server (spark.celeborn.auth.enabled), without I/O.
 *
 * Every application has a secret. The driver registers it with the master on its first connection there, as an
 * anonymous client. All later connections, to masters and to all ports of workers, prove it by DIGEST-MD5. Each request
 * waits for the answer to the one before. Frames of the application follow after the last answer.
 *
 * One thread at a time for each exchange. What the server sends is untrusted.
 */
#pragma once

#include "base/buf.h"

#include <stdbool.h>

struct celeborn_auth;
struct celeborn_frame;
struct fst_error;

enum celeborn_auth_kind { CELEBORN_AUTH_REGISTER, CELEBORN_AUTH_PROVE };

/*
 * Appends the first request to @out. @app_id and @secret are copied. Returns 0; or negative with @error if DIGEST-MD5
 * is not installed.
 */
int celeborn_auth_new(enum celeborn_auth_kind kind, const char *app_id, const char *secret, struct celeborn_auth **auth,
                      struct buf *out, struct fst_error *error);

/* NULL is allowed. */
void celeborn_auth_free(struct celeborn_auth *auth);

/* Status of celeborn_auth_on_frame: the connection is authenticated. */
#define FST_CELEBORN_E_AUTHENTICATED 3

/*
 * Handles a frame from the server. Returns 0, and may append the next request to @out; FST_CELEBORN_E_AUTHENTICATED;
 * -EACCES with @error if the server refuses the application or does not know the secret itself; or -EPROTO with @error.
 */
int celeborn_auth_on_frame(struct celeborn_auth *auth, const struct celeborn_frame *frame, struct buf *out,
                           struct fst_error *error);
